//===- RepeatedBlocks.h - what is computed once and repeated ----*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilebridge::cpu {

/// One number in all elements.
bool isOneNumberBlock(mlir::Value block);

/// An element of the result is computed from those at its place in the inputs
/// alone, with the body's own operations.
bool isPlainElementwise(mlir::linalg::GenericOp op);

} // namespace tilebridge::cpu
