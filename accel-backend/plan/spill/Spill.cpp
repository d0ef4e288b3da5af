//===- Spill.cpp - buffers that local memory has no room for --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Which buffers go is found by trial: of those that are needed at the fullest
// time, the one whose uses move the fewest bytes for the room that it makes.
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccessText.h"
#include "accel-backend/plan/Buffers.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Tiles.h"
#include "accel-backend/plan/allocation/Solver.h"
#include "accel-backend/plan/spill/Pieces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELSPILLPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

// While buffers are tried: their numbers, which a copy of the kernel keeps.
static constexpr llvm::StringLiteral numberAttr = "accel.number";

// The memories that a PE's buffers can be moved to and back from, the nearest
// first.
static SmallVector<const Memory *> fartherMemories(const Target &target) {
  const Memory &local = target.localMemory();
  SmallVector<const Memory *> result;
  for (const Memory &memory : llvm::reverse(target.memories))
    if (memory.name != local.name &&
        target.findEngine(local.name, memory.name) &&
        target.findEngine(memory.name, local.name))
      result.push_back(&memory);
  return result;
}

// All views of a buffer, itself first; none where it goes through something
// that says nothing of its memory.
static std::optional<SmallVector<Value>> viewsOf(Value buffer) {
  SmallVector<Value> views{buffer};
  for (size_t i = 0; i < views.size(); ++i)
    for (Operation *user : views[i].getUsers()) {
      if (isa<ViewLikeOpInterface>(user)) {
        if (user->getNumResults() != 1 ||
            !isa<MemRefType>(user->getResult(0).getType()))
          return std::nullopt;
        views.push_back(user->getResult(0));
        continue;
      }
      if (!isa<linalg::LinalgOp, CopyOp, ComputeOp, AtomicOp, ReduceLineOp,
               memref::LoadOp, memref::StoreOp, DeallocOp>(user))
        return std::nullopt;
    }
  return views;
}

// What using it from farther away moves.
static double trafficOf(ArrayRef<Value> views, func::FuncOp kernel) {
  double bytes = 0;
  for (Value view : views)
    for (Operation *user : view.getUsers())
      if (!isa<ViewLikeOpInterface>(user))
        bytes += bytesOf(view.getType()) * timesRun(user, kernel);
  return bytes;
}

static llvm::DenseMap<int64_t, AllocOp> allocsByNumber(func::FuncOp kernel) {
  llvm::DenseMap<int64_t, AllocOp> allocs;
  kernel.walk([&](AllocOp alloc) {
    if (auto own = alloc->getAttrOfType<IntegerAttr>(numberAttr))
      allocs[own.getInt()] = alloc;
  });
  return allocs;
}

namespace {
/// A kernel with some of its buffers farther away.
class Plan {
public:
  Plan(func::FuncOp kernel, const Target &target, const Memory &memory,
       uint64_t budget)
      : kernel(kernel), target(target), memory(memory), budget(budget) {}

  /// Adds buffers until the others fit. False where that does not come to an
  /// end.
  bool find();
  /// Moves them.
  void apply(func::FuncOp to) const;

  SmallVector<int64_t> chosen;

private:
  std::optional<unsigned> next(func::FuncOp trial, ArrayRef<Lifetime> lifetimes,
                               const allocation::Problem &problem) const;

  func::FuncOp kernel;
  const Target &target;
  const Memory &memory;
  uint64_t budget;
};
} // namespace

static MemRefType inMemory(MemRefType type, Attribute memory) {
  return MemRefType::get(type.getShape(), type.getElementType(),
                         type.getLayout(), memory);
}

void Plan::apply(func::FuncOp to) const {
  MLIRContext *context = to.getContext();
  auto far = MemoryAttr::get(context, StringAttr::get(context, memory.name));
  auto local = MemoryAttr::get(context, StringAttr::get(context, localMemory));
  SmallVector<Operation *> users;
  llvm::SmallPtrSet<Operation *, 16> seen;
  llvm::DenseMap<int64_t, AllocOp> allocs = allocsByNumber(to);
  for (int64_t number : chosen) {
    AllocOp alloc = allocs.lookup(number);
    std::optional<SmallVector<Value>> views = viewsOf(alloc.getMemref());
    for (Value view : *views) {
      view.setType(inMemory(cast<MemRefType>(view.getType()), far));
      for (Operation *user : view.getUsers())
        if (!isa<ViewLikeOpInterface, DeallocOp>(user) &&
            seen.insert(user).second)
          users.push_back(user);
    }
  }
  Pieces pieces(far, local, budget);
  for (Operation *user : users)
    pieces.rewrite(user);
}

