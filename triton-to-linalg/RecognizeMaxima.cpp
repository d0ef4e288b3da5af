//===- RecognizeMaxima.cpp - maxima that are written as selections --------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Which of two zeros a selection takes is kept everywhere but in reductions,
// whose order nobody promises.
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"
#include "triton-to-linalg/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"

namespace tilebridge::ttl {
#define GEN_PASS_DEF_RECOGNIZEMAXIMAPASS
#include "triton-to-linalg/Passes.h.inc"
} // namespace tilebridge::ttl

using namespace mlir;
using namespace tilebridge;

namespace {

using Kind = arith::AtomicRMWKind;

/// A selection that gives the larger or the smaller one of two values.
struct Extremum {
  Kind kind;
  Value first, second;
};

/// `x` compared with itself: whether it is NaN.
bool asksForNan(Value condition, Value x) {
  auto compare = condition.getDefiningOp<arith::CmpFOp>();
  return compare && compare.getLhs() == x && compare.getRhs() == x &&
         (compare.getPredicate() == arith::CmpFPredicate::UNE ||
          compare.getPredicate() == arith::CmpFPredicate::UNO);
}

/// What is taken where it compares so with the other one, or the other one with
/// it if `isSwapped`.
std::optional<Kind> kindOf(arith::CmpFPredicate predicate, bool isSwapped) {
  switch (predicate) {
  case arith::CmpFPredicate::OGT:
  case arith::CmpFPredicate::OGE:
    return isSwapped ? Kind::minimumf : Kind::maximumf;
  case arith::CmpFPredicate::OLT:
  case arith::CmpFPredicate::OLE:
    return isSwapped ? Kind::maximumf : Kind::minimumf;
  default:
    return std::nullopt;
  }
}

std::optional<Kind> kindOf(arith::CmpIPredicate predicate, bool isSwapped) {
  switch (predicate) {
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::sge:
    return isSwapped ? Kind::mins : Kind::maxs;
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::sle:
    return isSwapped ? Kind::maxs : Kind::mins;
  case arith::CmpIPredicate::ugt:
  case arith::CmpIPredicate::uge:
    return isSwapped ? Kind::minu : Kind::maxu;
  case arith::CmpIPredicate::ult:
  case arith::CmpIPredicate::ule:
    return isSwapped ? Kind::maxu : Kind::minu;
  default:
    return std::nullopt;
  }
}

/// A comparison of the two values that `select` selects from.
template <typename Compare>
std::optional<Extremum> compared(arith::SelectOp select, Compare compare) {
  Value taken = select.getTrueValue(), left = select.getFalseValue();
  if (!compare || taken == left)
    return std::nullopt;
  bool isSwapped = compare.getLhs() == left && compare.getRhs() == taken;
  if (!isSwapped && (compare.getLhs() != taken || compare.getRhs() != left))
    return std::nullopt;
  auto kind = kindOf(compare.getPredicate(), isSwapped);
  return kind ? std::optional(Extremum{*kind, taken, left}) : std::nullopt;
}

/// Of floats only what gives NaN where any of the two is NaN: the one that is
/// taken if the comparison or a question for NaN says so, or else the other.
std::optional<Extremum> match(Value value) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  if (!select)
    return std::nullopt;
  Value condition = select.getCondition();
  if (auto compare = condition.getDefiningOp<arith::CmpIOp>())
    return compared(select, compare);
  auto either = condition.getDefiningOp<arith::OrIOp>();
  if (!either)
    return std::nullopt;
  for (unsigned i : {0, 1})
    if (asksForNan(either->getOperand(1 - i), select.getTrueValue()))
      return compared(select,
                      either->getOperand(i).getDefiningOp<arith::CmpFOp>());
  return std::nullopt;
}

/// Erases what nobody uses in the op's regions: a combiner is one op then.
void eraseUnused(Operation *op) {
  IRRewriter rewriter(op->getContext());
  (void)runRegionDCE(rewriter, op->getRegions());
}

/// What led to the selection may be left over.
void replace(Value value, const Extremum &extremum) {
  auto [kind, x, y] = extremum;
  OpBuilder b(value.getDefiningOp());
  Value result = arith::getReductionOp(kind, b, value.getLoc(), x, y);
  Operation *op = result.getDefiningOp();
  // Of two zeros the selection takes any one.
  if (auto floats = dyn_cast<arith::ArithFastMathInterface>(op))
    op->setAttr(floats.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(b.getContext(),
                                              arith::FastMathFlags::nsz));
  value.replaceAllUsesWith(result);
}

/// What the region of a reduction or a scan gives, if it is one extremum of its
/// two arguments.
std::optional<Extremum> matchCombiner(Block &body) {
  if (body.getNumArguments() != 2 ||
      body.getTerminator()->getNumOperands() != 1)
    return std::nullopt;
  auto found = match(body.getTerminator()->getOperand(0));
  if (!found || !llvm::is_contained(body.getArguments(), found->first) ||
      !llvm::is_contained(body.getArguments(), found->second))
    return std::nullopt;
  return found;
}

/// Where a loop carries a block of the extrema so far, which is only reduced
/// behind it, each iteration's selection between that and the elements.
void replaceCarried(tt::ReduceOp reduce, Kind kind) {
  auto result = dyn_cast<OpResult>(reduce.getSrcs().front());
  auto loop = result ? dyn_cast<scf::ForOp>(result.getOwner()) : nullptr;
  if (!loop || !result.hasOneUse())
    return;
  unsigned i = result.getResultNumber();
  Value old = loop.getRegionIterArg(i), next = loop.getYieldedValues()[i];
  // A mask may keep the old value.
  auto found = match(next);
  if (auto choice = next.getDefiningOp<arith::SelectOp>();
      !found && choice && choice.getFalseValue() == old) {
    next = choice.getTrueValue();
    found = match(next);
  }
  if (found && found->kind == kind && next.hasOneUse() &&
      (found->first == old || found->second == old)) {
    replace(next, *found);
    eraseUnused(loop);
  }
}

struct RecognizeMaxima : ttl::impl::RecognizeMaximaPassBase<RecognizeMaxima> {
  void runOnOperation() override {
    SmallVector<std::pair<tt::ReduceOp, Kind>> reductions;
    getOperation()->walk([&](Operation *op) {
      if (!isa<tt::ReduceOp, tt::ScanOp>(op))
        return;
      Block &body = op->getRegion(0).front();
      auto found = matchCombiner(body);
      if (!found)
        return;
      replace(body.getTerminator()->getOperand(0), *found);
      eraseUnused(op);
      if (auto reduce = dyn_cast<tt::ReduceOp>(op))
        reductions.emplace_back(reduce, found->kind);
    });
    for (auto [reduce, kind] : reductions)
      replaceCarried(reduce, kind);
  }
};

} // namespace
