//===- Turns.h - what PEs do alike ----------------------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/plan/AccessKeys.h"
#include "accel-backend/plan/ChooseAssignment.h"
#include "accel-backend/target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilebridge::accel {

/// The turns of all PEs of a kernel whose grid is mapped: in each step each PE
/// has one, or one for each of the programs that it runs as one (Merge.h).
/// Without a known launch one step stands for all.
class Turns {
public:
  Turns(mlir::func::FuncOp kernel, const Target &target,
        const std::optional<Grids> &grids);

  /// Along which lines all PEs run an operation equally often, and with the
  /// same values.
  Sharing ofAccess(mlir::Operation *op, mlir::ValueRange source);
  /// The same without regard to how often.
  Sharing ofValues(mlir::ValueRange source);

  /// A scalar in each turn; null where it is not known.
  const InstanceValues::Row *valuesOf(mlir::Value scalar) {
    return values.get(scalar);
  }

  /// How many there are.
  size_t size() const { return values.size(); }
  /// What tells them apart: ids, and the loops over steps and neighbours.
  llvm::ArrayRef<mlir::Value> seeds() const { return seeded; }

  /// Whether a scalar is known to be the same in all programs that are run as
  /// one; none where it is not known.
  std::optional<bool> isSameInMerged(mlir::Value scalar);

private:
  void seed(mlir::func::FuncOp kernel, const std::optional<Grids> &grids);
  void seed(mlir::Value value, InstanceValues::Row row);
  Sharing sharingOf(const std::optional<Classes> &classes) const;

  Grid grid;
  mlir::scf::ForOp mergeLoop;
  /// How many programs are one, and how many steps there are of such.
  int64_t together, steps;
  InstanceValues values;
  llvm::SmallVector<mlir::Value> seeded;
  AccessKeys keys;
};

} // namespace tilebridge::accel
