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
#include "accel-backend/plan/KernelLaunch.h"
#include "accel-backend/plan/LineBound.h"
#include "accel-backend/plan/LoadsInStep.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELEVENLOOPSPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

// Whether PEs of these lines run the loop equally often as it is.
static bool isEven(scf::ForOp loop, const Sharing &lines, Turns &turns) {
  Sharing already = turns.ofValues(loop.getUpperBound());
  return (already.alongRows || !lines.alongRows) &&
         (already.alongColumns || !lines.alongColumns);
}

// The loop to another bound: what loads need is done in each iteration, and the
// rest in those that are the PE's own.
static void rebuild(scf::ForOp loop, const NeededByLoads &needed, Value bound) {
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
    FailureOr<std::optional<KernelLaunch>> launch =
        KernelLaunch::thatMayShare(getOperation());
    if (failed(launch))
      return signalPassFailure();
    if (!*launch || !(*launch)->grids)
      return;
    // What is decided of one loop does not depend on the others.
    Turns turns = (*launch)->turns();
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      makeEven(loop, (*launch)->target, turns);
  }

  static void makeEven(scf::ForOp loop, const Target &target, Turns &turns) {
    SmallVector<CopyOp> loads = loadsOf(loop);
    if (loads.empty() || loop.getUnsignedCmp())
      return;
    Sharing lines = linesOf(loads, loop, target, turns);
    if ((!lines.alongRows && !lines.alongColumns) || isEven(loop, lines, turns))
      return;
    std::optional<NeededByLoads> needed = neededBy(loads, loop);
    std::optional<LineBound> bound =
        LineBound::of(loop, loop.getUpperBound(), lines, target, turns);
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
