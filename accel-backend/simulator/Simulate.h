//===- Simulate.h - runs a lowered kernel, function and time ----*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/target/Target.h"
#include "reference/Evaluate.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tilebridge::accel {

/// When the bytes of a transfer move, between its start and what waits for it.
enum class Landing { Late, Random };

struct SimOptions {
  Landing landing = Landing::Late;
  uint64_t seed = 0;
  /// Whether Stats get a trace.
  bool wantsTrace = false;
  /// Instructions that a PE may run before the launch is given up; 0: any.
  uint64_t mostInstructions = 0;
  /// Floats are neither moved nor computed: the cycles and the bytes are those
  /// of a whole run, as far as floats do not decide what is run.
  bool isOnlyTime = false;
};

struct SimLaunch {
  /// The kernel's arguments, as tb_launch_v1 has them.
  llvm::ArrayRef<uint64_t> slots;
  std::array<uint32_t, 3> grid = {1, 1, 1};
  /// The arrays that the kernel may touch, by pointer argument; where there are
  /// none, accesses to the chip's memory are not checked.
  llvm::ArrayRef<reference::MemoryRange> memory;
  std::function<void(llvm::StringRef line)> print;
};

struct MemoryStats {
  std::string name;
  uint64_t bytesRead = 0, bytesWritten = 0;
  /// Of the instance that was busy for longest.
  double busyCycles = 0;
  /// What its bytes take at its bandwidth, if all instances share them evenly.
  double rooflineCycles = 0;
};

struct UnitStats {
  std::string name;
  double operations = 0;
  /// Over all PEs, and of the PE with most of them.
  double busyCycles = 0, mostBusyCycles = 0;
};

struct EngineStats {
  std::string name;
  uint64_t transfers = 0, bytes = 0;
  double mostBusyCycles = 0;
};

/// What one access of the kernel became.
struct AccessStats {
  /// Line, tensor, direction and form, and why it is no box.
  llvm::json::Object text;
  uint64_t transfers = 0, bytes = 0;
};

struct Stats {
  std::string kernel, target;
  double cycles = 0, clockGHz = 1;
  int64_t programs = 0, pes = 0;
  std::vector<MemoryStats> memories;
  std::vector<UnitStats> units;
  std::vector<EngineStats> engines;
  std::vector<AccessStats> accesses;
  /// What multicast reads did not read again.
  uint64_t multicastSavedBytes = 0;
  /// Cycles that PEs waited for transfers, and for one another; of all PEs.
  double waitCycles = 0, syncCycles = 0;
  /// Chrome's trace format.
  std::string trace;

  /// What no schedule is faster than, by name.
  std::map<std::string, double> rooflineTerms() const;
  std::string json() const;
};

struct SimOutcome {
  bool isError = false;  // reported as diagnostics at the operations
  std::string assertion; // of the kernel: "file:line:col: message"
  Stats stats;
};

/// Runs the kernel of a lowered module. Where it has the attribute
/// `accel.legalized`, each transfer must be one descriptor of its engine.
SimOutcome simulate(mlir::ModuleOp module, const Target &target,
                    const SimLaunch &launch, const SimOptions &options = {});

} // namespace tilebridge::accel
