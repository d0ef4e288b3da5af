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

/// What stands for a block of one number in a block of this type; null for
/// other blocks.
mlir::Value numberAs(mlir::OpBuilder &b, mlir::Value block,
                     mlir::RankedTensorType type);

/// A plain elementwise operation's computation on inputs of another shape.
mlir::Value computeAs(mlir::OpBuilder &b, mlir::linalg::GenericOp op,
                      mlir::ValueRange inputs, llvm::ArrayRef<int64_t> shape);

} // namespace tilebridge::cpu
