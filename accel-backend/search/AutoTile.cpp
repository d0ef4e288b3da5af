//===- AutoTile.cpp - the fastest decisions for a kernel ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/search/AutoTile.h"

#include "accel-backend/Passes.h"
#include "accel-backend/dialect/Assignment.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Tiles.h"
#include "accel-backend/search/Decide.h"
#include "accel-backend/search/Passes.h"
#include "accel-backend/search/Trial.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <tuple>

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELAUTOTILEPASS
#include "accel-backend/search/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

static constexpr int64_t mostDepth = 3;
// Blocks are halved so often at most: below, units are badly used.
static constexpr unsigned mostHalves = 4;

void tilebridge::accel::apply(func::FuncOp kernel, const Decision &decision) {
  kernel->removeAttr(assignmentAttr);
  if (decision.assignment)
    kernel->setAttr(assignmentAttr, decision.assignment);
  kernel->removeAttr(unicastAttr);
  if (!decision.multicast)
    kernel->setAttr(unicastAttr, UnitAttr::get(kernel.getContext()));
  setDepth(kernel, decision.depth);
  Tiles tiles(kernel);
  for (auto [index, size] : llvm::enumerate(decision.tiles))
    tiles.set(index, size);
}

std::optional<double> tilebridge::accel::cyclesOf(func::FuncOp kernel,
                                                  const Target &target,
                                                  const Decision &decision) {
  apply(kernel, decision);
  std::optional<Trial> trial = tryOut(kernel, target, "map-grid");
  if (!trial || !trial->fits)
    return std::nullopt;
  return estimate(trial->kernel, target).cycles;
}

//===----------------------------------------------------------------------===//
// The space
//===----------------------------------------------------------------------===//

// By reuse, and everything by a formula that is something else.
static SmallVector<AssignmentAttr> assignmentsOf(func::FuncOp kernel,
                                                 const Target &target) {
  SmallVector<AssignmentAttr> result{nullptr};
  std::optional<Grids> grids = gridsOf(kernel, target);
  if (!grids || grids->programs() <= 1 || grids->pes() == 1)
    return result;
  auto add = [&](AssignmentKind kind, ArrayRef<int64_t> values) {
    result.push_back(AssignmentAttr::get(kernel.getContext(), kind, values,
                                         DenseIntElementsAttr()));
  };
  add(AssignmentKind::Interleaved, {});
  if (grids->programs() > grids->pes())
    add(AssignmentKind::Blocked,
        {int64_t(llvm::divideCeil(grids->programs(), grids->pes()))});
  return result;
}

static SmallVector<int64_t> sizesOf(const Tile &tile) {
  SmallVector<int64_t> sizes{tile.blockSize};
  for (unsigned halves = 0; halves < mostHalves; ++halves)
    if (sizes.back() % 2 == 0 && sizes.back() > 16)
      sizes.push_back(sizes.back() / 2);
  return sizes;
}

static Decision firstDecision(func::FuncOp kernel) {
  Decision decision;
  Tiles tiles(kernel);
  for (const Tile &tile : tiles.all())
    decision.tiles.push_back(tile.blockSize);
  return decision;
}

