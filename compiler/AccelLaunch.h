//===- AccelLaunch.h - what is known of a launch --------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/plan/Passes.h"
#include "accel-backend/simulator/Simulate.h"
#include "accel-backend/target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace tilebridge::compiler {

/// Of a kernel's arguments those that a launch gives.
llvm::ArrayRef<mlir::Type> ownArguments(mlir::func::FuncOp kernel);

/// How many words a launch gives for an argument.
unsigned slotsOf(mlir::Type type);

/// What is known of a launch, as options of the pass that uses it.
struct LaunchFacts {
  accel::AccelSpecializePassOptions options;
  /// Arguments whose memory overlaps with another's.
  llvm::SmallVector<unsigned> overlapping;
  std::string key;

  LaunchFacts(mlir::func::FuncOp kernel, const accel::Target &target,
              const accel::SimLaunch &launch);
  /// Whether a kernel that came lowered can be run by this launch; says why
  /// not.
  mlir::LogicalResult checkLowered(mlir::func::FuncOp kernel,
                                   const accel::Target &target) const;
};

} // namespace tilebridge::compiler
