//===- ScalarizeOffsets.cpp - carried tensors to carried scalars ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/Passes.h"
#include "triton-to-linalg/analysis/UniformMove.h"
#include "triton-to-linalg/lower/ExprBuilder.h"

#include "frontend/TTDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tilebridge::ttl {
#define GEN_PASS_DEF_SCALARIZEOFFSETSPASS
#include "triton-to-linalg/Passes.h.inc"
} // namespace tilebridge::ttl

using namespace mlir;
using namespace tilebridge::ttl;

namespace {

/// A value that enters or leaves a region: what it is the sum of, and later the
/// numbers as operations.
struct Slot {
  bool isMoved = false;
  Value root; // of the value it gets in this loop or branch
};

/// Rewrites one operation with regions. Expressions are written before anything
/// moves: they hold SSA values.
class Scalarizer {
public:
  explicit Scalarizer(IRRewriter &rewriter)
      : rewriter(rewriter), analysis(pool) {}

  bool rewriteFor(scf::ForOp loop);
  bool rewriteWhile(scf::WhileOp loop);
  bool rewriteIf(scf::IfOp branch);

private:
  SmallVector<UniformMove> movesOf(ValueRange values) {
    SmallVector<UniformMove> moves(values.size());
    for (auto [move, value] : llvm::zip_equal(moves, values))
      if (canMove(value.getType()))
        move = uniformMoveOf(pool, analysis, value);
    return moves;
  }
  /// The numbers of the moved slots, written before `place`.
  SmallVector<Value> writeDeltas(ArrayRef<UniformMove> moves,
                                 ArrayRef<Slot> slots, Operation *place);
  /// Adds the number that the block argument under a move already carries, or
  /// leaves other operands as they are.
  SmallVector<Value> combine(ValueRange operands, ValueRange deltas,
                             ArrayRef<UniformMove> moves, ArrayRef<Slot> slots,
                             Block *carrier, ValueRange carried,
                             Operation *place);
  SmallVector<Type> typesOf(TypeRange types, ArrayRef<Slot> slots);
  /// The values of the old slots, made at the builder's place from what is
  /// carried now.
  SmallVector<Value> restore(Location loc, TypeRange types,
                             ArrayRef<Slot> slots, ValueRange carried);

  IRRewriter &rewriter;
  ExprPool pool;
  AccessAnalysis analysis;
};

} // namespace

static bool isInside(Operation *op, Value value) {
  return value && op->isAncestor(value.getParentRegion()->getParentOp());
}

static bool anyMoved(ArrayRef<Slot> slots) {
  return llvm::any_of(slots, [](const Slot &slot) { return slot.isMoved; });
}

/// The root that `move` has seen from outside: that of the slot it comes in by,
/// its own, or none (false).
static bool outerRoot(const UniformMove &move, Block *carrier,
                      ArrayRef<Slot> carriers, Operation *op, Value &root) {
  root = move.root;
  auto argument = dyn_cast_or_null<BlockArgument>(root);
  if (!argument || argument.getOwner() != carrier)
    return !isInside(op, root);
  unsigned offset = carrier->getNumArguments() - carriers.size();
  if (argument.getArgNumber() < offset ||
      !carriers[argument.getArgNumber() - offset].isMoved)
    return false;
  root = carriers[argument.getArgNumber() - offset].root;
  return true;
}

SmallVector<Value> Scalarizer::writeDeltas(ArrayRef<UniformMove> moves,
                                           ArrayRef<Slot> slots,
                                           Operation *place) {
  rewriter.setInsertionPoint(place);
  ExprBuilder exprs(rewriter, place->getLoc(), /*asIntegers=*/true);
  SmallVector<Value> deltas(moves.size());
  for (auto [delta, move, slot] : llvm::zip_equal(deltas, moves, slots))
    if (slot.isMoved)
      delta = exprs.integer(move.delta);
  return deltas;
}

SmallVector<Value> Scalarizer::combine(ValueRange operands, ValueRange deltas,
                                       ArrayRef<UniformMove> moves,
                                       ArrayRef<Slot> slots, Block *carrier,
                                       ValueRange carried, Operation *place) {
  rewriter.setInsertionPoint(place);
  SmallVector<Value> combined(operands);
  for (auto [i, slot] : llvm::enumerate(slots)) {
    if (!slot.isMoved)
      continue;
    combined[i] = deltas[i];
    auto argument = dyn_cast_or_null<BlockArgument>(moves[i].root);
    if (!argument || argument.getOwner() != carrier)
      continue;
    Value before = carried[argument.getArgNumber() -
                           (carrier->getNumArguments() - carried.size())];
    combined[i] = rewriter.createOrFold<arith::AddIOp>(place->getLoc(), before,
                                                       deltas[i]);
  }
  return combined;
}

