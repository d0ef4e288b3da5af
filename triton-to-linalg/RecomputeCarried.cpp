//===- RecomputeCarried.cpp - carried values that an iteration can compute -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Kernels set the mask of the next iteration at the end of a loop. On a GPU
// that hides its latency; here it hides from the analysis of accesses what the
// mask is, which looks into no loop. The expression at the loop's end, read
// with this iteration's values in place of the next one's, is the mask in all
// iterations but the first. It is in that one as well if the same expression
// of the loop's first values is seen to be what the loop begins with.
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/Passes.h"
#include "triton-to-linalg/analysis/AccessAnalysis.h"

#include "frontend/TTOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tilebridge::ttl {
#define GEN_PASS_DEF_RECOMPUTECARRIEDPASS
#include "triton-to-linalg/Passes.h.inc"
} // namespace tilebridge::ttl

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

//===----------------------------------------------------------------------===//
// Equal values
//===----------------------------------------------------------------------===//

static bool isEqual(const Expr *a, const Expr *b) { return a == b; }

static bool isEqual(const DimTerm &a, const DimTerm &b) {
  using Kind = DimTerm::Kind;
  // Lanes that cannot be told from another dimension's are equal to none.
  return a.kind == b.kind &&
         (a.kind != Kind::Linear || isEqual(a.stride, b.stride)) &&
         (a.kind != Kind::Lanes || (a.lanes && isEqual(a.lanes, b.lanes)));
}

static bool isConstantEqual(Value a, Value b) {
  Attribute first, second;
  return matchPattern(a, m_Constant(&first)) &&
         matchPattern(b, m_Constant(&second)) && first == second;
}

namespace {

/// Tells whether two values are seen to be equal: they are computed in the same
/// way, up to sums of integers that are written in different ways.
class Comparison {
public:
  bool areEqual(Value a, Value b) {
    if (a == b || isConstantEqual(a, b))
      return true;
    if (a.getType() != b.getType())
      return false;
    auto [place, isNew] = known.try_emplace({a, b}, false);
    if (!isNew)
      return place->second;
    bool result = haveEqualForms(a, b) || areComputedAlike(a, b);
    known[{a, b}] = result;
    return result;
  }

private:
  bool haveEqualForms(Value a, Value b) {
    auto type = dyn_cast<RankedTensorType>(a.getType());
    if (!type || !type.getElementType().isSignlessInteger() ||
        type.getElementType().isInteger(1))
      return false;
    std::optional<TensorForm> first = analysis.integers(a),
                              second = analysis.integers(b);
    return first && second && isEqual(first->uniform, second->uniform) &&
           llvm::all_of(llvm::zip_equal(first->terms, second->terms),
                        [](auto pair) {
                          return isEqual(std::get<0>(pair), std::get<1>(pair));
                        });
  }

  bool areComputedAlike(Value a, Value b) {
    Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
    if (!first || !second || first->getNumResults() != 1 ||
        second->getNumResults() != 1 || first->getName() != second->getName() ||
        first->getNumRegions() || first->getNumOperands() == 0 ||
        !isMemoryEffectFree(first))
      return false;
    return OperationEquivalence::isEquivalentTo(
        first, second,
        [&](Value x, Value y) { return success(areEqual(x, y)); },
        /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations,
        [&](ValueRange xs, ValueRange ys) {
          if (xs.size() != 2 || ys.size() != 2)
            return failure();
          return success((areEqual(xs[0], ys[0]) && areEqual(xs[1], ys[1])) ||
                         (areEqual(xs[0], ys[1]) && areEqual(xs[1], ys[0])));
        });
  }

  ExprPool pool;
  AccessAnalysis analysis{pool, /*isExact=*/true};
  DenseMap<std::pair<Value, Value>, bool> known;
};

//===----------------------------------------------------------------------===//
// Values of the next iteration as those of this one
//===----------------------------------------------------------------------===//

/// Writes what a loop yields for one of its arguments as the value of the
/// argument itself: in the loop, or in its first iteration.
class Writer {
public:
  /// Arguments in `replaced` are written by others and stand for nothing.
  Writer(scf::ForOp loop, unsigned slot, const llvm::SmallBitVector &replaced,
         bool isFirst)
      : loop(loop), slot(slot), replaced(replaced), isFirst(isFirst),
        builder(loop.getContext()) {
    if (isFirst)
      builder.setInsertionPoint(loop);
    else
      builder.setInsertionPointToStart(loop.getBody());
  }

  /// Null if it is more than an expression of such values.
  Value write() { return write(loop.getYieldedValues()[slot]); }

  /// Takes back what is written and has no uses.
  void undo() {
    for (Operation *op : llvm::reverse(made))
      if (op->use_empty())
        op->erase();
  }

private:
  Value write(Value next) {
    if (Value known = written.lookup(next))
      return known;
    Value value = leaf(next);
    if (!value)
      value = clone(next);
    if (value)
      written[next] = value;
    return value;
  }

  bool isOutside(Value value) {
    return !loop->isAncestor(value.getParentBlock()->getParentOp());
  }
  bool isLeaf(unsigned argument) {
    return argument != slot && !replaced.test(argument);
  }
  Value current(unsigned argument) {
    return isFirst ? loop.getInitArgs()[argument]
                   : loop.getRegionIterArg(argument);
  }
  Value currentInduction() {
    return isFirst ? loop.getLowerBound() : loop.getInductionVar();
  }

