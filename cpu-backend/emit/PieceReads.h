//===- PieceReads.h - gathers of a nest, piece by piece ----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/View.h"

#include "llvm/ADT/DenseMap.h"

namespace tilebridge::cpu {

/// What a gather reads where its places grow evenly.
struct PieceRead {
  /// Element i of the block is element `i / repeats` of this, in the piece.
  View view;
  int64_t repeats = 1;
  /// Whether it is read at all, an i1; null: yes.
  mlir::Value exists;
  /// Where places do not grow: the element.
  mlir::Value element;
  /// Where not null, only elements from the block's `from` on are read, so many
  /// of them, all of which are in the piece; then `exists` is null.
  mlir::Value from, count;
};

/// By gathers of the old function, those of a piece, or of two that follow one
/// another.
struct PieceReads {
  /// What a loop carries of the first piece, by gathers.
  llvm::SmallVector<mlir::Value> values(llvm::ArrayRef<mlir::Operation *> ops,
                                        mlir::OpBuilder &b,
                                        mlir::Location loc) const;
  /// The piece of which these are the values.
  PieceReads with(mlir::ValueRange values,
                  llvm::ArrayRef<mlir::Operation *> ops) const;

  /// Whether all strides that only the launch knows are 1; null: there are
  /// none.
  mlir::Value haveUnitStrides(llvm::ArrayRef<mlir::Operation *> ops,
                              mlir::OpBuilder &b, mlir::Location loc) const;
  /// The same pieces where they are.
  PieceReads withUnitStrides() const;

  llvm::DenseMap<mlir::Operation *, PieceRead> reads, next;
  /// Lanes that are in the first piece, and how many; null: all are.
  mlir::Value isFirst, firstLanes;
  /// How many elements there are up to the end of the first piece.
  mlir::Value length;
};

/// In groups of so many, a power of two, the one of an index.
mlir::Value groupOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value index,
                    int64_t size);

} // namespace tilebridge::cpu
