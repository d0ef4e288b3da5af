//===- DecisionSpace.h - what there is to decide --------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/search/AutoTile.h"
#include "accel-backend/search/Decide.h"

namespace tilebridge::accel {

/// The decisions that there are about a kernel whose grid is not yet mapped.
class DecisionSpace {
public:
  DecisionSpace(mlir::func::FuncOp kernel, const Target &target);

  size_t size() const;
  std::vector<Decision> all() const;

  /// Whole blocks, two buffers each.
  Decision first() const;
  /// Those in which one thing is different. Programs that are merged or not
  /// any more may need fewer buffers, or have room for more.
  llvm::SmallVector<Decision> neighboursOf(const Decision &decision) const;

private:
  /// By reuse, and everything by a formula that is something else.
  llvm::SmallVector<AssignmentAttr> assignmentsOf(const Merge &merge) const;

  mlir::MLIRContext *context;
  std::optional<Grids> launch;
  llvm::SmallVector<Tile> tiles;
  llvm::SmallVector<Merge> merges{unmerged};
};

} // namespace tilebridge::accel
