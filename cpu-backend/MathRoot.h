//===- MathRoot.h - square roots by AVX-512's estimates ---------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Math/IR/Math.h"

namespace tilebridge::cpu {

/// Writes a square root of vectors in a loop as products, where the elements
/// are f32 or f64 that fill vectors of 512 bits; else does nothing. The result
/// is the correctly rounded one.
void expandRoot(mlir::math::SqrtOp op);

/// The same for 1 / sqrt(x), to one unit in the last place. Whether it did.
bool expandReciprocalRoot(mlir::math::RsqrtOp op);

} // namespace tilebridge::cpu
