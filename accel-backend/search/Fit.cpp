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
#include "accel-backend/plan/allocation/Solver.h"
#include "accel-backend/search/Decide.h"
#include "accel-backend/search/Passes.h"
#include "accel-backend/search/Trial.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELFITPASS
#include "accel-backend/search/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

// The same buffers with every dimension of `size` as small as `smaller`.
static allocation::Problem scaled(const Trial &trial, int64_t size,
                                  int64_t smaller) {
  allocation::Problem problem = trial.problem;
  for (auto [life, buffer] : llvm::zip_equal(trial.lifetimes, problem.buffers))
    for (int64_t each :
         cast<MemRefType>(AllocOp(life.op).getMemref().getType()).getShape())
      if (each == size)
        buffer.bytes = std::max<uint64_t>(
            buffer.bytes * uint64_t(smaller) / uint64_t(size), 1);
  return problem;
}

// What would fit, where no block can be made smaller by the compiler: the
// largest dimension that is needed at the worst time, halved until the buffers
// have places.
static std::string adviceFor(const Trial &trial) {
  if (trial.problem.buffers.empty())
    return "";
  int64_t size = 1;
  uint64_t most = 0;
  for (unsigned index : trial.problem.fullest()) {
    if (trial.problem.buffers[index].bytes <= most)
      continue;
    most = trial.problem.buffers[index].bytes;
    AllocOp alloc = trial.lifetimes[index].op;
    auto type = cast<MemRefType>(alloc.getMemref().getType());
    for (int64_t each : type.getShape())
      size = std::max(size, each);
  }
  for (int64_t smaller = size / 2; smaller >= 1; smaller /= 2)
    if (allocation::solve(scaled(trial, size, smaller)))
      return ("blocks with a dimension of " + Twine(smaller) + " instead of " +
              Twine(size) + " would fit")
          .str();
  return "";
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

  /// The kernel as it is decided, with what local memory has no room for
  /// farther away: how long that takes, none where it does not help.
  static std::optional<double> trySpill(func::FuncOp kernel,
                                        const Target &target) {
    std::optional<Trial> trial = tryOut(kernel, target, "tile");
    if (!trial || !trial->fits)
      return std::nullopt;
    return estimate(trial->kernel, target).cycles;
  }

  /// Of blocks that are as small as they can be and blocks that are whole,
  /// what takes less time.
  static bool spill(func::FuncOp kernel, const Target &target, Tiles &tiles) {
    Builder builder(kernel.getContext());
    kernel->setAttr(spillAttr, builder.getUnitAttr());
    keepStores(kernel);
    setDepth(kernel, 1);
    SmallVector<int64_t> sizes;
    for (const Tile &tile : tiles.all())
      sizes.push_back(tile.size);
    std::optional<double> small = trySpill(kernel, target);
    tiles.clear();
    std::optional<double> whole = trySpill(kernel, target);
    if (small && (!whole || *small < *whole))
      for (auto [index, size] : llvm::enumerate(sizes))
        tiles.set(unsigned(index), size);
    if (small || whole)
      return true;
    kernel->removeAttr(spillAttr);
    return false;
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
        if (!trial)
          break;
        if (trial->fits)
          return success();
        last = std::move(trial);
      }
      // What fails as a whole fails again, with its message, in the pipeline.
      if (!last)
        return success();
      if (!tiles.shrink())
        break;
    }
    if (spill(kernel, target, tiles))
      return success();
    reportOverflow(kernel, last->lifetimes, last->problem, last->memory,
                   adviceFor(*last));
    return failure();
  }
};
} // namespace
