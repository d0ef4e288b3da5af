//===- Model.h - how long a lowered kernel takes --------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// An estimate without running anything: what each engine, memory and unit has
// to do bounds the time from below, and what cannot overlap adds up. It ranks
// decisions; the simulator tells how long they take.
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <string>

namespace tilebridge::accel {

struct Estimate {
  /// Of all PEs, with prologue and epilogue.
  double cycles = 0;
  /// The same if as many loads of each loop were under way as one likes.
  double leastCycles = 0;
  /// What each of them alone would take, by name: "compute", engines, memories.
  std::map<std::string, double> terms;
  /// Moved by all PEs, by memory; a multicast is read once.
  std::map<std::string, double> bytesRead, bytesWritten;
  double multicastSavedBytes = 0;
};

/// Of a kernel whose copies are transfers. Loops whose count is not known are
/// taken to run a few times.
Estimate estimate(mlir::func::FuncOp kernel, const Target &target);

} // namespace tilebridge::accel
