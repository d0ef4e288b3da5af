//===- KernelLaunch.h - what passes know of a kernel's launch -------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/plan/Turns.h"

namespace tilebridge::accel {

/// A kernel that is lowered for a target, and what is known of its launch.
struct KernelLaunch {
  mlir::func::FuncOp kernel;
  Target target;
  std::optional<Grids> grids;

  /// Evaluated anew by each call: what was asked of it goes with it.
  Turns turns() const { return Turns(kernel, target, grids); }

  /// None of a function that is no kernel, or where there is no target. Fails,
  /// with an error at the kernel, where there is no target of that name.
  static mlir::FailureOr<std::optional<KernelLaunch>>
  of(mlir::func::FuncOp kernel);

  /// Also none where PEs cannot share what they load: it was left away, there
  /// is one PE, or programs wait for one another.
  static mlir::FailureOr<std::optional<KernelLaunch>>
  thatMayShare(mlir::func::FuncOp kernel);
};

} // namespace tilebridge::accel
