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

} // namespace tilebridge::cpu