std::vector<Decision> tilebridge::accel::allDecisions(func::FuncOp kernel,
                                                      const Target &target) {
  std::vector<Decision> all;
  Tiles tiles(kernel);
  for (AssignmentAttr assignment : assignmentsOf(kernel, target))
    for (bool multicast : {true, false})
      for (int64_t depth = 1; depth <= mostDepth; ++depth) {
        Decision decision = firstDecision(kernel);
        decision.assignment = assignment;
        decision.multicast = multicast;
        decision.depth = depth;
        all.push_back(decision);
      }
  for (auto [index, tile] : llvm::enumerate(tiles.all())) {
    std::vector<Decision> more;
    for (const Decision &decision : all)
      for (int64_t size : sizesOf(tile)) {
        more.push_back(decision);
        more.back().tiles[index] = size;
      }
    all = std::move(more);
  }
  return all;
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

namespace {
class Search {
public:
  Search(func::FuncOp kernel, const Target &target,
         const SearchOptions &options)
      : kernel(kernel), target(target), options(options) {}

  std::optional<Candidate> run();

private:
  using Key = std::tuple<const void *, bool, int64_t, std::vector<int64_t>>;

  /// The model's cycles; not asked twice.
  std::optional<double> rate(const Decision &decision);
  SmallVector<Decision> neighboursOf(const Decision &decision);
  bool findStart(Candidate &best);
  void descend(Candidate best);
  std::optional<Candidate> confirm();

  func::FuncOp kernel;
  const Target &target;
  const SearchOptions &options;
  SmallVector<Tile> tiles;
  std::map<Key, std::optional<double>> rated;
  std::vector<Candidate> candidates;
};
} // namespace

std::optional<double> Search::rate(const Decision &decision) {
  Key key(decision.assignment.getAsOpaquePointer(), decision.multicast,
          decision.depth,
          std::vector<int64_t>(decision.tiles.begin(), decision.tiles.end()));
  auto [it, isNew] = rated.try_emplace(key);
  if (!isNew)
    return it->second;
  if (rated.size() > options.trials)
    return std::nullopt;
  it->second = cyclesOf(kernel, target, decision);
  if (it->second)
    candidates.push_back({decision, *it->second});
  return it->second;
}

SmallVector<Decision> Search::neighboursOf(const Decision &decision) {
  SmallVector<Decision> result;
  for (auto [index, tile] : llvm::enumerate(tiles))
    for (int64_t size : sizesOf(tile)) {
      result.push_back(decision);
      result.back().tiles[index] = size;
    }
  for (int64_t depth = 1; depth <= mostDepth; ++depth) {
    result.push_back(decision);
    result.back().depth = depth;
  }
  for (AssignmentAttr assignment : assignmentsOf(kernel, target)) {
    result.push_back(decision);
    result.back().assignment = assignment;
  }
  result.push_back(decision);
  result.back().multicast = !decision.multicast;
  return result;
}

// What fits first: less depth, then smaller blocks, the largest first.
bool Search::findStart(Candidate &best) {
  Decision decision = firstDecision(kernel);
  while (true) {
    for (decision.depth = 2; decision.depth >= 1; --decision.depth)
      if (std::optional<double> cycles = rate(decision)) {
        best = {decision, *cycles};
        return true;
      }
    int64_t *largest = llvm::max_element(decision.tiles);
    if (largest == decision.tiles.end() || *largest % 2 || *largest <= 1)
      return false;
    *largest /= 2;
  }
}

void Search::descend(Candidate best) {
  for (bool improves = true; improves;) {
    improves = false;
    for (const Decision &decision : neighboursOf(best.decision))
      if (std::optional<double> cycles = rate(decision))
        if (*cycles < best.cycles) {
          best = {decision, *cycles};
          improves = true;
        }
  }
}

std::optional<Candidate> Search::confirm() {
  llvm::sort(candidates, [](const Candidate &a, const Candidate &b) {
    return a.cycles < b.cycles;
  });
  if (!options.confirm)
    return candidates.front();
  std::optional<Candidate> best;
  for (const Candidate &candidate :
       ArrayRef(candidates).take_front(options.confirmed)) {
    apply(kernel, candidate.decision);
    OwningOpRef<ModuleOp> lowered(kernel->getParentOfType<ModuleOp>().clone());
    PassManager manager(kernel.getContext(), ModuleOp::getOperationName());
    if (failed(buildAccelPipeline(manager, "map-grid")) ||
        failed(manager.run(*lowered)))
      continue;
    std::optional<double> cycles = options.confirm(*lowered);
    if (cycles && (!best || *cycles < best->cycles))
      best = {candidate.decision, *cycles};
  }
  return best ? best : candidates.front();
}

std::optional<Candidate> Search::run() {
  Tiles found(kernel);
  tiles = llvm::to_vector(found.all());
  Candidate start;
  if (!findStart(start))
    return std::nullopt;
  descend(start);
  return confirm();
}

std::optional<Candidate>
tilebridge::accel::autotile(func::FuncOp kernel, const Target &target,
                            const SearchOptions &options) {
  std::optional<Candidate> best = Search(kernel, target, options).run();
  // Without one, what the compiler decides says what is wrong.
  if (best)
    apply(kernel, best->decision);
  else
    clearDecisions(kernel);
  return best;
}

namespace {
struct AccelAutoTilePass
    : accel::impl::AccelAutoTilePassBase<AccelAutoTilePass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!kernel->hasAttr(kernelAttr))
        continue;
      FailureOr<std::optional<Target>> target = targetOf(kernel);
      if (failed(target))
        return signalPassFailure();
      if (*target)
        autotile(kernel, **target, {});
    }
  }
};
} // namespace
