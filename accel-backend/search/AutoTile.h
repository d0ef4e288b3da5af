//===- AutoTile.h - the fastest decisions for a kernel --------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/dialect/AccelDialect.h"
#include "accel-backend/target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <vector>

namespace tilebridge::accel {

/// What there is to decide about a kernel whose grid is not yet mapped.
struct Decision {
  /// Null: by reuse.
  AssignmentAttr assignment;
  bool multicast = true;
  int64_t depth = 2;
  /// One size for each class that can be tiled (Decide.h).
  llvm::SmallVector<int64_t> tiles;
};

/// Writes a decision as attributes.
void apply(mlir::func::FuncOp kernel, const Decision &decision);

/// A decision that fits, and how long it takes.
struct Candidate {
  Decision decision;
  double cycles = 0;
};

struct SearchOptions {
  /// Runs a lowered module and gives its cycles, or none where it fails.
  /// Without it the model has the last word.
  std::function<std::optional<double>(mlir::ModuleOp lowered)> confirm;
  /// How many of the best are confirmed.
  unsigned confirmed = 4;
  /// How many are lowered at most.
  unsigned trials = 200;
};

/// All decisions that there are, in some order: for tests, which compare.
std::vector<Decision> allDecisions(mlir::func::FuncOp kernel,
                                   const Target &target);

/// The cycles of a decision by the model; none where it does not fit.
std::optional<double> cyclesOf(mlir::func::FuncOp kernel, const Target &target,
                               const Decision &decision);

/// Searches from what the compiler decides on its own: changes one decision at
/// a time as long as the model says that it helps, and confirms the best ones.
/// None where nothing fits.
std::optional<Candidate> autotile(mlir::func::FuncOp kernel,
                                  const Target &target,
                                  const SearchOptions &options);

} // namespace tilebridge::accel
