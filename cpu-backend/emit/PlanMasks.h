//===- PlanMasks.h - loads that are masked by place -------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Operation.h"

#include "llvm/ADT/DenseSet.h"

namespace tilebridge::cpu {

/// The masks of a function that are computed of indices and of numbers that are
/// the same for all elements.
class PlaceMasks {
public:
  /// Takes the operations in order.
  void add(mlir::Operation *op);
  /// The mask that `op` puts on a load, or on what little follows from one:
  /// most steps of a loop are inside of it, and do not compute it. Null if it
  /// does no such thing.
  mlir::Operation *ofLoad(mlir::Operation *op) const;

private:
  llvm::DenseSet<mlir::Operation *> places, masks;
};

} // namespace tilebridge::cpu
