//===- AutoTile.cpp - the fastest decisions for a kernel ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/search/AutoTile.h"

#include "accel-backend/Passes.h"
#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Tiles.h"
#include "accel-backend/search/Decide.h"
#include "accel-backend/search/DecisionSpace.h"
#include "accel-backend/search/Passes.h"
#include "accel-backend/search/Trial.h"

#include "mlir/Pass/PassManager.h"

#include <map>
#include <tuple>

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELAUTOTILEPASS
#include "accel-backend/search/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

// Decisions that take so much longer by the model are not simulated.
static constexpr double mostAbove = 1.5;

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
// The search
//===----------------------------------------------------------------------===//

namespace {
class Search {
public:
  Search(func::FuncOp kernel, const Target &target,
         const SearchOptions &options)
      : kernel(kernel), target(target), options(options),
        space(kernel, target) {}

  std::optional<Tuning> run();

private:
  using Key =
      std::tuple<const void *, bool, Merge, int64_t, std::vector<int64_t>>;

  /// The kernel with its grid mapped so: what decisions on blocks and depths
  /// begin with.
  func::FuncOp mapped(const Decision &decision);
  std::optional<double> askModel(const Decision &decision);
  /// The model's cycles; not asked twice.
  std::optional<double> rate(const Decision &decision);
  bool findStart(Candidate &best);
  void descend(Candidate best);
  /// What the compiler decides on its own becomes a candidate.
  void addOwn();
  /// The simulator's cycles.
  std::optional<double> simulate(const Decision &decision);
  void confirm();
  void confirmAll();

  func::FuncOp kernel;
  const Target &target;
  const SearchOptions &options;
  DecisionSpace space;
  std::map<std::tuple<const void *, bool, Merge>, OwningOpRef<ModuleOp>>
      mappedModules;
  std::map<Key, std::optional<double>> rated;
  /// Cycles by what was simulated: different decisions may be one program.
  std::map<std::string, std::optional<double>> simulated;
  std::vector<Candidate> candidates;
  Tuning found;
};
} // namespace

// A copy of the kernel has the same copies in it, by these numbers.
static constexpr llvm::StringLiteral numberAttr = "accel.number";

func::FuncOp Search::mapped(const Decision &decision) {
  auto [it, isNew] =
      mappedModules.try_emplace({decision.assignment.getAsOpaquePointer(),
                                 decision.multicast, decision.merge});
  if (isNew) {
    ScopedDiagnosticHandler silence(kernel.getContext(),
                                    [](Diagnostic &) { return success(); });
    OwningOpRef<ModuleOp> module(kernel->getParentOfType<ModuleOp>().clone());
    // Other kernels of the module are decided on their own.
    for (auto other :
         llvm::make_early_inc_range(module->getOps<func::FuncOp>()))
      if (other.getName() != kernel.getName())
        other.erase();
    PassManager manager(kernel.getContext(), ModuleOp::getOperationName());
    if (succeeded(buildAccelPipeline(manager, "map-grid", "fold")) &&
        succeeded(manager.run(*module)))
      it->second = std::move(module);
  }
  if (!it->second)
    return {};
  return *it->second->getOps<func::FuncOp>().begin();
}

std::optional<double> Search::askModel(const Decision &decision) {
  apply(kernel, decision);
  func::FuncOp start = mapped(decision);
  if (!start)
    return std::nullopt;
  llvm::DenseMap<Attribute, CopyOp> decided;
  kernel.walk([&](CopyOp copy) { decided[copy->getAttr(numberAttr)] = copy; });
  start.walk([&](CopyOp copy) {
    CopyOp from = decided.lookup(copy->getAttr(numberAttr));
    for (StringRef name : {StringRef(depthAttr), StringRef(tileAttr)}) {
      copy->removeAttr(name);
      if (Attribute value = from ? from->getAttr(name) : Attribute())
        copy->setAttr(name, value);
    }
  });
  std::optional<Trial> trial = tryOut(start, target, "tile");
  if (!trial || !trial->fits)
    return std::nullopt;
  return estimate(trial->kernel, target).cycles;
}

std::optional<double> Search::rate(const Decision &decision) {
  Key key(decision.assignment.getAsOpaquePointer(), decision.multicast,
          decision.merge, decision.depth,
          std::vector<int64_t>(decision.tiles.begin(), decision.tiles.end()));
  auto [it, isNew] = rated.try_emplace(key);
  if (!isNew)
    return it->second;
  if (rated.size() > options.trials)
    return std::nullopt;
  ++found.lowered;
  it->second = askModel(decision);
  if (it->second)
    candidates.push_back({decision, *it->second, std::nullopt});
  return it->second;
}

