//===- DimensionClasses.h - which dimensions are cut together -------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Blocks are cut along a whole class of equivalent dimensions
// (bridge/DimensionEquivalence.h), if what happens along it lets them.
//===----------------------------------------------------------------------===//
#pragma once

#include "triton-to-linalg/bridge/DimensionEquivalence.h"

namespace tilebridge::accel {
class CopyOp;

/// What happens along a class, from what can be cut most easily on.
enum class DimensionKind {
  /// Positions do not see one another.
  Parallel,
  /// Matmuls sum over it, with an accumulator; nothing else combines positions.
  Contracted,
  /// Something else is reduced along it.
  Reduced,
  /// Each position depends on those before it.
  Scanned,
  /// Positions are rearranged, or looked up, or leave as a whole.
  Fixed,
};
llvm::StringRef nameOf(DimensionKind kind);

/// Gives each use of a block that is computed from scalars and positions alone
/// (a constant, a range, a mask of them) a copy of its own. Fails, and leaves
/// some of them shared, where that would make the function too large.
mlir::LogicalResult separateUses(mlir::func::FuncOp func);

/// Uses must have been separated.
class DimensionClasses : private linalg_ext::DimensionEquivalence {
public:
  struct Class {
    DimensionKind kind = DimensionKind::Parallel;
    /// The largest size of its dimensions; those of size 1 are repeated.
    int64_t size = 1;
    /// The first operation that made it more than parallel; null if none.
    mlir::Operation *because = nullptr;
  };

  explicit DimensionClasses(mlir::func::FuncOp func);

  /// The number of the class of a tensor's dimension; numbers follow the order
  /// of the program.
  unsigned of(mlir::Value tensor, int64_t dimension) const;
  llvm::SmallVector<unsigned> of(mlir::Value tensor) const;

  llvm::ArrayRef<Class> classes() const { return all; }

private:
  void mark(mlir::Value tensor, unsigned dim, DimensionKind kind,
            mlir::Operation *because);
  void fix(mlir::Value tensor, unsigned dim,
           mlir::Operation *because) override {
    mark(tensor, dim, DimensionKind::Fixed, because);
  }
  bool visitOwn(mlir::Operation *op) override;
  void visitIterators(mlir::linalg::LinalgOp op,
                      llvm::ArrayRef<llvm::SmallVector<Place>> places) override;
  bool visitPart(mlir::Operation *op);
  bool visitCompute(mlir::Operation *op);
  bool visitAccess(mlir::Operation *op);
  void visitCopy(CopyOp copy);

  /// What was said of one dimension.
  struct Mark {
    DimensionKind kind = DimensionKind::Parallel;
    mlir::Operation *because = nullptr;
  };
  llvm::SmallVector<Mark, 0> marks;
  std::vector<Class> all;
};

} // namespace tilebridge::accel
