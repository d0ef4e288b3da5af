//===- UnflattenLoops.cpp - tilebridge-unflatten-loops --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Persistent kernels for GPUs go over the steps of all their tiles in one loop,
// so that loads of a tile's first steps are under way while the tile before is
// stored. A counter tells where a tile begins and ends. Everything that knows
// loops, such as a matmul's accumulator that stays in registers, looks for the
// two loops that this is.
//===----------------------------------------------------------------------===//

#include "frontend/FlatLoop.h"
#include "frontend/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilebridge::frontend {
#define GEN_PASS_DEF_UNFLATTENLOOPSPASS
#include "frontend/Passes.h.inc"
} // namespace tilebridge::frontend

using namespace mlir;
using tilebridge::frontend::FlatLoop;

namespace {

/// Writes a flat loop as two.
class Nest {
public:
  Nest(FlatLoop &flat, ImplicitLocOpBuilder &b) : flat(flat), b(b) {}

  void createTiles();

private:
  /// Of the old loop's values in one place of the new ones.
  IRMapping mapAt(Value step);
  scf::ForOp createLoop(Value end, ValueRange inits);
  void copy(Value value, IRMapping &map);
  void copyBranch(scf::IfOp branch, IRMapping &map);
  SmallVector<Value> createFirst();
  scf::ForOp createSteps(ValueRange inits);
  SmallVector<Value> createLast(scf::ForOp inner);

  FlatLoop &flat;
  ImplicitLocOpBuilder &b;
  scf::ForOp outer;
  Value zero, one;
};

} // namespace

/// A loop from 0 whose body has no terminator yet.
scf::ForOp Nest::createLoop(Value end, ValueRange inits) {
  auto loop = scf::ForOp::create(b, zero, end, one, inits);
  if (inits.empty())
    loop.getBody()->getTerminator()->erase();
  return loop;
}

IRMapping Nest::mapAt(Value step) {
  IRMapping map;
  Value tile = outer.getInductionVar(), all = flat.loop.getInductionVar();
  for (Operation *number : flat.tileNumbers)
    map.map(number->getResult(0), tile);
  map.map(flat.current, step);
  if (!all.use_empty())
    map.map(all, arith::AddIOp::create(
                     b, arith::MulIOp::create(b, tile, flat.steps), step)
                     .getResult());
  return map;
}

/// Computes a value again.
void Nest::copy(Value value, IRMapping &map) {
  if (map.contains(value) || !flat.isInLoop(value))
    return;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    copy(operand, map);
  b.clone(*op, map);
}

/// The code of a branch that is taken, whose results are then known.
void Nest::copyBranch(scf::IfOp branch, IRMapping &map) {
  for (Operation &op : *branch.thenBlock()) {
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!branch->isAncestor(operand.getParentBlock()->getParentOp()))
          copy(operand, map);
    });
    if (&op != branch.thenYield())
      b.clone(op, map);
  }
  for (auto [result, value] :
       llvm::zip_equal(branch.getResults(), branch.thenYield().getOperands()))
    map.map(result, map.lookupOrDefault(value));
}

/// What a tile's first step does alone, and what its loop begins with.
SmallVector<Value> Nest::createFirst() {
  IRMapping map = mapAt(zero);
  for (auto [i, argument] :
       llvm::zip_equal(flat.carried, outer.getRegionIterArgs()))
    map.map(flat.loop.getRegionIterArg(i), argument);
  for (scf::IfOp branch : flat.firstBranches)
    copyBranch(branch, map);
  SmallVector<Value> inits;
  for (unsigned i : flat.carried) {
    Value init = flat.loop.getRegionIterArg(i);
    if (auto result = flat.firstOf.find(i); result != flat.firstOf.end()) {
      bool isOfBranch = map.contains(result->second);
      init = isOfBranch ? result->second : flat.first.at(result->second).there;
      copy(init, map);
    }
    inits.push_back(map.lookupOrDefault(init));
  }
  return inits;
}

/// The loop over the steps of a tile.
scf::ForOp Nest::createSteps(ValueRange inits) {
  scf::ForOp inner = createLoop(flat.steps, inits);
  inner->setDiscardableAttrs(flat.loop->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(inner.getBody());
  IRMapping map = mapAt(inner.getInductionVar());
  for (auto [i, argument] :
       llvm::zip_equal(flat.carried, inner.getRegionIterArgs())) {
    map.map(flat.loop.getRegionIterArg(i), argument);
    if (auto result = flat.firstOf.find(i); result != flat.firstOf.end())
      map.map(result->second, argument);
  }
  for (Operation &op : flat.body->without_terminator())
    if (!flat.moved.contains(&op) && !flat.counting.contains(&op) &&
        !flat.tileNumbers.contains(&op))
      b.clone(op, map);
  SmallVector<Value> ended;
  for (unsigned i : flat.carried)
    ended.push_back(map.lookupOrDefault(flat.endOfStep(i)));
  scf::YieldOp::create(b, ended);
  return inner;
}

/// What a tile's last step does alone, and what the next tile is given.
SmallVector<Value> Nest::createLast(scf::ForOp inner) {
  IRMapping map = mapAt(arith::SubIOp::create(b, flat.steps, one));
  for (auto [i, result] : llvm::zip_equal(flat.carried, inner.getResults()))
    if (Value ended = flat.endOfStep(i); flat.isInLoop(ended))
      map.map(ended, result);
  for (scf::IfOp branch : flat.lastBranches)
    copyBranch(branch, map);
  SmallVector<Value> next;
  for (unsigned i : flat.carried) {
    Value value = flat.yielded[i];
    if (auto choice = flat.last.find(value);
        choice != flat.last.end() && !map.contains(value)) {
      value = choice->second.there;
      copy(value, map);
    }
    next.push_back(map.lookupOrDefault(value));
  }
  return next;
}

void Nest::createTiles() {
  zero = flat.loop.getLowerBound();
  one = flat.loop.getStep();
  // Without steps there is nothing to do before or behind them.
  Value hasSteps =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, flat.steps, zero);
  Value count = arith::SelectOp::create(b, hasSteps, flat.tiles, zero);
  SmallVector<Value> inits;
  for (unsigned i : flat.carried)
    inits.push_back(flat.loop.getInitArgs()[i]);
  outer = createLoop(count, inits);
  for (auto [i, result] : llvm::zip_equal(flat.carried, outer.getResults()))
    flat.loop.getResult(i).replaceAllUsesWith(result);
  b.setInsertionPointToStart(outer.getBody());
  SmallVector<Value> begun = createFirst();
  scf::ForOp inner = createSteps(begun);
  SmallVector<Value> next = createLast(inner);
  scf::YieldOp::create(b, next);
  flat.loop.erase();
}

namespace {
struct UnflattenLoopsPass
    : tilebridge::frontend::impl::UnflattenLoopsPassBase<UnflattenLoopsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      FlatLoop flat(loop);
      if (!flat.find())
        continue;
      ImplicitLocOpBuilder b(loop.getLoc(), loop);
      Nest(flat, b).createTiles();
    }
  }
};
} // namespace
