//===- Box.h - structured accesses --------------------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "triton-to-linalg/analysis/AccessAnalysis.h"
#include "triton-to-linalg/lower/ExprBuilder.h"

#include "mlir/IR/OpDefinition.h"

namespace tilebridge::ttl {

/// The part of a block that memory holds: `sizes` elements, at `low` in the
/// block and at `offsets` in the memref.
struct Box {
  llvm::SmallVector<mlir::OpFoldResult> offsets, low, sizes;
  /// All of the block, and the memref has its shape.
  bool isAll = false;
};

/// The box of a mask without residuals, in a view of the block's shape.
Box boxOf(ExprBuilder &exprs, ExprPool &pool, const MaskForm &mask,
          llvm::ArrayRef<int64_t> shape);

/// The strided view of the block with the linear offsets `form` from `pointer`.
mlir::Value makeView(mlir::OpBuilder &builder, mlir::Location loc,
                     ExprBuilder &exprs, mlir::Value pointer,
                     const TensorForm &form, mlir::Type element);

/// Adds index values, folding constants.
mlir::OpFoldResult addIndex(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::OpFoldResult a, mlir::OpFoldResult b);

/// A box as a tensor of type `type` (of memory's elements); what is outside of
/// it is `other`, a scalar or a tensor.
mlir::Value loadBox(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value memref, const Box &box,
                    mlir::RankedTensorType type, mlir::Value other);
/// Writes the box's part of `value`.
void storeBox(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value memref,
              const Box &box, mlir::Value value);

} // namespace tilebridge::ttl
