//===- AccelKernel.h - a kernel for an accelerator's simulator --*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "accel-backend/plugin/Plugin.h"
#include "accel-backend/simulator/Simulate.h"
#include "compiler/Job.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <memory>
#include <mutex>

namespace tilebridge::compiler {

/// Texts that a lowering gives; those that are null are not made.
struct AccelOutputs {
  std::string *lowered = nullptr;
  std::string *cpp = nullptr;
  /// JSON: what the model expects, and what a search decided.
  std::string *estimate = nullptr;
  std::string *tuning = nullptr;
  /// The plug-in's own, and what it is called.
  std::string *own = nullptr;
  std::string ownName;
  /// What the lowering remarks, if it is asked to and was not done before.
  std::string remarks;
};

/// The first stage that a search decides about.
constexpr llvm::StringLiteral decidedStage = "map-grid";

/// What the compiler searches for itself.
enum class Search { None, Autotile, Exhaustive };

/// A kernel as bridge IR, and what it was lowered to for launches so far.
class AccelKernel {
public:
  /// From TTIR, bridge IR or lowered IR as text, for the request's target,
  /// "accel:NAME", with ",depth=N", ",multicast=off", ",merge=XxYxZ" and
  /// ",plugin=FILE" behind it (a plug-in may bring the target). Null where
  /// `result` has errors; its output is a manifest.
  static std::unique_ptr<AccelKernel> load(const Request &request,
                                           Result &result);

  unsigned slotCount();

  /// Lowers the kernel for what is known of the launch, unless that was done
  /// before, and runs it unless `isOnlyCompiled`. Errors are appended to
  /// `errors`; `outputs` gets what is asked for.
  accel::SimOutcome simulate(const accel::SimLaunch &launch,
                             const accel::SimOptions &options, Search search,
                             bool isOnlyCompiled, std::string &errors,
                             AccelOutputs *outputs);

private:
  AccelKernel();
  bool read(const Request &request, Result &result);
  /// What a kernel was lowered to, and what a search decided.
  struct Lowering {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    std::string tuning;
  };
  /// Null after an error.
  const Lowering *lower(const accel::SimLaunch &launch, Search search);
  llvm::Error takeSettings();
  bool takeMerge(llvm::StringRef text);
  bool readTarget(const Request &request, std::string &errors);
  /// The stages from one to another, with the plug-in's passes.
  bool addPipeline(mlir::PassManager &manager, llvm::StringRef from,
                   llvm::StringRef to);
  /// Decides on a kernel that was lowered until its grid is mapped.
  std::string tune(mlir::ModuleOp module, const accel::SimLaunch &launch,
                   bool isExhaustive);
  bool emit(mlir::ModuleOp lowered, const accel::SimLaunch &launch,
            AccelOutputs &outputs);

  std::mutex mutex;
  mlir::MLIRContext context;
  std::string targetName;
  accel::Target target;
  std::optional<accel::Plugin> plugin;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp kernel;
  bool isLowered = false; // as it was read
  bool wantsRemarks = false;
  /// What the lowering leaves away; 0: as deep as it likes.
  int64_t mostDepth = 0;
  bool isUnicast = false;
  llvm::SmallVector<int64_t> merge;
  /// By what is known of a launch.
  std::map<std::string, Lowering> lowerings;
};

} // namespace tilebridge::compiler
