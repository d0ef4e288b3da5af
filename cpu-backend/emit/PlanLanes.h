//===- PlanLanes.h - what is computed from exchanged lanes -------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Lanes change places (see Exchange) in loops over all of a row that have as
// many of them: those that fill a buffer. What they are is computed in these,
// as far as operations go element by element.
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace tilebridge::cpu {

class ExchangedLanes {
public:
  /// Operations are added in the order of the program.
  void add(mlir::Operation *op);

  /// `op` is computed from exchanges, element by element.
  bool contains(mlir::Operation *op) const { return ops.contains(op); }

  /// `op` is, and some user has other lanes, or another order of them.
  bool areMixed(mlir::Operation *op) const;

  /// Several blocks are sorted together, such as keys and what belongs to them:
  /// where the steps lead to, all of `roots` are ready, in one loop.
  bool areShared(mlir::Operation *op,
                 const llvm::SetVector<mlir::Operation *> &roots) const;

private:
  llvm::DenseSet<mlir::Operation *> ops;
};

} // namespace tilebridge::cpu
