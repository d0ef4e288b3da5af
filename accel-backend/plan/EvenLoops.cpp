//===- EvenLoops.cpp - PEs of a line run a loop equally often -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The guard is a loop that runs once or not at all: bufferization keeps what it
// carries in place, as in any loop. It becomes a branch (BranchOnce.cpp) once
// blocks are buffers.
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Effects.h"
#include "accel-backend/plan/LineBound.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELEVENLOOPSPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

static bool isLoad(CopyOp copy) {
  return isInChipMemory(copy.getSource().getType()) &&
         !isInChipMemory(copy.getDest().getType());
}

// The loads of a loop; none where one of them is not in each iteration.
static SmallVector<CopyOp> loadsOf(scf::ForOp loop) {
  SmallVector<CopyOp> loads;
  bool areDirect = true;
  loop->walk([&](CopyOp copy) {
    if (!isLoad(copy))
      return;
    areDirect &= copy->getBlock() == loop.getBody();
    loads.push_back(copy);
  });
  return areDirect ? loads : SmallVector<CopyOp>();
}

namespace {
/// What a loop's loads need of its body.
struct Needed {
  llvm::SetVector<Operation *> ops;
  /// Numbers of values that the loop carries: addresses that it advances.
  llvm::SetVector<unsigned> carried;
};
} // namespace

// None where that is something that has to stay where it is.
static std::optional<Needed> neededBy(ArrayRef<CopyOp> loads, scf::ForOp loop) {
  Needed needed;
  SmallVector<Value> worklist;
  auto add = [&](Operation *op) {
    if (!needed.ops.insert(op))
      return;
    llvm::append_range(worklist, op->getOperands());
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    llvm::append_range(worklist, captured);
  };
  for (CopyOp load : loads)
    add(load);
  Block *body = loop.getBody();
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!loop->isAncestor(value.getParentBlock()->getParentOp()))
      continue;
    if (Operation *made = value.getDefiningOp()) {
      if (!isa<CopyOp>(made) && !isMemoryEffectFree(made))
        return std::nullopt;
      add(made);
      continue;
    }
    if (value == loop.getInductionVar())
      continue;
    // A block that is loaded into over and over belongs to the computation.
    if (!value.getType().isIntOrIndex())
      return std::nullopt;
    unsigned number = cast<BlockArgument>(value).getArgNumber() - 1;
    if (needed.carried.insert(number))
      worklist.push_back(body->getTerminator()->getOperand(number));
  }
  // They come before everything else.
  for (CopyOp load : loads)
    for (Operation &op : *body) {
      if (&op == load)
        break;
      if (!needed.ops.contains(&op) && containsWriteTo(&op, load))
        return std::nullopt;
    }
  return needed;
}

// The lines that all of these loads may be multicast along, by their sources
// and the target.
static Sharing linesOf(ArrayRef<CopyOp> loads, scf::ForOp loop,
                       const Target &target, Turns &turns) {
  SmallVector<Value> values{loop.getLowerBound(), loop.getStep()};
  for (CopyOp load : loads)
    llvm::append_range(values, sourceOf(load));
  Sharing lines = turns.ofAccess(loop, values);
  for (CopyOp load : loads) {
    const DmaEngine *engine = target.findEngine(
        memoryOf(load.getSource(), target).name, target.localMemory().name);
    lines.alongRows &= engine && hasRows(engine->multicast);
    lines.alongColumns &= engine && hasColumns(engine->multicast);
  }
  return lines;
}

// Whether PEs of these lines run the loop equally often as it is.
static bool isEven(scf::ForOp loop, const Sharing &lines, Turns &turns) {
  Sharing already = turns.ofValues(loop.getUpperBound());
  return (already.alongRows || !lines.alongRows) &&
         (already.alongColumns || !lines.alongColumns);
}

