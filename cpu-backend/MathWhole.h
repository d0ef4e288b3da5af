//===- MathWhole.h - powers of two of whole numbers -------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilebridge::cpu {

/// On a `math.exp2` of f32 or f64 whose argument is known to be whole: set by
/// tilebridge-cpu-approximate-functions.
inline constexpr llvm::StringLiteral wholeAttr = "tilebridge.whole";

/// What was converted to `x`, a float or a vector of such, from integers; null
/// where it is something else.
mlir::Value wholeInteger(mlir::Value x);

/// 2^x of whole numbers x of f32 or f64, written as bits of the exponent: exact
/// for all of them, infinity and 0 where that is out of range, NaN where x is.
/// `shifts`: whether lanes of vectors are shifted by different numbers of bits
/// in one instruction.
mlir::Value powerOfWhole(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                         bool shifts);

} // namespace tilebridge::cpu
