//===- ConstantNumbers.h - what all numbers of a constant are ---*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Operation.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tilebridge::cpu {

/// Whether `op` is a constant of floats (a number, a vector, a tensor), each of
/// which is such.
bool isConstantOf(mlir::Operation *op,
                  llvm::function_ref<bool(const llvm::APFloat &)> isSuch);

} // namespace tilebridge::cpu