// What fits first: less depth, then smaller blocks, the largest first.
bool Search::findStart(Candidate &best) {
  Decision decision = space.first();
  while (true) {
    for (decision.depth = 2; decision.depth >= 1; --decision.depth)
      if (std::optional<double> cycles = rate(decision)) {
        best = {decision, *cycles, std::nullopt};
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
    for (const Decision &decision : space.neighboursOf(best.decision))
      if (std::optional<double> cycles = rate(decision))
        if (*cycles < best.cycles) {
          best = {decision, *cycles, std::nullopt};
          improves = true;
        }
  }
}

void Search::addOwn() {
  Candidate own;
  own.decision = space.first();
  own.decision.isOwn = true;
  apply(kernel, own.decision);
  func::FuncOp start = mapped(own.decision);
  if (!start)
    return;
  OwningOpRef<ModuleOp> module(start->getParentOfType<ModuleOp>().clone());
  func::FuncOp fitted = *module->getOps<func::FuncOp>().begin();
  // Of the decision that was tried last.
  fitted.walk([](CopyOp copy) {
    copy->removeAttr(depthAttr);
    copy->removeAttr(tileAttr);
  });
  {
    ScopedDiagnosticHandler silence(kernel.getContext(),
                                    [](Diagnostic &) { return success(); });
    PassManager manager(kernel.getContext(), ModuleOp::getOperationName());
    if (failed(buildAccelPipeline(manager, "fit", "fit")) ||
        failed(manager.run(*module)))
      return;
  }
  ++found.lowered;
  std::optional<Trial> trial = tryOut(fitted, target, "tile");
  if (!trial || !trial->fits)
    return;
  own.cycles = estimate(trial->kernel, target).cycles;
  // A copy has the same copies in it.
  llvm::DenseMap<Attribute, CopyOp> decided;
  fitted.walk([&](CopyOp copy) { decided[copy->getAttr(numberAttr)] = copy; });
  own.decision.depth = 1;
  for (auto [attribute, copy] : decided)
    if (auto depth = copy->getAttrOfType<IntegerAttr>(depthAttr))
      own.decision.depth = std::max(own.decision.depth, depth.getInt());
  Tiles tiles(kernel);
  for (auto [tile, size] : llvm::zip_equal(tiles.all(), own.decision.tiles))
    if (CopyOp copy = decided.lookup(tile.op->getAttr(numberAttr)))
      if (auto sizes = copy->getAttrOfType<DenseI64ArrayAttr>(tileAttr))
        size = sizes[tile.dimension];
  candidates.push_back(std::move(own));
}

std::optional<double> Search::simulate(const Decision &decision) {
  // What fails is a decision that is not taken.
  ScopedDiagnosticHandler silence(kernel.getContext(),
                                  [](Diagnostic &) { return success(); });
  apply(kernel, decision);
  OwningOpRef<ModuleOp> lowered(kernel->getParentOfType<ModuleOp>().clone());
  if (options.lower) {
    if (failed(options.lower(*lowered)))
      return std::nullopt;
  } else {
    PassManager manager(kernel.getContext(), ModuleOp::getOperationName());
    if (failed(buildAccelPipeline(manager, "map-grid")) ||
        failed(manager.run(*lowered)))
      return std::nullopt;
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  lowered->print(out);
  auto [it, isNew] = simulated.try_emplace(std::move(text));
  if (isNew) {
    ++found.simulated;
    it->second = options.confirm(*lowered);
  }
  return it->second;
}

void Search::confirm() {
  // Of equals, what was tried first.
  SmallVector<size_t> order =
      llvm::to_vector(llvm::seq<size_t>(candidates.size()));
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(candidates[a].cycles, a) <
           std::pair(candidates[b].cycles, b);
  });
  found.best = candidates[order.front()];
  if (!options.confirm)
    return;
  SmallVector<size_t> asked;
  for (size_t index : ArrayRef(order).take_front(options.confirmed))
    // The model is not as far from the simulator as that.
    if (candidates[index].cycles <=
        mostAbove * candidates[order.front()].cycles)
      asked.push_back(index);
  // Merged programs are never taken where they are slower than without, and
  // nothing is that is slower than without a search.
  auto askFirst = [&](auto &&isKind) {
    const size_t *first = llvm::find_if(order, [&](size_t index) {
      return isKind(candidates[index].decision);
    });
    if (first != order.end() && !llvm::is_contained(asked, *first))
      asked.push_back(*first);
  };
  askFirst([](const Decision &one) { return one.merge == unmerged; });
  askFirst([](const Decision &one) { return one.isOwn; });
  double best = std::numeric_limits<double>::infinity();
  for (size_t index : asked) {
    Candidate &candidate = candidates[index];
    candidate.simulatedCycles = simulate(candidate.decision);
    if (candidate.simulatedCycles && *candidate.simulatedCycles < best) {
      best = *candidate.simulatedCycles;
      found.best = candidate;
    }
  }
}

void Search::confirmAll() {
  double best = std::numeric_limits<double>::infinity();
  for (const Decision &decision : space.all()) {
    ++found.lowered;
    std::optional<double> cycles = simulate(decision);
    if (!cycles || *cycles >= best)
      continue;
    best = *cycles;
    found.best = {decision, 0, cycles};
  }
  if (found.best.simulatedCycles)
    found.best.cycles =
        cyclesOf(kernel, target, found.best.decision).value_or(0);
}

std::optional<Tuning> Search::run() {
  found.decisions = space.size();
  if (options.isExhaustive && options.confirm) {
    confirmAll();
    return found.best.simulatedCycles ? std::optional(found) : std::nullopt;
  }
  Builder builder(kernel.getContext());
  int64_t number = 0;
  kernel.walk([&](CopyOp copy) {
    copy->setAttr(numberAttr, builder.getI64IntegerAttr(number++));
  });
  Candidate start;
  if (findStart(start))
    descend(start);
  addOwn();
  kernel.walk([](CopyOp copy) { copy->removeAttr(numberAttr); });
  if (candidates.empty())
    return std::nullopt;
  confirm();
  return found;
}

std::optional<Tuning>
tilebridge::accel::autotile(func::FuncOp kernel, const Target &target,
                            const SearchOptions &options) {
  std::optional<Tuning> found = Search(kernel, target, options).run();
  // Without one, what the compiler decides says what is wrong.
  if (found)
    apply(kernel, found->best.decision);
  else
    clearDecisions(kernel);
  return found;
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
