//===- RowPieces.h - rows of a block, piece by piece -------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Kernels that number the elements of a tensor by one index compute a row and a
// column from it by divisions: then the places of a block in another tensor
// grow evenly only until a row ends, wherever that is in the block. A vector at
// a time costs the divisions of all lanes, and gathers what are neighbours.
// Here the place of the first element of a piece is computed once, as a scalar,
// with the length of the piece.
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/LinearPieces.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilebridge::cpu {

/// Shorter rows of a block, such as those of a product's operand, are accessed
/// in less time than it takes to ask.
inline constexpr int64_t leastRow = 128;

/// What a tensor of sums is the sum of, element by element.
void addTerms(mlir::Value sum, llvm::SmallVectorImpl<mlir::Value> &terms);
/// Places as their sum is taken: in 32 bits it may run over.
mlir::Value withoutExtension(mlir::Value places);

class RowPieces {
public:
  virtual ~RowPieces() = default;

  /// Loops over all rows of the block, and their pieces. What is read from
  /// anywhere on, `reads` and `more`, is put into memory before. False where
  /// places turn out to grow by something else: then no loop is left of what
  /// was tried.
  mlir::FailureOr<bool> emit(llvm::ArrayRef<mlir::Value> more = {});

protected:
  RowPieces(FunctionEmitter &fe, mlir::Operation *op)
      : fe(fe), op(op), b(op->getLoc(), fe.builder()) {}

  /// The first element of a piece: its indices, its place in memory, the mask
  /// there (null: none), how far places grow from one to the next (an i64), and
  /// how many there are.
  struct Piece {
    Indices at;
    mlir::Value place, exists;
    mlir::OpFoldResult growth;
    mlir::Value length;
  };
  /// What else has to be the same in a piece; false after an error.
  virtual bool evaluateMore(llvm::ArrayRef<Index> at) { return true; }
  virtual bool isSame(LinearPieces &pieces) { return true; }
  /// From one element to the next, given how places grow.
  virtual std::optional<mlir::OpFoldResult>
  elementGrowth(mlir::OpFoldResult growth) {
    return growth;
  }
  virtual mlir::LogicalResult emitPiece(const Piece &piece) = 0;
  /// Elements [begin, end) of the row `at`, as they are accessed anywhere else.
  virtual mlir::LogicalResult emitPart(Indices at, mlir::Value begin,
                                       mlir::Value end) = 0;

  /// Places are computed from indices, not all by sums and products, and
  /// nothing in memory decides them, the mask, or `other` (which may be null).
  bool isComputed(mlir::Value other = {});
  /// The same where places are sums of such terms and of what is read from
  /// memory, which is then all of `reads`: pieces are those of the other terms.
  bool isPartlyComputed(mlir::Value other = {});
  /// Loops over the vectors of `length` elements along `dim`; the last one ends
  /// with them. `body` gets the first element of each, counted from the first
  /// of all; the emitter's builder stands there, and `b` with it.
  mlir::LogicalResult
  forVectors(mlir::Value length,
             llvm::function_ref<mlir::LogicalResult(mlir::Value)> body);
  /// The `lanes` elements of a piece from its element `at` on, and where their
  /// terms and what is read say that they are: a vector of the places' type, in
  /// which the sums may run over; null after an error.
  Indices vectorOf(const Piece &piece, mlir::Value at);
  mlir::Value placesOf(const Piece &piece, mlir::Value at);
  void setRows(mlir::RankedTensorType type, unsigned along);
  /// See Frame.
  Index openLoop(unsigned d, mlir::Value from, mlir::Value to, int64_t step,
                 bool hasLanes);
  Indices placeIndices(llvm::ArrayRef<Index> at);
  mlir::Value constant(int64_t value);
  mlir::Value asIndex(mlir::Value value);
  /// How many of `size` a piece has at least.
  int64_t least() const { return llvm::divideCeil(lanes, columns); }

  FunctionEmitter &fe;
  mlir::Operation *op;
  mlir::ImplicitLocOpBuilder b;
  /// Tensors of the old function: places and masks of the block's elements, or
  /// of its rows.
  mlir::Value places, mask;
  /// What places are the sum of: tensors that are read from memory, and others.
  llvm::SmallVector<mlir::Value> reads, terms;
  /// The dimension along which pieces lie, the sizes up to it, and how many
  /// elements each of its indices has: one, or the columns of a short row.
  unsigned dim = 0;
  llvm::SmallVector<int64_t> shape;
  int64_t size = 0, columns = 1, lanes = 1;

private:
  mlir::FailureOr<bool> emitRows();
  mlir::FailureOr<bool> emitRow(Indices at);
  bool readsNothing(mlir::Value tensor, bool &divides);
  bool hasLongRows() const;
  mlir::Value firstPlace(llvm::ArrayRef<Index> own);
};

} // namespace tilebridge::cpu
