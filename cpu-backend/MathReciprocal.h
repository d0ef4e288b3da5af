//===- MathReciprocal.h - products with reciprocals -------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilebridge::cpu {

/// In a loop, the product of several native vectors with the power of two of a
/// division by one number is left out where the power is 1.
void skipProductWithOne(mlir::arith::MulFOp op, int64_t vectorBits);

/// A quotient of vectors of f32 that becomes f16 is computed in f32: LLVM would
/// make it one of f16 if both numbers were that, whose instruction takes longer
/// than two of f32.
void keepQuotientWide(mlir::arith::TruncFOp op);

} // namespace tilebridge::cpu
