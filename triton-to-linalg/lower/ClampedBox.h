//===- ClampedBox.h - blocks of bounded tensors in memory ----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Descriptors and block pointers: a memref with its sizes, and a block at
// offsets that may lie outside.
//===----------------------------------------------------------------------===//
#pragma once

#include "triton-to-linalg/lower/Box.h"

namespace tilebridge::ttl {

/// The part of a block at `offsets` (index) that lies in the memref; dimensions
/// without a check are taken whole.
Box clampedBox(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value memref,
               llvm::ArrayRef<mlir::OpFoldResult> offsets,
               llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<bool> isChecked);

/// Integers (signed) as index values; constants stay constants.
llvm::SmallVector<mlir::OpFoldResult> asIndices(mlir::OpBuilder &builder,
                                                mlir::Location loc,
                                                mlir::ValueRange values);

/// A tensor with dimensions of size 1 added or dropped.
mlir::Value reshapeTo(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value tensor, mlir::RankedTensorType type);

/// NaN of a float, zero of an integer.
mlir::Value nanOf(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Type scalar);

} // namespace tilebridge::ttl