SmallVector<Type> Scalarizer::typesOf(TypeRange types, ArrayRef<Slot> slots) {
  SmallVector<Type> result(types);
  for (auto [type, slot] : llvm::zip_equal(result, slots))
    if (slot.isMoved)
      type = deltaTypeOf(type);
  return result;
}

SmallVector<Value> Scalarizer::restore(Location loc, TypeRange types,
                                       ArrayRef<Slot> slots,
                                       ValueRange carried) {
  SmallVector<Value> values(carried);
  for (auto [value, type, slot] : llvm::zip_equal(values, types, slots))
    if (slot.isMoved)
      value = movedValue(rewriter, loc, type, slot.root, value);
  return values;
}

bool Scalarizer::rewriteFor(scf::ForOp loop) {
  Location loc = loop.getLoc();
  Block *body = loop.getBody();
  Operation *yield = body->getTerminator();
  SmallVector<UniformMove> inits = movesOf(loop.getInitArgs()),
                           yields = movesOf(yield->getOperands());
  SmallVector<Slot> slots(inits.size());
  for (auto [slot, init, value] :
       llvm::zip_equal(slots, inits, loop.getInitArgs()))
    slot = {canMove(value.getType()), init.root};
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [slot, move] : llvm::zip_equal(slots, yields)) {
      Value root;
      if (slot.isMoved &&
          (!outerRoot(move, body, slots, loop, root) || root != slot.root)) {
        slot.isMoved = false;
        changed = true;
      }
    }
  }
  if (!anyMoved(slots))
    return false;

  SmallVector<Value> initDeltas = writeDeltas(inits, slots, loop),
                     nextDeltas = writeDeltas(yields, slots, yield);
  SmallVector<Value> newInits =
      combine(loop.getInitArgs(), initDeltas, inits, slots, nullptr, {}, loop);
  auto made =
      scf::ForOp::create(rewriter, loc, loop.getLowerBound(),
                         loop.getUpperBound(), loop.getStep(), newInits,
                         /*bodyBuilder=*/nullptr, loop.getUnsignedCmp());
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  // The numbers of the next iteration, while the old arguments can still be
  // told apart.
  SmallVector<Value> next =
      combine(yield->getOperands(), nextDeltas, yields, slots, body,
              made.getRegionIterArgs(), yield);
  rewriter.modifyOpInPlace(yield, [&] { yield->setOperands(next); });
  rewriter.setInsertionPointToStart(made.getBody());
  SmallVector<Value> arguments =
      restore(loc, loop.getResultTypes(), slots, made.getRegionIterArgs());
  arguments.insert(arguments.begin(), made.getInductionVar());
  if (!made.getBody()->empty() &&
      made.getBody()->back().hasTrait<OpTrait::IsTerminator>())
    rewriter.eraseOp(&made.getBody()->back());
  rewriter.mergeBlocks(body, made.getBody(), arguments);
  rewriter.setInsertionPointAfter(made);
  rewriter.replaceOp(
      loop, restore(loc, loop.getResultTypes(), slots, made.getResults()));
  return true;
}

bool Scalarizer::rewriteIf(scf::IfOp branch) {
  if (branch.getNumResults() == 0)
    return false;
  Location loc = branch.getLoc();
  Operation *thenYield = branch.thenYield(), *elseYield = branch.elseYield();
  SmallVector<UniformMove> thens = movesOf(thenYield->getOperands()),
                           elses = movesOf(elseYield->getOperands());
  SmallVector<Slot> slots(thens.size());
  for (auto [slot, a, b, type] :
       llvm::zip_equal(slots, thens, elses, branch.getResultTypes()))
    slot = {canMove(type) && a.root == b.root && !isInside(branch, a.root),
            a.root};
  if (!anyMoved(slots))
    return false;

  auto rewriteYield = [&](Operation *yield, ArrayRef<UniformMove> moves) {
    SmallVector<Value> deltas = writeDeltas(moves, slots, yield);
    SmallVector<Value> operands =
        combine(yield->getOperands(), deltas, moves, slots, nullptr, {}, yield);
    rewriter.modifyOpInPlace(yield, [&] { yield->setOperands(operands); });
  };
  rewriteYield(thenYield, thens);
  rewriteYield(elseYield, elses);
  rewriter.setInsertionPoint(branch);
  auto made =
      scf::IfOp::create(rewriter, loc, typesOf(branch.getResultTypes(), slots),
                        branch.getCondition(),
                        /*addThenBlock=*/false, /*addElseBlock=*/false);
  made->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
  made.getThenRegion().takeBody(branch.getThenRegion());
  made.getElseRegion().takeBody(branch.getElseRegion());
  rewriter.setInsertionPointAfter(made);
  rewriter.replaceOp(
      branch, restore(loc, branch.getResultTypes(), slots, made.getResults()));
  return true;
}

