//===- Pipeline.cpp - the steps of accel-backend, in order ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/Passes.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/search/Passes.h"

#include "triton-to-linalg/bridge/Passes.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

namespace {
struct Stage {
  StringRef name;
  void (*add)(OpPassManager &pm);
};
} // namespace

/// Each kernel is one function, marked as a kernel for this backend.
static void addInline(OpPassManager &pm) {
  pm.addPass(createInlinerPass());
  pm.addPass(createAccelKernelsPass());
}

/// Accesses to blocks become copies.
static void addCopies(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createAccelAccumulatePass());
  pm.addNestedPass<func::FuncOp>(createAccelCopiesPass());
}

/// Every tensor op writes to a destination; elementwise ones are fused.
static void addWrapCompute(OpPassManager &pm) {
  // Canonicalization makes selects of blocks of branches that only choose.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(linalg_ext::createSpreadSelectsPass());
  pm.addNestedPass<func::FuncOp>(createAccelWrapComputePass());
  pm.addPass(createAccelFusePass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // What folding made of fills and branches.
  pm.addPass(linalg_ext::createSpreadSelectsPass());
  pm.addNestedPass<func::FuncOp>(createAccelWrapComputePass());
}

/// Blocks are copied in the order of memory where that takes less time.
static void addOrder(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createAccelOrderCopiesPass());
}

/// Programs become turns of PEs.
static void addMapGrid(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createAccelMapGridPass());
  // The number of steps and ids that are constants reach what uses them.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// What is the same for all programs of the launch, or in all iterations, is a
/// constant: masks of blocks that are full, for one.
static void addFold(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createAccelFoldUniformPass());
  pm.addPass(arith::createIntRangeOptimizationsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// How deep and how small is decided.
static void addFit(OpPassManager &pm) { pm.addPass(createAccelFitPass()); }

/// Blocks are as small as was decided.
static void addTile(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createAccelTilePass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// Neighbours that are run as one program are in step.
static void addMerge(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createAccelMergeProgramsPass());
}

/// Nothing is loaded twice.
static void addHoist(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createAccelHoistCopiesPass());
}

/// Blocks become buffers.
static void addBufferize(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createAccelBufferizePass());
  pm.addPass(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createAccelBranchOncePass());
  pm.addPass(createCSEPass());
}

/// What PEs of a line load alike is read once.
static void addMulticast(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createAccelJoinLoopsPass());
  pm.addNestedPass<func::FuncOp>(createAccelEvenLoopsPass());
  pm.addNestedPass<func::FuncOp>(createAccelMulticastPass());
  pm.addNestedPass<func::FuncOp>(createAccelChooseReductionsPass());
  pm.addNestedPass<func::FuncOp>(createAccelSkipIdlePass());
  pm.addPass(createCanonicalizerPass());
}

/// What local memory has no room for is farther away.
static void addSpill(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createAccelSpillPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// What PEs of a line add to the same elements is added up before.
static void addReduceLines(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createAccelReduceLinesPass());
}

/// Transfers run beside compute.
static void addPipeline(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createAccelPipelinePass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// Each transfer is one descriptor of an engine.
static void addLegalize(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createAccelLegalizePass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// Buffers have places.
static void addAllocate(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createAccelAllocatePass());
}

/// The lowered form keeps its own rules.
static void addVerifySchedule(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createAccelVerifySchedulePass());
}

// clang-format off
static const Stage stages[] = {
    {"inline", addInline},
    {"copies", addCopies},
    {"wrap-compute", addWrapCompute},
    {"order", addOrder},
    {"map-grid", addMapGrid},
    {"fold", addFold},
    {"fit", addFit},
    {"tile", addTile},
    {"merge", addMerge},
    {"hoist", addHoist},
    {"multicast", addMulticast},
    {"bufferize", addBufferize},
    {"reduce-lines", addReduceLines},
    {"spill", addSpill},
    {"pipeline", addPipeline},
    {"legalize", addLegalize},
    {"allocate", addAllocate},
    {"verify-schedule", addVerifySchedule},
};
// clang-format on

ArrayRef<StringRef> tilebridge::accel::stageNames() {
  static const SmallVector<StringRef> names = [] {
    SmallVector<StringRef> result;
    for (const Stage &stage : stages)
      result.push_back(stage.name);
    return result;
  }();
  return names;
}

LogicalResult tilebridge::accel::buildAccelPipeline(OpPassManager &pm,
                                                    StringRef from,
                                                    StringRef to) {
  ArrayRef<StringRef> names = stageNames();
  auto position = [&](StringRef name, size_t otherwise) -> size_t {
    return name.empty() ? otherwise : llvm::find(names, name) - names.begin();
  };
  size_t first = position(from, 0);
  size_t last = position(to, names.size() - 1);
  if (first >= names.size() || last >= names.size() || first > last)
    return failure();
  for (size_t i = first; i <= last; ++i)
    stages[i].add(pm);
  return success();
}

namespace {
struct AccelPipelineOptions : public PassPipelineOptions<AccelPipelineOptions> {
  Option<std::string> from{*this, "from",
                           llvm::cl::desc("the first stage to run")};
  Option<std::string> to{*this, "to", llvm::cl::desc("the last stage to run")};
};
} // namespace

void tilebridge::accel::registerAccelPipelines() {
  PassPipelineRegistration<AccelPipelineOptions>(
      "tilebridge-accel-pipeline",
      "bridge IR to copies and compute on the local memories of PEs",
      [](OpPassManager &pm, const AccelPipelineOptions &options) {
        if (succeeded(buildAccelPipeline(pm, options.from, options.to)))
          return;
        llvm::errs() << "tilebridge-accel-pipeline: 'from' and 'to' are stages "
                        "in order, of: ";
        llvm::interleaveComma(stageNames(), llvm::errs());
        llvm::errs() << '\n';
      });
}