  /// The number that an addition gives to `value`, if it does not change.
  Value addedTo(Value value, Value sum) {
    auto add = sum.getDefiningOp<arith::AddIOp>();
    if (!add || (add.getLhs() != value && add.getRhs() != value))
      return {};
    Value added = add.getLhs() == value ? add.getRhs() : add.getLhs();
    return isOutside(added) || matchPattern(added, m_Constant()) ? added
                                                                 : Value();
  }

  /// What stands for a value of the next iteration without arithmetic.
  Value leaf(Value next) {
    if (isOutside(next))
      return next;
    for (auto [i, yielded] : llvm::enumerate(loop.getYieldedValues()))
      if (yielded == next && isLeaf(i))
        return current(i);
    Value step = addedTo(loop.getInductionVar(), next);
    if (step &&
        (step == loop.getStep() || isConstantEqual(step, loop.getStep())))
      return currentInduction();
    return {};
  }

  /// An argument's value of the iteration before, and by how much it differs
  /// from the current one.
  std::pair<Value, Value> beforeOf(BlockArgument argument) {
    if (argument.getOwner() != loop.getBody())
      return {};
    if (argument == loop.getInductionVar())
      return {currentInduction(), loop.getStep()};
    unsigned i = argument.getArgNumber() - loop.getNumInductionVars();
    if (!isLeaf(i))
      return {};
    return {current(i), addedTo(argument, loop.getYieldedValues()[i])};
  }

  Value subtract(Value value, Value step, Location loc) {
    if (Operation *constant = step.getDefiningOp(); !isOutside(step))
      step = insert(builder.clone(*constant));
    return insert(arith::SubIOp::create(builder, loc, value, step));
  }

  Value clone(Value next) {
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      auto [value, step] = beforeOf(argument);
      return step ? subtract(value, step, loop.getLoc()) : Value();
    }
    Operation *op = next.getDefiningOp();
    if (op->getBlock() != loop.getBody() || op->getNumResults() != 1 ||
        op->getNumRegions() || !isPure(op) || op->hasAttr("isExact"))
      return {};
    // A difference of tensors is one to the analysis, of scalars a leaf.
    if (auto splat = dyn_cast<tt::SplatOp>(op))
      if (auto argument = dyn_cast<BlockArgument>(splat.getSrc()))
        if (auto [value, step] = beforeOf(argument);
            step && isOutside(step) && value.getType().isSignlessInteger())
          return subtract(splatOf(splat, value), splatOf(splat, step),
                          op->getLoc());
    IRMapping map;
    for (Value operand : op->getOperands()) {
      Value value = write(operand);
      if (!value)
        return {};
      map.map(operand, value);
    }
    Operation *copy = builder.clone(*op, map);
    // In the first iteration the numbers are ones that the program does not
    // compute.
    if (auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(copy))
      copy->setAttr(flags.getIntegerOverflowAttrName(),
                    arith::IntegerOverflowFlagsAttr::get(
                        op->getContext(), arith::IntegerOverflowFlags::none));
    return insert(copy);
  }

  Value splatOf(tt::SplatOp splat, Value value) {
    return insert(
        tt::SplatOp::create(builder, splat.getLoc(), splat.getType(), value));
  }

  /// Folds what was made; a pointer moved by nothing is the pointer.
  Value insert(Operation *op) {
    made.push_back(op);
    if (auto add = dyn_cast<tt::AddPtrOp>(op))
      if (matchPattern(add.getOffset(), m_Zero()))
        return add.getPtr();
    SmallVector<Value> folded;
    SmallVector<Operation *> constants;
    bool isFolded = succeeded(builder.tryFold(op, folded, &constants));
    llvm::append_range(made, constants);
    return isFolded && !folded.empty() ? folded.front() : op->getResult(0);
  }

  scf::ForOp loop;
  unsigned slot;
  const llvm::SmallBitVector &replaced;
  bool isFirst;
  OpBuilder builder;
  DenseMap<Value, Value> written;
  SmallVector<Operation *> made;
};

} // namespace

/// Integers, booleans and pointers: computing them again costs little, and
/// analyses read them. Floats would be nothing but computed twice.
static bool isWorthReading(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIntOrIndex() || isa<tt::PointerType>(element);
}

static bool beginsAlike(scf::ForOp loop, unsigned slot,
                        const llvm::SmallBitVector &replaced) {
  Writer writer(loop, slot, replaced, /*isFirst=*/true);
  Value first = writer.write();
  bool result = first && Comparison().areEqual(first, loop.getInitArgs()[slot]);
  writer.undo();
  return result;
}

static bool recompute(scf::ForOp loop) {
  llvm::SmallBitVector replaced(loop.getNumRegionIterArgs());
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (argument.use_empty() || !isWorthReading(argument.getType()) ||
        !beginsAlike(loop, i, replaced))
      continue;
    Writer writer(loop, i, replaced, /*isFirst=*/false);
    argument.replaceAllUsesWith(writer.write());
    writer.undo();
    replaced.set(i);
  }
  return replaced.any();
}

namespace {

struct RecomputeCarriedPass
    : ttl::impl::RecomputeCarriedPassBase<RecomputeCarriedPass> {
  using RecomputeCarriedPassBase::RecomputeCarriedPassBase;

  void runOnOperation() override {
    bool isChanged = false;
    getOperation()->walk(
        [&](scf::ForOp loop) { isChanged |= recompute(loop); });
    if (!isChanged)
      return;
    // What only the next iteration read is no longer carried.
    RewritePatternSet patterns(&getContext());
    scf::ForOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    // Masks of several operands have one bound.
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }
};

} // namespace
