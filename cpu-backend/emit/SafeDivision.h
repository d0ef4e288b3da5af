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
/// code; an x86 CPU would end the process.
void makeDivisionsSafe(mlir::Operation *root);

/// Replaces an integer division or remainder of vectors, if it is one of up to
/// 32 bits and no constant divides, by arithmetic of floats, which does not
/// trap. False for others.
bool divideByFloats(mlir::Operation *op);

} // namespace tilebridge::cpu