// The loop to another bound: what loads need is done in each iteration, and the
// rest in those that are the PE's own.
static void rebuild(scf::ForOp loop, const Needed &needed, Value bound) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  // Of what only loads need, the PE's own last value is not asked for.
  SmallVector<unsigned> own;
  SmallVector<Value> inits;
  for (auto [number, init] : llvm::enumerate(loop.getInitArgs()))
    if (!needed.carried.contains(number) ||
        !loop.getResult(number).use_empty()) {
      own.push_back(number);
      inits.push_back(init);
    }
  for (unsigned number : needed.carried)
    inits.push_back(loop.getInitArgs()[number]);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto even = scf::ForOp::create(builder, loc, loop.getLowerBound(), bound,
                                 loop.getStep(), inits);
  even->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *body = even.getBody();
  if (inits.empty())
    body->getTerminator()->erase();

  builder.setInsertionPointToEnd(body);
  Value isOwn =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                            even.getInductionVar(), loop.getUpperBound());
  Value times = arith::SelectOp::create(builder, loc, isOwn, one, zero);
  ValueRange carried = even.getRegionIterArgs();
  auto guard = scf::ForOp::create(builder, loc, zero, times, one,
                                  carried.take_front(own.size()));
  if (own.empty())
    guard.getBody()->getTerminator()->erase();

  Block *old = loop.getBody();
  loop.getInductionVar().replaceAllUsesWith(even.getInductionVar());
  for (auto [position, number] : llvm::enumerate(own))
    if (!needed.carried.contains(number))
      loop.getRegionIterArg(number).replaceAllUsesWith(
          guard.getRegionIterArg(position));
  for (auto [position, number] : llvm::enumerate(needed.carried))
    loop.getRegionIterArg(number).replaceAllUsesWith(
        carried[own.size() + position]);
  SmallVector<Value> next =
      llvm::to_vector(old->getTerminator()->getOperands());
  for (Operation &op : llvm::make_early_inc_range(old->without_terminator())) {
    if (needed.ops.contains(&op))
      op.moveBefore(isOwn.getDefiningOp());
    else
      op.moveBefore(guard.getBody(), guard.getBody()->end());
  }
  SmallVector<Value> ownNext, evenNext;
  for (unsigned number : own)
    ownNext.push_back(next[number]);
  builder.setInsertionPointToEnd(guard.getBody());
  scf::YieldOp::create(builder, loc, ownNext);
  llvm::append_range(evenNext, guard.getResults());
  for (unsigned number : needed.carried)
    evenNext.push_back(next[number]);
  builder.setInsertionPointToEnd(body);
  scf::YieldOp::create(builder, loc, evenNext);
  for (auto [position, number] : llvm::enumerate(own))
    loop.getResult(number).replaceAllUsesWith(even.getResult(position));
  loop->erase();
}

namespace {
struct AccelEvenLoopsPass
    : accel::impl::AccelEvenLoopsPassBase<AccelEvenLoopsPass> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(kernelAttr) || kernel->hasAttr(unicastAttr))
      return;
    FailureOr<std::optional<Target>> target = targetOf(kernel);
    if (failed(target))
      return signalPassFailure();
    std::optional<Grids> grids = gridsOf(kernel, *target);
    if (!*target || !grids || grids->pes() == 1 || waitsForOthers(kernel))
      return;
    // What is decided of one loop does not depend on the others.
    Turns turns(kernel, **target, grids);
    SmallVector<scf::ForOp> loops;
    kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      makeEven(loop, **target, turns);
  }

  static void makeEven(scf::ForOp loop, const Target &target, Turns &turns) {
    SmallVector<CopyOp> loads = loadsOf(loop);
    if (loads.empty() || loop.getUnsignedCmp())
      return;
    Sharing lines = linesOf(loads, loop, target, turns);
    if ((!lines.alongRows && !lines.alongColumns) || isEven(loop, lines, turns))
      return;
    std::optional<Needed> needed = neededBy(loads, loop);
    std::optional<LineBound> bound = LineBound::of(loop, lines, target, turns);
    if (!needed || !bound)
      return;
    if (!bound->isFree()) {
      loop.emitRemark("PEs of a line load the same data, but some of them less "
                      "often, and would wait for the others");
      return;
    }
    OpBuilder builder(loop);
    if (Value value = bound->build(builder))
      rebuild(loop, *needed, value);
  }
};
} // namespace
