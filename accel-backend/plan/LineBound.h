//===- LineBound.h - the most often that a line runs a loop ---------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Turns.h"

namespace tilebridge::accel {

/// The greatest upper bound that PEs of a line have for a loop, in each step.
class LineBound {
public:
  /// Of a loop up to `upper`. None where a bound is not known, or neighbours of
  /// the launch grid are still run one after the other.
  static std::optional<LineBound> of(mlir::scf::ForOp loop, mlir::Value upper,
                                     const Sharing &lines, const Target &target,
                                     Turns &turns);

  /// Whether no PE runs the loop much more often than the one that does it most
  /// often anyway: that one, and not its line, decides how long the launch is.
  bool isFree() const { return free; }

  /// The bound, before the loop, from the step and the PE's place; null where
  /// that takes too many cases.
  mlir::Value build(mlir::OpBuilder &builder);

private:
  LineBound(mlir::scf::ForOp loop) : loop(loop) {}
  mlir::Value choose(mlir::OpBuilder &builder, mlir::Value key,
                     llvm::ArrayRef<int64_t> keys);

  mlir::scf::ForOp loop;
  bool free = false;
  /// By turn: the bound, the step, and the place across the lines.
  InstanceValues::Row bounds, steps, places;
  int64_t countOfPlaces = 1;
  /// The coordinate that `places` are; none where all PEs are one line.
  std::optional<int64_t> across;
  ProgramOp program;
};

/// Whether a program waits for another one, so that it may read what that one
/// wrote: two PEs that read the same place at different times then read
/// different things.
bool waitsForOthers(mlir::func::FuncOp kernel);

} // namespace tilebridge::accel
