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
  /// The plug-in's own, and what it is called.
  std::string *own = nullptr;
  std::string ownName;
};

/// A kernel as bridge IR, and what it was lowered to for launches so far.
class AccelKernel {
public:
  /// From TTIR, bridge IR or lowered IR as text, for the request's target,
  /// "accel:NAME" or "accel:NAME,plugin=FILE" (a plug-in may bring the target).
  /// Null where `result` has errors; its output is a manifest.
  static std::unique_ptr<AccelKernel> load(const Request &request,
                                           Result &result);

  unsigned slotCount();

  /// Lowers the kernel for what is known of the launch, unless that was done
  /// before, and runs it unless `isOnlyCompiled`. Errors are appended to
  /// `errors`; `outputs` gets what is asked for.
  accel::SimOutcome simulate(const accel::SimLaunch &launch,
                             const accel::SimOptions &options,
                             bool isOnlyCompiled, std::string &errors,
                             AccelOutputs *outputs);

private:
  AccelKernel();
  bool read(const Request &request, Result &result);
  /// Null after an error.
  mlir::ModuleOp lower(const accel::SimLaunch &launch);
  bool readTarget(const Request &request, std::string &errors);
  bool addPipeline(mlir::PassManager &manager);
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
  /// By what is known of a launch.
  std::map<std::string, mlir::OwningOpRef<mlir::ModuleOp>> lowerings;
};

} // namespace tilebridge::compiler
