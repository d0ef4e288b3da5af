//===- AccessAnalysis.h - what pointers and masks look like --------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Reads tensors of integers, pointers and booleans back through the operations
// that made them. Looks only upwards, into no loop and no region: what a loop
// carries is a leaf (tilebridge-scalarize-offsets has made it simple before).
// The results hold SSA values, so an analysis lives for one access.
//===----------------------------------------------------------------------===//
#pragma once

#include "triton-to-linalg/analysis/TensorForm.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"

namespace tilebridge::ttl {

/// A tensor of pointers: one base and an offset for each lane, in elements.
struct PointerForm {
  /// A scalar pointer. It may point to another type.
  mlir::Value base;
  /// Bytes from there to where offsets count from, or the address itself if
  /// there is no base; null: none.
  const Expr *shift = nullptr;
  /// The offsets are those that were added to the base, and no others: one can
  /// add them up again.
  bool isDirect = true;
  /// 64 bits wide; absent where the offset is not a sum over dimensions.
  std::optional<TensorForm> offset;
};

/// The lanes i of one dimension with max(lower) <= i < min(upper); all bounds
/// are 64 bits wide and in [0, size].
struct DimBounds {
  llvm::SmallVector<const Expr *, 2> lower, upper;
  bool isAll() const { return lower.empty() && upper.empty(); }
};

/// A conjunct of a mask that is no bound.
struct ResidualMask {
  /// The dimension it varies in and its values there (i1); none if it varies in
  /// several.
  std::optional<unsigned> dim;
  const Expr *lanes = nullptr;
  Reason reason;
};

/// A mask: all of these hold.
struct MaskForm {
  llvm::SmallVector<DimBounds> dims;
  llvm::SmallVector<const Expr *, 2> conditions; // uniform, i1
  llvm::SmallVector<ResidualMask, 1> residuals;
  bool isAll() const;
};

class AccessAnalysis {
public:
  /// With `isExact` a range of numbers is widened only where it is seen that it
  /// does not wrap around in its narrower type; without, that is taken for
  /// granted, as docs/bridge-ir.md does for offsets.
  explicit AccessAnalysis(ExprPool &pool, bool isExact = false)
      : isExact(isExact), pool(pool), algebra(pool) {}

  /// The form of a tensor of integers (or index); nothing, and a reason, if it
  /// varies in several dimensions in another way.
  std::optional<TensorForm> integers(mlir::Value tensor);
  /// Nothing, and a reason, where the pointers have no common base.
  std::optional<PointerForm> pointers(mlir::Value tensor);
  /// Always succeeds: what is not understood is a residual.
  MaskForm mask(mlir::Value tensor);

  /// The dimensions that a tensor of any type can vary in.
  llvm::SmallBitVector varyingDims(mlir::Value tensor);

  /// Why the last query gave nothing, or a pointer no offset.
  const Reason &reason() const { return lastReason; }

private:
  std::optional<TensorForm> computeIntegers(mlir::Value tensor);
  std::optional<TensorForm> arithmetic(mlir::Operation *op);
  std::optional<TensorForm> chosenInside(mlir::arith::SelectOp select,
                                         const TensorForm &inside);
  std::optional<TensorForm> clamped(mlir::Operation *op);
  std::optional<TensorForm> bits(mlir::Operation *op);
  std::optional<TensorForm> constants(mlir::Value tensor,
                                      mlir::DenseElementsAttr attr);
  /// The numbers of a tensor of one dimension that is made of constants.
  mlir::DenseElementsAttr numbersOf(mlir::Value tensor);
  std::optional<TensorForm> constantLanes(mlir::Value tensor);
  /// What can always be said: the tensor varies in no dimension or in one.
  std::optional<TensorForm> byVariation(mlir::Value tensor);
  PointerForm scalarPointer(mlir::Value pointer, llvm::ArrayRef<int64_t> shape);
  std::optional<PointerForm> bitcast(mlir::Operation *op);
  std::optional<PointerForm> integerPointers(mlir::Operation *op);
  std::optional<PointerForm> addresses(mlir::Value tensor);
  MaskForm compare(mlir::arith::CmpIOp op,
                   mlir::arith::CmpIPredicate predicate);
  /// The mask of the other lanes, where that has no residual.
  std::optional<MaskForm> inverted(mlir::Value tensor);
  std::optional<MaskForm> compareRuns(mlir::arith::CmpIPredicate predicate,
                                      const TensorForm &lhs,
                                      const TensorForm &rhs);
  bool bound(MaskForm &mask, mlir::arith::CmpIPredicate predicate,
             TensorForm form, const Expr *limit);
  bool unsignedBound(MaskForm &mask, mlir::arith::CmpIPredicate predicate,
                     const TensorForm &form, const Expr *limit);
  void residual(MaskForm &mask, mlir::Value tensor, std::string why);
  void fail(std::string text, mlir::Operation *op);

  bool isExact;
  ExprPool &pool;
  FormAlgebra algebra;
  struct Known {
    std::optional<TensorForm> form;
    Reason reason;
  };
  llvm::DenseMap<mlir::Value, Known> known;
  llvm::DenseMap<mlir::Value, llvm::SmallBitVector> variation;
  llvm::DenseMap<mlir::Value, mlir::DenseElementsAttr> numbers;
  Reason lastReason;
  unsigned failures = 0;
};

/// How a shape operation (expand_dims, broadcast, trans, a reshape that moves
/// only dimensions of size 1) places its operand's dimensions: for each of the
/// result's the operand's, or -1. Nothing for other operations.
std::optional<llvm::SmallVector<int>> dimensionMap(mlir::Operation *op);

} // namespace tilebridge::ttl
