//===- MaskTails.h - blocks whose columns end at a mask ----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/Outside.h"

namespace tilebridge::cpu {

/// A mask of rank 1 that says `start + i < n` of its index i, by values of the
/// old function (`start`: null for 0).
struct BelowEnd {
  mlir::Value start, n;
};

/// The same of any mask at `indices`, for the index along `vecDim`.
std::optional<BelowEnd> findBelow(mlir::Value mask,
                                  llvm::ArrayRef<Index> indices, int vecDim);

/// Behind the last index below `size` that such a mask is true for, by values
/// of the new function.
mlir::Value behindBelow(mlir::ImplicitLocOpBuilder &b, mlir::Value start,
                        mlir::Value n, int64_t size);

/// Where loops over a block may end, because a mask is false from there on: by
/// values of the new function that are known here.
class MaskTails {
public:
  explicit MaskTails(FunctionEmitter &fe) : fe(fe) {}

  /// As FunctionEmitter::behindLastTrue: where a mask says `start + i < n`, all
  /// of it need not be computed.
  mlir::Value behindLastTrue(mlir::Value mask, mlir::Location loc);
  /// How many steps along K of a product there are to multiply, as its kernel
  /// takes them; null: all. `isTail`: those from there on are not zeros alone.
  mlir::Value stepsOf(mlir::linalg::LinalgOp product, bool *isTail = nullptr);
  /// Where the loop of a nest over its dimension `dim` may end, whatever the
  /// number of lanes is; null: with the block.
  mlir::Value endOfNest(const Nest &nest, unsigned dim);
  /// `end` as loops with any number of lanes take it, that compute elements of
  /// `tensor` along a dimension of `size`.
  mlir::Value roundUp(mlir::Value end, mlir::Value tensor, int64_t size) {
    return roundUp(end, mostLanes(tensor), size);
  }

private:
  static constexpr unsigned mostVisits = 64;
  /// Of several ends, the last one.
  struct End {
    mlir::Value value;
    bool isKnown = true;
    explicit operator bool() const { return isKnown; }
  };
  static End unknown() { return {{}, false}; }
  void add(End &end, mlir::Value value);
  bool add(End &end, End other);
  mlir::Value endOf(mlir::Value mask);
  bool hasEnds() const;
  mlir::Value endOfSame(mlir::Value block, unsigned dim,
                        llvm::function_ref<bool(const Outside &)> mayEnd);
  mlir::Value endOfZeros(mlir::Value block, unsigned dim);
  End endOfAll(llvm::ArrayRef<std::pair<mlir::Operation *, mlir::Value>>,
               unsigned dim);
  End endOfGroup(mlir::Operation *op, unsigned dim);
  End endOfReduction(mlir::Operation *op, unsigned dim);
  End endOfReads(mlir::Value tensor, unsigned dim);
  End endOfUse(mlir::OpOperand &use, unsigned dim);
  mlir::Value roundUp(mlir::Value end, int64_t step, int64_t size);
  int64_t mostLanes(mlir::Value tensor) const;

  FunctionEmitter &fe;
  unsigned visits = 0;
};

} // namespace tilebridge::cpu
