//===- Elements.h - loops over elements, for roots of their own -*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/Emitter.h"

namespace tilebridge::cpu {

using Position = llvm::ArrayRef<mlir::Value>;
using ElementBody = llvm::function_ref<mlir::LogicalResult(Position)>;

/// The most lanes that divide a dimension, `most` at most, which is a power of
/// two; 1 where the dimension is known to be empty and there are no iterations.
inline int64_t lanesAlong(int64_t size, int64_t most) {
  return size == 0 ? 1 : std::min(most, size & -size);
}

/// Of a store to any places, along a dimension of this size, from vectors of so
/// many bits.
inline int64_t scatteredLanes(mlir::ShapedType type, int64_t size,
                              int64_t vectorBits) {
  int64_t bits = std::max<int64_t>(type.getElementTypeBitWidth(), 32);
  return lanesAlong(size, vectorBits / bits);
}

/// The lanes of `parts`, a power of two of vectors, one after another.
mlir::Value joinLanes(mlir::OpBuilder &b, mlir::Location loc,
                      llvm::SmallVector<mlir::Value> parts);

/// Loops over all elements of a shape, the last dimension innermost; the
/// emitter's builder is in the innermost one while `body` runs, and behind them
/// afterwards.
mlir::LogicalResult forEachElement(Emitter &emitter, mlir::Location loc,
                                   llvm::ArrayRef<int64_t> shape,
                                   ElementBody body);

/// Element or `lanes` elements along the last dimension of a buffer of the
/// emitter; i1, which is i8 there, comes out as i1. `lanes` of 0 is a scalar.
mlir::Value loadElements(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::Value buffer, Position indices,
                         mlir::Type element, int64_t lanes = 0);
void storeElements(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                   mlir::Value buffer, Position indices);

/// Whether the code of a region could run on vectors: elementwise operations
/// that are safe to run on any values.
bool canRunOnVectors(mlir::Block &block);

/// The code of a region with so many lanes (0: scalars) for these arguments:
/// what it yields.
llvm::SmallVector<mlir::Value> inlineRegion(Emitter &emitter,
                                            mlir::Block &block,
                                            mlir::ValueRange arguments,
                                            int64_t lanes);

} // namespace tilebridge::cpu
