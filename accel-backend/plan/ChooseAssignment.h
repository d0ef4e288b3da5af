//===- ChooseAssignment.h - which PE runs which program -------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/dialect/Assignment.h"
#include "accel-backend/plan/AccessKeys.h"
#include "accel-backend/target/Target.h"

namespace tilebridge::accel {

/// A load in a loop that programs run differently often. PEs of a line may run
/// it equally often (EvenLoops.cpp).
struct EvenReading {
  /// Which programs load the same in the iterations that both have.
  Classes classes;
  /// By program, how many iterations there are.
  std::vector<double> iterations;
};

/// A load as far as reuse goes.
struct Reading {
  /// Which programs do the same loads.
  Classes classes;
  /// In one program, of several on average.
  double bytes = 0;
  std::optional<EvenReading> even = std::nullopt;
};

/// By so much a PE may run a loop more often than the one that does it most
/// often anyway: that one, and not its line, decides how long the launch is.
constexpr double mostWaiting = 1.125;

/// Along which lines all PEs do the same loads, in each step.
struct Sharing {
  bool alongRows = true, alongColumns = true;
};
Sharing sharingOf(AssignmentAttr assignment, const Grids &grids,
                  const Classes &classes);

/// An assignment and what it costs.
struct Choice {
  AssignmentAttr assignment;
  int64_t steps = 0;
  /// Read from the chip's memory by all PEs, multicasts counted once.
  double bytes = 0;
};
Choice rate(AssignmentAttr assignment, const Grids &grids,
            llvm::ArrayRef<Reading> readings, Lines multicast);

/// Tries assignments by number and by dimension of the grid, and those that put
/// classes of one load on rows and of another on columns. The grid has at
/// least one program.
Choice chooseAssignment(mlir::MLIRContext *context, const Grids &grids,
                        llvm::ArrayRef<Reading> readings, Lines multicast);

} // namespace tilebridge::accel
