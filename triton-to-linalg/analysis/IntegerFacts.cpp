//===- IntegerFacts.cpp - what is known of a program's scalars -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/analysis/IntegerFacts.h"

#include "frontend/TTOps.h"

#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;
using Pred = arith::CmpIPredicate;

static bool isScalarInteger(Type type) { return type.isIntOrIndex(); }

/// The values x with `x ? bound` for signed comparisons and equality.
static std::optional<ConstantIntRanges> rangeWhere(Pred predicate,
                                                   const APInt &bound) {
  unsigned width = bound.getBitWidth();
  APInt low = APInt::getSignedMinValue(width),
        high = APInt::getSignedMaxValue(width);
  switch (predicate) {
  case Pred::eq:
    return ConstantIntRanges::constant(bound);
  case Pred::sge:
    low = bound;
    break;
  case Pred::sgt:
    if (bound == high)
      return std::nullopt;
    low = bound + 1;
    break;
  case Pred::sle:
    high = bound;
    break;
  case Pred::slt:
    if (bound == low)
      return std::nullopt;
    high = bound - 1;
    break;
  default:
    return std::nullopt;
  }
  return ConstantIntRanges::fromSigned(low, high);
}

Pred ttl::swapped(Pred predicate) {
  switch (predicate) {
  case Pred::slt:
    return Pred::sgt;
  case Pred::sle:
    return Pred::sge;
  case Pred::sgt:
    return Pred::slt;
  case Pred::sge:
    return Pred::sle;
  case Pred::ult:
    return Pred::ugt;
  case Pred::ule:
    return Pred::uge;
  case Pred::ugt:
    return Pred::ult;
  case Pred::uge:
    return Pred::ule;
  default:
    return predicate;
  }
}

using Assumptions = DenseMap<Value, ConstantIntRanges>;

static void assume(Assumptions &known, Value value, Pred predicate,
                   const APInt &bound) {
  std::optional<ConstantIntRanges> range = rangeWhere(predicate, bound);
  if (!range)
    return;
  auto [place, isNew] = known.try_emplace(value, *range);
  if (!isNew)
    place->second = place->second.intersection(*range);
}

/// A condition that holds, and both sides of a conjunction that does.
static void assume(Assumptions &known, Value condition) {
  Operation *op = condition.getDefiningOp();
  if (!op)
    return;
  if (isa<arith::AndIOp>(op)) {
    for (Value operand : op->getOperands())
      assume(known, operand);
    return;
  }
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || !isScalarInteger(compare.getLhs().getType()))
    return;
  APInt bound;
  if (matchPattern(compare.getRhs(), m_ConstantInt(&bound)))
    assume(known, compare.getLhs(), compare.getPredicate(), bound);
  else if (matchPattern(compare.getLhs(), m_ConstantInt(&bound)))
    assume(known, compare.getRhs(), swapped(compare.getPredicate()), bound);
}

namespace {
class RangeAnalysis : public dataflow::IntegerRangeAnalysis {
public:
  RangeAnalysis(DataFlowSolver &solver, const Assumptions &assumed)
      : IntegerRangeAnalysis(solver), assumed(assumed) {}

  void setToEntryState(dataflow::IntegerValueRangeLattice *lattice) override {
    auto found = assumed.find(lattice->getAnchor());
    if (found == assumed.end())
      return IntegerRangeAnalysis::setToEntryState(lattice);
    propagateIfChanged(lattice,
                       lattice->join(IntegerValueRange(found->second)));
  }

  LogicalResult visitOperation(
      Operation *op,
      ArrayRef<const dataflow::IntegerValueRangeLattice *> operands,
      ArrayRef<dataflow::IntegerValueRangeLattice *> results) override {
    // A grid has at most 2^31 - 1 programs a dimension.
    bool isId = isa<tt::GetProgramIdOp>(op);
    if (isId || isa<tt::GetNumProgramsOp>(op)) {
      APInt low(32, isId ? 0 : 1), high = APInt::getSignedMaxValue(32);
      propagateIfChanged(results[0],
                         results[0]->join(IntegerValueRange(
                             ConstantIntRanges::fromSigned(low, high - isId))));
      return success();
    }
    bool isAssumed = llvm::any_of(op->getResults(), [&](Value result) {
      return assumed.contains(result);
    });
    auto inferrable = dyn_cast<InferIntRangeInterface>(op);
    if (!isAssumed || op->getNumResults() != 1)
      return IntegerRangeAnalysis::visitOperation(op, operands, results);
    const ConstantIntRanges &promise = assumed.find(op->getResult(0))->second;
    auto join = [&](const ConstantIntRanges &range) {
      propagateIfChanged(results[0], results[0]->join(IntegerValueRange(
                                         range.intersection(promise))));
    };
    if (!inferrable) {
      join(promise);
      return success();
    }
    SmallVector<IntegerValueRange> ranges;
    for (const auto *operand : operands)
      ranges.push_back(operand->getValue());
    inferrable.inferResultRangesFromOptional(
        ranges, [&](Value, const IntegerValueRange &range) {
          if (!range.isUninitialized())
            join(range.getValue());
        });
    return success();
  }

private:
  const Assumptions &assumed;
};
} // namespace

