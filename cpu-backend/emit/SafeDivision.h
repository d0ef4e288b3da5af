//===- SafeDivision.h - integer divisions that do not trap -------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Operation.h"

namespace tilebridge::cpu {

/// Gives each integer division and remainder below `root`, of scalars and of
/// vectors, a divisor that does not trap: a GPU gives some value for a
/// division by zero or of the least integer by -1, and so does the emitted
/// code; an x86 CPU would end the process. Vectors are divided by floats, those
/// of 64-bit integers with native vectors of 256 `vectorBits` or more.
void makeDivisionsSafe(mlir::Operation *root, int64_t vectorBits);

/// Replaces an integer division or remainder of vectors, if no constant
/// divides, by arithmetic of floats, which does not trap. What is left to
/// divide by integers: null, `op` as it was, or `op` for numbers that are too
/// large, in a branch.
mlir::Operation *divideByFloats(mlir::Operation *op, int64_t vectorBits);

} // namespace tilebridge::cpu
