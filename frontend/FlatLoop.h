//===- FlatLoop.h - one loop over the steps of all tiles --------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_FRONTEND_FLATLOOP_H
#define TILEBRIDGE_FRONTEND_FLATLOOP_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tilebridge::frontend {

/// `for i in range(steps * tiles)`, where a number runs from 0 to steps - 1
/// again and again, and each tile's first and last step do more than the
/// others.
class FlatLoop {
public:
  explicit FlatLoop(mlir::scf::ForOp loop)
      : loop(loop), body(loop.getBody()), yielded(loop.getYieldedValues()) {}

  /// Whether the steps of a tile can be a loop of their own.
  bool find();

  /// What is chosen by whether a step is a tile's first or last one: a result
  /// of `scf.if`, or an `arith.select`.
  struct Choice {
    mlir::Value there, otherwise;
  };

  bool isInLoop(mlir::Value value) {
    return loop.getRegion().isAncestor(value.getParentRegion());
  }
  /// What position `i` of the loop has in the end of a step that is not a
  /// tile's last one.
  mlir::Value endOfStep(unsigned i) {
    auto choice = last.find(yielded[i]);
    return choice == last.end() ? yielded[i] : choice->second.otherwise;
  }

  mlir::scf::ForOp loop;
  mlir::Block *body;
  mlir::ValueRange yielded;
  mlir::Value steps, tiles;
  /// A step's number in its tile, what computes it, and what computes the
  /// tile's.
  mlir::Value current;
  llvm::DenseSet<mlir::Operation *> counting, tileNumbers;
  /// The loop's arguments, but the one that counts.
  mlir::SmallVector<unsigned> carried;
  /// Branches, in order, of a tile's first or last step; with selects, what is
  /// no part of the other steps.
  mlir::SmallVector<mlir::scf::IfOp> firstBranches, lastBranches;
  llvm::DenseSet<mlir::Operation *> moved;
  llvm::DenseMap<mlir::Value, Choice> first, last;
  /// The value of `first` that stands for an argument of the loop.
  llvm::DenseMap<unsigned, mlir::Value> firstOf;

private:
  /// Of the loop's values, those that a place outside of the inner loop knows.
  using Known = llvm::function_ref<bool(mlir::Value)>;

  bool findNumber();
  bool isCounter(unsigned i);
  bool isRemainder(mlir::Operation &op);
  bool isLastStep(mlir::Value value);
  bool isStep(mlir::Value condition, bool isFirst);
  bool findChoices();
  bool addChoice(mlir::Operation *op, bool isFirst);
  bool placeFirst();
  bool beginsWith(mlir::Operation &op, Known known);
  bool placeLast();
  bool canCopy(mlir::Value value, Known known);
  bool canCopyBranch(mlir::scf::IfOp branch, Known known);
};

} // namespace tilebridge::frontend

#endif
