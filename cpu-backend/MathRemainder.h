//===- MathRemainder.h - remainders of vectors of floats --------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilebridge::cpu {

/// Writes the remainder of vectors of f32 or f64 as arithmetic of f64, exactly
/// as C's `fmodf` and `fmod` give it; of f64 where there are fused
/// multiply-adds. Nothing happens to other types.
void expandRemainder(mlir::arith::RemFOp op, bool fma);

} // namespace tilebridge::cpu
