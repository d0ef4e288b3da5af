//===- WholeNumbers.h - floats that are known to be whole -------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Value.h"

namespace tilebridge::cpu {

/// Whether every finite element of `value`, a float or a tensor of floats, is a
/// whole number, whatever the kernel reads: what was an integer or was rounded
/// to one, and sums, differences and products of such. False where that is not
/// known.
bool isWholeNumber(mlir::Value value);

} // namespace tilebridge::cpu
