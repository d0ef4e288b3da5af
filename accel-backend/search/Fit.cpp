//===- Fit.cpp - blocks and depths that fit into local memory -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A decision is tried by lowering a copy of the kernel with it: what the
// buffers then need is not estimated but counted.
//===----------------------------------------------------------------------===//

#include "accel-backend/Passes.h"
#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Tiles.h"
#include "accel-backend/search/Decide.h"
#include "accel-backend/search/Passes.h"
#include "accel-backend/search/Trial.h"

#include "llvm/Support/MathExtras.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELFITPASS
#include "accel-backend/search/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

// What would fit, where no block can be made smaller by the compiler: the
// largest dimension that is needed at the worst time, by as much as is missing.
static std::string adviceFor(const Trial &trial) {
  if (trial.problem.buffers.empty())
    return "";
  unsigned largest = 0;
  for (unsigned index : trial.problem.fullest())
    if (trial.problem.buffers[index].bytes >
        trial.problem.buffers[largest].bytes)
      largest = index;
  AllocOp alloc = trial.lifetimes[largest].op;
  auto type = cast<MemRefType>(alloc.getMemref().getType());
  int64_t size = 1;
  for (int64_t each : type.getShape())
    size = std::max(size, each);
  uint64_t needed = trial.problem.lowerBound();
  uint64_t times = llvm::divideCeil(needed, trial.problem.capacity);
  int64_t fitting =
      size / int64_t(llvm::PowerOf2Ceil(std::max<uint64_t>(times, 2)));
  if (fitting < 1)
    return "";
  return ("blocks with a dimension of " + Twine(fitting) + " instead of " +
          Twine(size) + " would fit")
      .str();
}

// Stores have one buffer, too.
static void keepStores(func::FuncOp kernel) {
  Builder builder(kernel.getContext());
  kernel.walk([&](CopyOp copy) {
    if (!isInChipMemory(copy.getSource().getType()))
      copy->setAttr(depthAttr, builder.getI64IntegerAttr(1));
  });
}

namespace {
struct AccelFitPass : accel::impl::AccelFitPassBase<AccelFitPass> {
  using AccelFitPassBase::AccelFitPassBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!kernel->hasAttr(kernelAttr))
        continue;
      FailureOr<std::optional<Target>> target = targetOf(kernel);
      if (failed(target))
        return signalPassFailure();
      if (*target && failed(fit(kernel, **target)))
        return signalPassFailure();
    }
  }

  LogicalResult fit(func::FuncOp kernel, const Target &target) {
    // By whoever has searched.
    if (isDecided(kernel))
      return success();
    int64_t most = mostDepth;
    if (auto asked = kernel->getAttrOfType<IntegerAttr>(mostDepthAttr))
      most = asked.getInt();
    if (most < 2)
      keepStores(kernel);
    Tiles tiles(kernel);
    std::optional<Trial> last;
    // Each block can be halved some times; the bound is for safety.
    for (unsigned round = 0; round < 64; ++round) {
      for (int64_t depth = most; depth >= 1; --depth) {
        setDepth(kernel, depth);
        std::optional<Trial> trial = tryOut(kernel, target, "tile");
        // What fails there fails again, with its message, in the pipeline.
        if (!trial)
          return success();
        if (trial->fits)
          return success();
        last = std::move(trial);
      }
      if (!tiles.shrink())
        break;
    }
    tiles.clear();
    reportOverflow(kernel, last->lifetimes, last->problem, last->memory,
                   adviceFor(*last));
    return failure();
  }
};
} // namespace