bool Scalarizer::rewriteWhile(scf::WhileOp loop) {
  Location loc = loop.getLoc();
  Block *before = loop.getBeforeBody(), *after = loop.getAfterBody();
  scf::ConditionOp condition = loop.getConditionOp();
  scf::YieldOp yield = loop.getYieldOp();
  SmallVector<UniformMove> inits = movesOf(loop.getInits()),
                           passed = movesOf(condition.getArgs()),
                           yields = movesOf(yield.getOperands());
  // In: what the condition's region gets. Out: what the body and the loop's
  // users get.
  SmallVector<Slot> in(inits.size()), out(passed.size());
  for (auto [slot, move, value] : llvm::zip_equal(in, inits, loop.getInits()))
    slot = {canMove(value.getType()), move.root};
  for (auto [slot, value] : llvm::zip_equal(out, condition.getArgs()))
    slot.isMoved = canMove(value.getType());
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [slot, move] : llvm::zip_equal(out, passed))
      if (slot.isMoved && !outerRoot(move, before, in, loop, slot.root)) {
        slot.isMoved = false;
        changed = true;
      }
    for (auto [slot, move] : llvm::zip_equal(in, yields)) {
      Value root;
      if (slot.isMoved &&
          (!outerRoot(move, after, out, loop, root) || root != slot.root)) {
        slot.isMoved = false;
        changed = true;
      }
    }
  }
  if (!anyMoved(in) && !anyMoved(out))
    return false;

  SmallVector<Value> initDeltas = writeDeltas(inits, in, loop),
                     passedDeltas = writeDeltas(passed, out, condition),
                     yieldDeltas = writeDeltas(yields, in, yield);
  SmallVector<Value> newInits =
      combine(loop.getInits(), initDeltas, inits, in, nullptr, {}, loop);
  SmallVector<Type> types = typesOf(loop.getResultTypes(), out);
  auto made =
      scf::WhileOp::create(rewriter, loc, types, newInits, nullptr, nullptr);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *newBefore = made.getBeforeBody(), *newAfter = made.getAfterBody();
  SmallVector<Value> newPassed =
      combine(condition.getArgs(), passedDeltas, passed, out, before,
              newBefore->getArguments(), condition);
  rewriter.modifyOpInPlace(
      condition, [&] { condition.getArgsMutable().assign(newPassed); });
  SmallVector<Value> newYields =
      combine(yield.getOperands(), yieldDeltas, yields, in, after,
              newAfter->getArguments(), yield);
  rewriter.modifyOpInPlace(yield, [&] { yield->setOperands(newYields); });

  rewriter.setInsertionPointToStart(newBefore);
  SmallVector<Value> arguments =
      restore(loc, before->getArgumentTypes(), in, newBefore->getArguments());
  rewriter.mergeBlocks(before, newBefore, arguments);
  rewriter.setInsertionPointToStart(newAfter);
  arguments =
      restore(loc, after->getArgumentTypes(), out, newAfter->getArguments());
  rewriter.mergeBlocks(after, newAfter, arguments);
  rewriter.setInsertionPointAfter(made);
  rewriter.replaceOp(
      loop, restore(loc, loop.getResultTypes(), out, made.getResults()));
  return true;
}

namespace {

struct ScalarizeOffsetsPass
    : tilebridge::ttl::impl::ScalarizeOffsetsPassBase<ScalarizeOffsetsPass> {
  using ScalarizeOffsetsPassBase::ScalarizeOffsetsPassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (bool changed = true; changed;) {
      changed = false;
      SmallVector<Operation *> ops;
      // Innermost first: what a loop gives is then a root and a number for the
      // loop around it.
      getOperation()->walk<WalkOrder::PostOrder>([&](Operation *op) {
        if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
          ops.push_back(op);
      });
      for (Operation *op : ops)
        changed |= llvm::TypeSwitch<Operation *, bool>(op)
                       .Case([&](scf::ForOp loop) {
                         return Scalarizer(rewriter).rewriteFor(loop);
                       })
                       .Case([&](scf::WhileOp loop) {
                         return Scalarizer(rewriter).rewriteWhile(loop);
                       })
                       .Case([&](scf::IfOp branch) {
                         return Scalarizer(rewriter).rewriteIf(branch);
                       })
                       .Default(false);
    }
  }
};

} // namespace
