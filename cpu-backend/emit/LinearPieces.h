//===- LinearPieces.h - how far integers grow evenly -------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The number of a row is a quotient, that of a column a remainder: from an
// element to the next one both grow evenly, by 0 and by 1, until a row ends.
// So does all that is computed from them by sums and products; and a comparison
// gives the same up to some element. Half of a column's number, as in a picture
// that becomes twice as large, grows by 1 every second element.
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include "llvm/ADT/SetVector.h"

namespace tilebridge::cpu {

/// What is computed from `index`, a scalar: by how much it grows from one index
/// to the next, and for how many indices, the first included, it does.
class LinearPieces {
public:
  /// `left`: more indices than that, of type i64, are of no interest. Writes
  /// where the builder stands, behind what is asked for. What grows by another
  /// number where a divisor turns out to be 1 does so as where it is not, for
  /// one index, unless `asksForOne`. Of the block in which the index is, only
  /// values that depend on it are asked for.
  LinearPieces(mlir::ImplicitLocOpBuilder &b, mlir::Value index,
               mlir::Value left, bool asksForOne = true)
      : b(b), index(index), length(left), left(left),
        block(index.getParentBlock()), asksForOne(asksForOne) {}

  /// Of an integer or index in the index's block, or before it, which is a
  /// number of 64 bits: of type i64. Nothing where that is not known.
  std::optional<mlir::OpFoldResult> growthOf(mlir::Value value);

  /// Where a number that grows by 1 is divided by a power of two, up to this
  /// one, the quotient may grow every so many indices: where the indices that
  /// are multiples of it are.
  void setMostRepeats(int64_t most) { mostRepeats = most; }
  /// How many indices have one number of a value whose growth was asked for,
  /// and is not 0; 1: each has its own.
  int64_t repeatsOf(mlir::Value value) const {
    auto it = repeats.find(value);
    return it == repeats.end() ? 1 : it->second;
  }

  /// The value, of any type, is the same for all of them.
  bool isSame(mlir::Value value);
  /// It is, though what it is made by is not followed: an element that was read
  /// at a place that is the same, where a mask that is the same says so.
  void setSame(mlir::Value value) { known[value] = constant(0); }

  /// Which of the indices a mask is true for: where `exists` is (null: anyway),
  /// those from the one behind `from` on, and before the one behind `to`.
  struct Range {
    mlir::Value exists, from, to;
  };
  /// Takes an AND apart: what is true up to some index, or from one on, does
  /// not end the piece there. False where anything else differs.
  bool takeRange(mlir::Value mask, Range &range);

  /// Arguments of the function by which what grows was divided; not those of
  /// remainders alone, which by 1 are 0.
  llvm::ArrayRef<mlir::BlockArgument> divisors() const {
    return divisorArguments.getArrayRef();
  }

  /// What is asked for from here on is known not to run over, and what is
  /// divided to be none below 0, by none of these: nothing of that is asked.
  void setChecked(bool value) { isChecked = value; }

  /// For how many indices all that was asked for grows so, and is what a number
  /// of so many bits can be: at least 1, of type i64. At 1 nothing is said of
  /// what follows.
  mlir::Value pieceLength() const { return length; }

private:
  using Growth = std::optional<mlir::OpFoldResult>;
  Growth computeGrowth(mlir::Value value);
  bool repeatAlike(mlir::Value value, Growth growth);
  Growth ofProduct(mlir::Operation *op);
  Growth ofExtension(mlir::Operation *op, bool isSigned);
  Growth ofDivision(mlir::Operation *op);
  /// The dividend stays between two multiples of the divisor, a constant.
  bool staysBetween(mlir::Value dividend, const llvm::APInt &divisor);
  bool growsBySteps(mlir::Operation *op, mlir::OpFoldResult growth);
  bool takeComparison(mlir::arith::CmpIOp op, Range &range);
  Growth ofSelection(mlir::Value condition, mlir::OpFoldResult whenTrue,
                     mlir::OpFoldResult whenFalse);
  bool dependsOn(mlir::Value value) const;
  /// Only what grows, or stays, is followed.
  static bool mayGrow(mlir::OpFoldResult growth);
  static unsigned widthOf(mlir::Value value);

  // PieceComparisons.cpp
  Growth ofComparison(mlir::arith::CmpIOp op);
  Growth ofExtreme(mlir::Operation *op);
  Growth ofMagnitude(mlir::Value x);
  /// The comparison of x with u, which does not grow, stays what it is;
  /// `growth` is x's.
  bool keepOrder(mlir::Value x, mlir::Value u, mlir::OpFoldResult growth,
                 bool isSigned, bool orEqual);
  bool keepDifferent(mlir::Value x, mlir::Value u, mlir::OpFoldResult growth);

  /// An integer below 64 bits does not run over.
  void keepInRange(mlir::Value x, mlir::OpFoldResult growth, bool isSigned);
  /// Where `condition` holds, what grows by `growth`, every so many indices,
  /// may do so until it has grown by `room`, at most, which is not negative.
  void keepWithin(mlir::Value condition, mlir::Value room,
                  mlir::OpFoldResult growth, int64_t every);

  mlir::Value wide(mlir::Value value, bool isSigned = true);
  mlir::Value number(int64_t value);
  mlir::Value toWide(mlir::OpFoldResult value);
  mlir::OpFoldResult constant(int64_t value) {
    return b.getI64IntegerAttr(value);
  }

  mlir::ImplicitLocOpBuilder &b;
  mlir::Value index, length, left;
  mlir::Block *block;
  bool asksForOne, isChecked = false;
  int64_t mostRepeats = 1;
  llvm::DenseMap<mlir::Value, Growth> known;
  llvm::DenseMap<mlir::Value, int64_t> repeats;
  llvm::SmallSetVector<mlir::BlockArgument, 4> divisorArguments;
  /// Dividends, with constants between two multiples of which they stay.
  llvm::SmallVector<std::pair<mlir::Value, llvm::APInt>> between;
};

} // namespace tilebridge::cpu
