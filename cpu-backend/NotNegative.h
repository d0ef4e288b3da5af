//===- NotNegative.h - values that are known not to be negative -*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Value.h"

namespace tilebridge::cpu {

/// Whether no finite element of `value`, a float or a tensor of floats, is
/// below zero, whatever the kernel reads: an exponential, a square, and sums,
/// products and quotients of such. NaN and -0 may be among them, and -infinity
/// where one is divided by zero. False where that is not known.
bool isNotNegative(mlir::Value value);

} // namespace tilebridge::cpu
