//===- AutoTile.h - the fastest decisions for a kernel --------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/dialect/Assignment.h"
#include "accel-backend/target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <functional>
#include <vector>

namespace tilebridge::accel {

/// What there is to decide about a kernel whose grid is not yet mapped.
struct Decision {
  /// What the compiler decides without a search: it decides again, and the rest
  /// is what it came to.
  bool isOwn = false;
  /// Null: by reuse.
  AssignmentAttr assignment;
  bool multicast = true;
  /// How many neighbours of the launch grid are one program.
  Merge merge = unmerged;
  int64_t depth = 2;
  /// One size for each class that can be tiled (Decide.h).
  llvm::SmallVector<int64_t> tiles;
};

/// Writes a decision as attributes.
void apply(mlir::func::FuncOp kernel, const Decision &decision);

/// A decision that fits, and how long it takes.
struct Candidate {
  Decision decision;
  /// By the model, and where that was asked, by the simulator.
  double cycles = 0;
  std::optional<double> simulatedCycles;
};

struct SearchOptions {
  /// Lowers a module whose kernel is decided on, from the mapping of its grid
  /// on; without it, the stages of the pipeline do.
  std::function<mlir::LogicalResult(mlir::ModuleOp decided)> lower;
  /// Runs a lowered module and gives its cycles, or none where it fails.
  /// Without it the model has the last word.
  std::function<std::optional<double>(mlir::ModuleOp lowered)> confirm;
  /// How many of the best are confirmed.
  unsigned confirmed = 8;
  /// How many are lowered at most.
  unsigned trials = 160;
  /// Confirms all decisions that there are, and asks the model for none.
  bool isExhaustive = false;
};

/// What a search found.
struct Tuning {
  Candidate best;
  /// How many decisions there are, were lowered, and were simulated.
  size_t decisions = 0, lowered = 0, simulated = 0;
};

/// What was decided and found, for a report.
llvm::json::Object describe(mlir::func::FuncOp kernel, const Tuning &tuning);

/// All decisions that there are, in some order: for tests, which compare.
std::vector<Decision> allDecisions(mlir::func::FuncOp kernel,
                                   const Target &target);

/// The cycles of a decision by the model; none where it does not fit.
std::optional<double> cyclesOf(mlir::func::FuncOp kernel, const Target &target,
                               const Decision &decision);

/// Searches from the largest blocks that fit: changes one decision at a time as
/// long as the model says that it helps, and confirms the best ones, and what
/// the compiler decides on its own: nothing worse than that is taken. The best
/// is written as attributes. None where nothing fits.
std::optional<Tuning> autotile(mlir::func::FuncOp kernel, const Target &target,
                               const SearchOptions &options);

} // namespace tilebridge::accel
