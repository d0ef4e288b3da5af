//===- PlanWrites.h - where a function writes memory ------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Whether anything is written between two places is asked for each load and
// each loop that reads it: the answer is a search in what is written at all.
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tilebridge::cpu {

/// `root` is in a loop that `op` stands before.
bool isDeeper(mlir::Operation *root, mlir::Operation *op);

/// Of a function to which nothing is added, and of which nothing moves.
class Writes {
public:
  explicit Writes(mlir::func::FuncOp func) { add(func); }

  using Predicate = llvm::function_ref<bool(mlir::Operation *)>;
  /// Whether `is` holds for what may write memory behind `from` and before
  /// `to`, which stand in one block; branches and loops there count as a whole.
  bool anyBetween(mlir::Operation *from, mlir::Operation *to,
                  Predicate is) const;

  /// A write may happen between the read `from` and the place where `root` is
  /// emitted. What is in one nest with the root is left out: emission guards
  /// against that, if it can.
  bool mayChange(mlir::Operation *from, mlir::Operation *root);

private:
  /// Whether something inside of `op` may write.
  bool add(mlir::Operation *op);
  bool anyInside(mlir::Operation *op, Predicate is) const;
  bool canGuard(mlir::Operation *read);

  llvm::DenseSet<mlir::Operation *> writes;
  /// Those of each block in its order.
  llvm::DenseMap<mlir::Block *, llvm::SmallVector<mlir::Operation *>> inBlock;
  /// Those without regions, in the order of the program, and which of them are
  /// inside of an op.
  llvm::SmallVector<mlir::Operation *> all;
  llvm::DenseMap<mlir::Operation *, std::pair<size_t, size_t>> insideOf;
  llvm::DenseMap<mlir::Operation *, bool> guardable;
};

} // namespace tilebridge::cpu
