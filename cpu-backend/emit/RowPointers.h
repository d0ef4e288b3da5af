//===- RowPointers.h - rows of memory that are read at once ------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Rows of a block that one step of a loop reads have addresses as far from each
// other as the launch's stride says. Given as indices of a memref, LLVM's
// strength reduction keeps a register for each of them, most of which are in
// memory, or computes some from others: a transpose of 512 x 512 of f32 by
// descriptors took 1.12 times as long as by pointers, for that alone. As
// pointers that it does not look into, four rows share a register.
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/Nest.h"
#include "cpu-backend/emit/View.h"

namespace tilebridge::cpu {

class RowPointers {
public:
  /// Rows of the view's memory, from the element `first` on, `stride` elements
  /// from each other.
  RowPointers(mlir::OpBuilder &b, mlir::Location loc, const View &view,
              mlir::OpFoldResult first, mlir::OpFoldResult stride);

  /// The first elements of the first `count` rows.
  llvm::SmallVector<mlir::Value> load(mlir::VectorType type,
                                      int64_t count) const;

  /// Where `later` tells to: asks for what the first `count` rows of the later
  /// block have in the place of `elements` of these.
  void prefetch(const Later &later, int64_t count, int64_t elements) const;

private:
  mlir::Value inBytes(mlir::OpFoldResult elements) const;
  mlir::Value behind(mlir::Value pointer, mlir::Value bytes) const;
  llvm::SmallVector<mlir::Value> rowsFrom(mlir::Value pointer,
                                          int64_t count) const;

  mlir::OpBuilder &b;
  mlir::Location loc;
  int64_t elementBytes;
  /// The address of the first row, and bytes from one to the next (i64).
  mlir::Value begin, distance;
};

} // namespace tilebridge::cpu
