//===- Trial.cpp - what becomes of a kernel by some decisions -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/search/Trial.h"

#include "accel-backend/Passes.h"
#include "accel-backend/plan/allocation/Solver.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace tilebridge::accel;

// The stage before places are given out.
static StringRef lastStage() {
  ArrayRef<StringRef> names = stageNames();
  const StringRef *place = llvm::find(names, "allocate");
  return place == names.begin() ? StringRef() : *std::prev(place);
}

std::optional<Trial> tilebridge::accel::tryOut(func::FuncOp kernel,
                                               const Target &target,
                                               StringRef from) {
  MLIRContext *context = kernel.getContext();
  // Errors of a decision that is not taken are nobody's business.
  ScopedDiagnosticHandler silence(context,
                                  [](Diagnostic &) { return success(); });
  Trial trial;
  trial.module = kernel->getParentOfType<ModuleOp>().clone();
  // Other kernels of the module are decided on their own.
  for (auto other :
       llvm::make_early_inc_range(trial.module->getOps<func::FuncOp>()))
    if (other.getName() != kernel.getName())
      other.erase();
  PassManager manager(context, ModuleOp::getOperationName());
  if (failed(buildAccelPipeline(manager, from, lastStage())) ||
      failed(manager.run(*trial.module)))
    return std::nullopt;
  trial.kernel = *trial.module->getOps<func::FuncOp>().begin();

  sinkAllocations(trial.kernel);
  for (const Lifetime &life : lifetimesOf(trial.kernel)) {
    auto type = cast<MemRefType>(AllocOp(life.op).getMemref().getType());
    if (cast<MemoryAttr>(type.getMemorySpace()).getName() == localMemory)
      trial.lifetimes.push_back(life);
  }
  const Memory &memory = target.localMemory();
  trial.memory = memory.name;
  trial.problem = problemOf(trial.lifetimes, memory, target);
  trial.fits = allocation::solve(trial.problem).has_value();
  return trial;
}