static SmallVector<Lifetime> lifetimesIn(func::FuncOp kernel, StringRef name) {
  SmallVector<Lifetime> result;
  for (const Lifetime &life : lifetimesOf(kernel)) {
    AllocOp alloc = life.op;
    auto type = cast<MemRefType>(alloc.getMemref().getType());
    if (cast<MemoryAttr>(type.getMemorySpace()).getName() == name)
      result.push_back(life);
  }
  return result;
}

// The index of the buffer that goes next.
std::optional<unsigned> Plan::next(func::FuncOp trial,
                                   ArrayRef<Lifetime> lifetimes,
                                   const allocation::Problem &problem) const {
  std::optional<unsigned> best;
  double least = 0;
  for (unsigned index : problem.fullest()) {
    AllocOp alloc = lifetimes[index].op;
    auto number = alloc->getAttrOfType<IntegerAttr>(numberAttr);
    // Pieces have to stay where they are, and so do buffers as small as they.
    if (!number || problem.buffers[index].bytes <= budget / 2)
      continue;
    std::optional<SmallVector<Value>> views = viewsOf(alloc.getMemref());
    if (!views)
      continue;
    double cost =
        trafficOf(*views, trial) / double(problem.buffers[index].bytes);
    if (best && cost >= least)
      continue;
    best = index;
    least = cost;
  }
  return best;
}

bool Plan::find() {
  while (true) {
    OwningOpRef<func::FuncOp> owner(kernel.clone());
    func::FuncOp trial = owner.get();
    apply(trial);
    sinkAllocations(trial);
    SmallVector<Lifetime> lifetimes = lifetimesIn(trial, localMemory);
    allocation::Problem problem =
        problemOf(lifetimes, target.localMemory(), target);
    if (allocation::solve(problem))
      return allocation::solve(
                 problemOf(lifetimesIn(trial, memory.name), memory, target))
          .has_value();
    // The pieces of those that go only add to what is needed: without them,
    // too, the others have to fit. A kernel of thousands of blocks is tried a
    // few times, and not once for each block that goes.
    do {
      std::optional<unsigned> victim = next(trial, lifetimes, problem);
      if (!victim)
        return false;
      AllocOp alloc = lifetimes[*victim].op;
      chosen.push_back(alloc->getAttrOfType<IntegerAttr>(numberAttr).getInt());
      problem.buffers[*victim].bytes = 0;
    } while (problem.lowerBound() > problem.capacity);
  }
}

namespace {
struct AccelSpillPass : accel::impl::AccelSpillPassBase<AccelSpillPass> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(kernelAttr) || !kernel->hasAttr(spillAttr))
      return;
    FailureOr<std::optional<Target>> target = targetOf(kernel);
    if (failed(target))
      return signalPassFailure();
    if (*target)
      spill(kernel, **target);
  }

  static void spill(func::FuncOp kernel, const Target &target) {
    SmallVector<Lifetime> before = lifetimesIn(kernel, localMemory);
    allocation::Problem problem =
        problemOf(before, target.localMemory(), target);
    if (allocation::solve(problem))
      return;
    Builder builder(kernel.getContext());
    int64_t count = 0;
    kernel.walk([&](AllocOp alloc) {
      alloc->setAttr(numberAttr, builder.getI64IntegerAttr(count++));
    });
    move(kernel, target, problem);
    kernel.walk([](AllocOp alloc) { alloc->removeAttr(numberAttr); });
  }

  static void move(func::FuncOp kernel, const Target &target,
                   const allocation::Problem &problem) {
    // Large pieces take fewer transfers.
    for (const Memory *memory : fartherMemories(target))
      for (uint64_t share : {4, 8, 16, 32, 64}) {
        Plan plan(kernel, target, *memory, problem.capacity / share);
        if (!plan.find())
          continue;
        llvm::DenseMap<int64_t, AllocOp> allocs = allocsByNumber(kernel);
        for (int64_t number : plan.chosen) {
          AllocOp alloc = allocs.lookup(number);
          std::string reason =
              ("the buffers that are needed at once take " +
               Twine(problem.lowerBound()) + " bytes, and '" +
               target.localMemory().name + "' has " + Twine(problem.capacity))
                  .str();
          alloc->setAttr(spilledAttr,
                         StringAttr::get(kernel.getContext(), reason));
          auto type = cast<MemRefType>(alloc.getMemref().getType());
          StringRef name = nameIn(alloc.getLoc());
          alloc.emitRemark(name.empty() ? "a block" : "")
              << (name.empty() ? "" : "'" + name.str() + "'") << " of "
              << uint64_t(bytesOf(type)) << " bytes is in '" << memory->name
              << "' and copied in pieces where it is needed: " << reason;
        }
        return plan.apply(kernel);
      }
  }
};
} // namespace
