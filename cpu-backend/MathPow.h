//===- MathPow.h - powers whose exponent is known ---------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Math/IR/Math.h"

namespace tilebridge::cpu {

/// Replaces x^n by products, a quotient or a root where n is one of the numbers
/// that authors write: -2, -1, 0.5, 1, 2, 3 and 4 (of f64, which products of
/// more than two would round more than once: -1, 0.5, 1 and 2). False: it is
/// left.
bool expandPower(mlir::math::PowFOp power);

} // namespace tilebridge::cpu