namespace {
/// While it lives, loops of constant bounds end behind their last iteration:
/// the analysis takes all numbers up to a loop's end, while steps leave some
/// out. (From 0 to 4096 by steps of 2048, the last number is 2048.)
class ShortenedLoops {
public:
  explicit ShortenedLoops(Operation *root) {
    root->walk([&](scf::ForOp loop) {
      APInt low, high, step;
      if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&low)) ||
          !matchPattern(loop.getUpperBound(), m_ConstantInt(&high)) ||
          !matchPattern(loop.getStep(), m_ConstantInt(&step)) ||
          loop.getUnsignedCmp() || !step.isStrictlyPositive() ||
          !low.slt(high) || low.isNegative())
        return;
      APInt behind = high - 1 - (high - 1 - low).urem(step) + 1;
      if (behind == high)
        return;
      OpBuilder builder(loop);
      Value end = arith::ConstantOp::create(
          builder, loop.getLoc(),
          builder.getIntegerAttr(loop.getUpperBound().getType(), behind));
      changed.push_back({loop, loop.getUpperBound()});
      loop.setUpperBound(end);
    });
  }
  ~ShortenedLoops() {
    for (auto &[loop, end] : changed) {
      Operation *shorter = loop.getUpperBound().getDefiningOp();
      loop.setUpperBound(end);
      shorter->erase();
    }
  }
  ShortenedLoops(const ShortenedLoops &) = delete;
  ShortenedLoops &operator=(const ShortenedLoops &) = delete;

private:
  SmallVector<std::pair<scf::ForOp, Value>> changed;
};
} // namespace

IntegerFacts::IntegerFacts(Operation *root) {
  // An assumption in a branch holds there only. A program in which a condition
  // at the top does not hold has no meaning, so that it holds before it, too.
  Assumptions assumed;
  root->walk([&](LLVM::AssumeOp op) {
    if (isa<FunctionOpInterface>(op->getParentOp()))
      assume(assumed, op.getCond());
  });
  DataFlowSolver solver;
  dataflow::loadBaselineAnalyses(solver);
  solver.load<RangeAnalysis>(assumed);
  {
    ShortenedLoops shortened(root);
    if (failed(solver.initializeAndRun(root)))
      return;
  }
  auto note = [&](Value value) {
    if (!isScalarInteger(value.getType()))
      return;
    auto *lattice =
        solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
    if (!lattice || lattice->getValue().isUninitialized())
      return;
    const ConstantIntRanges &range = lattice->getValue().getValue();
    unsigned width = range.smin().getBitWidth();
    if (!(range == ConstantIntRanges::maxRange(width)))
      ranges.try_emplace(value, range);
  };
  root->walk([&](Operation *op) {
    for (Value result : op->getResults())
      note(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          note(argument);
  });
}

ConstantIntRanges IntegerFacts::rangeOf(Value scalar) const {
  auto found = ranges.find(scalar);
  unsigned width = ConstantIntRanges::getStorageBitwidth(scalar.getType());
  return found == ranges.end() ? ConstantIntRanges::maxRange(width)
                               : found->second;
}

//===----------------------------------------------------------------------===//
// Divisibility
//===----------------------------------------------------------------------===//

static unsigned zerosOf(Value value, unsigned depth);

static unsigned zerosOfArgument(BlockArgument argument, unsigned depth) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto function = dyn_cast<FunctionOpInterface>(parent)) {
    if (!argument.getOwner()->isEntryBlock())
      return 0;
    auto attr = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(),
                                                       "tt.divisibility");
    return attr && attr.getInt() > 0
               ? llvm::countr_zero(static_cast<uint64_t>(attr.getInt()))
               : 0;
  }
  auto loop = dyn_cast<scf::ForOp>(parent);
  return loop && argument == loop.getInductionVar()
             ? std::min(zerosOf(loop.getLowerBound(), depth + 1),
                        zerosOf(loop.getStep(), depth + 1))
             : 0;
}

static unsigned zerosOf(Value value, unsigned depth) {
  constexpr unsigned maxDepth = 8;
  unsigned width = ConstantIntRanges::getStorageBitwidth(value.getType());
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.countr_zero();
  if (depth == maxDepth)
    return 0;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return zerosOfArgument(argument, depth);
  Operation *op = value.getDefiningOp();
  auto operand = [&](unsigned i) {
    return zerosOf(op->getOperand(i), depth + 1);
  };
  if (isa<arith::MulIOp>(op))
    return std::min(width, operand(0) + operand(1));
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp,
          arith::MinUIOp, arith::MaxUIOp>(op))
    return std::min(operand(0), operand(1));
  if (isa<arith::SelectOp>(op))
    return std::min(operand(1), operand(2));
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::IndexCastOp, arith::TruncIOp>(
          op))
    return std::min(width, operand(0));
  if (isa<arith::ShLIOp>(op) &&
      matchPattern(op->getOperand(1), m_ConstantInt(&constant)))
    return std::min<uint64_t>(width, operand(0) + constant.getLimitedValue());
  if (isa<arith::AndIOp>(op))
    return std::max(operand(0), operand(1));
  // The divisibility of a pointer counts bytes.
  if (isa<tt::PtrToIntOp>(op))
    return operand(0);
  return 0;
}

unsigned ttl::trailingZeros(Value scalar) { return zerosOf(scalar, 0); }
