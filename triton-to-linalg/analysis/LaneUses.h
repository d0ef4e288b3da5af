//===- LaneUses.h - who sees a lane of a tensor --------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/TTOps.h"
#include "triton-to-linalg/analysis/AccessAnalysis.h"

#include "llvm/ADT/DenseSet.h"

namespace tilebridge::ttl {

/// A load whose pointers depend on lanes, and the dimension that these are in.
struct LaneLoad {
  tt::LoadOp op;
  unsigned dim;
};

/// Follows what is computed from a tensor, lane by lane along one dimension, to
/// all of its ends.
class LaneUses {
public:
  /// The lanes that `taken` does not have along its dimension `dim` are asked
  /// for, of results of `origin` or of what is computed from them.
  LaneUses(mlir::Operation *origin, AccessAnalysis &analysis,
           const MaskForm &taken, unsigned dim)
      : origin(origin), analysis(analysis), taken(taken), takenDim(dim) {}

  /// True if nobody sees those lanes along dimension `dim` of `tensor`: each
  /// lane only makes lanes at the same place, and stores leave them out.
  bool areLeftOut(mlir::Value tensor, unsigned dim);
  /// Loads at addresses or with masks that are made of them, and whose own
  /// masks have them.
  llvm::ArrayRef<LaneLoad> loads() const { return found; }
  /// There are loads or stores at addresses that are made of them.
  bool areAddresses() const { return isAddress; }

private:
  bool visitUse(mlir::OpOperand &use, unsigned dim);
  bool visitLoad(tt::LoadOp load, mlir::OpOperand &use, unsigned dim);
  bool visitShape(mlir::Operation *op, mlir::OpOperand &use, unsigned dim);
  bool visitProduct(mlir::Operation *op, mlir::OpOperand &use, unsigned dim);
  bool visitReduction(mlir::Operation *op, unsigned dim);
  bool visitYield(mlir::OpOperand &use, unsigned dim);
  bool visitResults(mlir::Operation *op, unsigned dim);
  /// The mask of an access has none of those lanes along `dim`.
  bool leavesOut(mlir::Value mask, unsigned dim);

  /// Larger functions are not followed to the end.
  static constexpr unsigned mostValues = 400;

  mlir::Operation *origin;
  AccessAnalysis &analysis;
  const MaskForm &taken;
  unsigned takenDim;
  bool isAddress = false;
  int64_t count = 0;
  llvm::DenseSet<std::pair<mlir::Value, unsigned>> visited;
  llvm::SmallVector<LaneLoad> found;
};

} // namespace tilebridge::ttl
