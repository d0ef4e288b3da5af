//===- Solver.h - finds places for buffers --------------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/plan/allocation/Problem.h"

namespace tilebridge::accel::allocation {

struct SolverOptions {
  /// How many orders the search tries beyond the first few.
  unsigned searches = 2000;
};

/// A placement that fits, checked by `verify`, or none. Buffers are placed one
/// after the other, each into the smallest gap that holds it between those
/// that are needed at the same time; what is searched is the order. The
/// same problem has the same placement each time. No placement for a problem
/// whose lower bound exceeds the capacity, and, seldom, for one that a longer
/// search would have solved.
std::optional<Placement> solve(const Problem &problem,
                               const SolverOptions &options = {});

} // namespace tilebridge::accel::allocation
