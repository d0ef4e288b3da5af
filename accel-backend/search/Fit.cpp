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

#include "llvm/ADT/MapVector.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELFITPASS
#include "accel-backend/search/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

// What would fit, where no block can be made smaller by the compiler: the
// largest dimension that is needed at the worst time is halved, until the
// buffers have places. A dimension is known by its size.
static std::string adviceFor(const Trial &trial) {
  llvm::MapVector<int64_t, int64_t> smaller;
  auto typeOf = [&](unsigned index) {
    AllocOp alloc = trial.lifetimes[index].op;
    return cast<MemRefType>(alloc.getMemref().getType());
  };
  auto sizeOf = [&](int64_t size) {
    auto found = smaller.find(size);
    return found == smaller.end() ? size : found->second;
  };
  allocation::Problem problem = trial.problem;
  while (true) {
    for (auto [index, buffer] : llvm::enumerate(problem.buffers)) {
      uint64_t elements = 1;
      for (int64_t size : typeOf(unsigned(index)).getShape())
        elements *= uint64_t(sizeOf(size));
      uint64_t all = trial.problem.buffers[index].bytes;
      uint64_t count = typeOf(unsigned(index)).getNumElements();
      buffer.bytes = count ? all / count * elements : all;
    }
    if (allocation::solve(problem))
      break;
    int64_t largest = 1;
    uint64_t most = 0;
    for (unsigned index : problem.fullest()) {
      int64_t own = 1;
      for (int64_t size : typeOf(index).getShape())
        if (sizeOf(size) > sizeOf(own))
          own = size;
      if (sizeOf(own) == 1 || problem.buffers[index].bytes <= most)
        continue;
      most = problem.buffers[index].bytes;
      largest = own;
    }
    if (largest == 1)
      return "not even blocks of one element would fit";
    smaller[largest] = sizeOf(largest) / 2;
  }
  std::string text = "blocks with ";
  llvm::raw_string_ostream out(text);
  llvm::interleave(
      smaller, out,
      [&](const auto &one) {
        out << "a dimension of " << one.second << " instead of " << one.first;
      },
      " and ");
  return smaller.empty() ? "" : text + " would fit";
}

// As many buffers as a load may have.
static constexpr int64_t mostOfAny = 64;

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

  /// The fewest buffers, up to these, with which the kernel is as fast as it
  /// can be by the model. Loads that are started too early hold up the stores
  /// of an engine that does both. `two`: what has been tried with two.
  static int64_t chooseDepth(func::FuncOp kernel, const Target &target,
                             int64_t most, std::optional<Trial> two) {
    // A part of them is among those of any larger `most`.
    constexpr int64_t depths[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
    // Less is no reason.
    constexpr double gain = 0.99;
    int64_t best = 0;
    double least = 0, before = std::numeric_limits<double>::infinity();
    for (int64_t depth : depths) {
      if (depth > most)
        break;
      std::optional<Trial> trial;
      if (depth == 2 && two) {
        trial = std::move(two);
      } else {
        setDepth(kernel, depth);
        trial = tryOut(kernel, target, "tile");
      }
      if (!trial || !trial->fits) {
        // Nor do more than these.
        if (best)
          break;
        continue;
      }
      Estimate estimated = estimate(trial->kernel, target);
      if (!best || estimated.cycles < least * gain) {
        best = depth;
        least = estimated.cycles;
      }
      // Nothing deeper is faster.
      if (estimated.leastCycles >= least * gain || estimated.cycles >= before)
        break;
      before = estimated.cycles;
    }
    return best ? best : most;
  }

  LogicalResult fit(func::FuncOp kernel, const Target &target) {
    // By whoever has searched.
    if (isDecided(kernel))
      return success();
    int64_t asked = mostDepth;
    if (auto attribute = kernel->getAttrOfType<IntegerAttr>(mostDepthAttr))
      asked = attribute.getInt();
    // More than two never make blocks smaller.
    int64_t most = asked ? asked : 2;
    if (most < 2)
      keepStores(kernel);
    Tiles tiles(kernel);
    std::optional<Trial> last;
    // Each block can be halved some times; the bound is for safety.
    for (unsigned round = 0; round < 64; ++round) {
      // The most buffers that fit are between these two; all is tried first.
      int64_t fits = 0, overflows = most + 1;
      std::optional<Trial> fitting;
      for (int64_t depth = most; overflows - fits > 1;
           depth = (fits + overflows) / 2) {
        setDepth(kernel, depth);
        std::optional<Trial> trial = tryOut(kernel, target, "tile");
        if (!trial)
          break;
        (trial->fits ? fits : overflows) = depth;
        (trial->fits ? fitting : last) = std::move(trial);
      }
      if (fits) {
        // Unless asked for less, as many as help.
        if (!asked && fits == 2)
          fits = mostOfAny;
        else
          fitting.reset();
        if (fits > 2)
          fits = chooseDepth(kernel, target, fits, std::move(fitting));
        setDepth(kernel, fits);
        return success();
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
