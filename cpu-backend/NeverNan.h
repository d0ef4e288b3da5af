//===- NeverNan.h - values that are known to be numbers ---------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Value.h"

namespace tilebridge::cpu {

/// Whether no element of `value`, a float, or a vector or tensor of floats, is
/// NaN, whatever the kernel reads: a constant, or the largest of numbers and
/// constants that loops have carried. False where that is not known.
bool isNeverNan(mlir::Value value);

} // namespace tilebridge::cpu
