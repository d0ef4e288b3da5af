//===- SeparateUses.h - one copy of what is cheap for each use --*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilebridge::linalg_ext {

/// Gives each use of what may be computed twice (a constant, a range, a mask)
/// a copy of its own, so that it ties no dimension of one user to one of
/// another (DimensionEquivalence.h). What nobody uses is erased. CSE undoes it.
class SeparateUses {
public:
  enum class Place {
    /// What a loop uses is still computed once, before it.
    BesideOriginal,
    /// No copy is kept over what lies between.
    BesideUser,
  };

  /// `isRepeatable` is asked in the order of the program. There are at most
  /// `mostCopies`.
  SeparateUses(mlir::func::FuncOp func,
               llvm::function_ref<bool(mlir::Operation *)> isRepeatable,
               size_t mostCopies, Place place);

  /// False where more copies are needed.
  bool isComplete() const { return complete; }
  void undo();

private:
  bool separate(mlir::Operation *op, size_t mostCopies, Place place);

  bool complete;
  /// Copies and what they were copied from.
  llvm::SmallVector<std::pair<mlir::Operation *, mlir::Operation *>> copies;
};

} // namespace tilebridge::linalg_ext
