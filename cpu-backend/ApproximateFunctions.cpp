//===- ApproximateFunctions.cpp - exponentials of which few bits count ----===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// An approximated exponential has a relative error. It is followed to all that
// is computed from it, with a count of how many such errors a value may have at
// most: a product has those of both operands, a sum of numbers that are not
// negative those of its worse one. Around a loop the count must come to rest,
// which it does not where each iteration multiplies by a further exponential.
// One exponential after the other is tried; where it, with those before it,
// reaches what would show the error, all that was counted for it is taken back.
//===----------------------------------------------------------------------===//

#include "cpu-backend/ElementFlow.h"
#include "cpu-backend/MathF32.h"
#include "cpu-backend/MathWhole.h"
#include "cpu-backend/NotNegative.h"
#include "cpu-backend/Passes.h"
#include "cpu-backend/WholeNumbers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include "llvm/ADT/SetVector.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUAPPROXIMATEFUNCTIONSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge::cpu;

/// Errors of one result: those of an exponential and of the sum that it is
/// divided by.
static constexpr unsigned mostErrors = 2;

/// What `value` is, where it was only moved, or given to a region.
static Value origin(Value value) {
  for (auto from = sourcesOf(value); from && from->size() == 1;
       from = sourcesOf(value))
    value = from->front();
  return value;
}

/// 1 - 1 / (y + 1) with y not negative, which is y / (y + 1): its relative
/// error is no larger than that of y.
static bool isComplement(arith::SubFOp op) {
  auto isOne = [](Value value) {
    return matchPattern(origin(value), m_OneFloat());
  };
  auto quotient = origin(op.getRhs()).getDefiningOp<arith::DivFOp>();
  if (!quotient || !isOne(op.getLhs()) || !isOne(quotient.getLhs()))
    return false;
  auto sum = origin(quotient.getRhs()).getDefiningOp<arith::AddFOp>();
  return sum && ((isOne(sum.getRhs()) && isNotNegative(sum.getLhs())) ||
                 (isOne(sum.getLhs()) && isNotNegative(sum.getRhs())));
}

namespace {
class Errors {
public:
  /// Whether all that becomes of an approximated `exponential` is rounded to
  /// few bits; it is taken for one from then on.
  bool tryWith(Value exponential) {
    before.clear();
    reached.clear();
    forF16 = isRounded = false;
    bool isFine = raise(exponential, 1);
    while (isFine && !pending.empty()) {
      Value value = pending.pop_back_val();
      isFine = llvm::all_of(value.getUses(),
                            [&](OpOperand &use) { return follow(use); });
    }
    pending.clear();
    if (isFine && isRounded)
      return true;
    for (auto [value, count] : llvm::reverse(before))
      errors[value] = count;
    return false;
  }

  /// Of the last one: whether some of its results are rounded to f16, and not
  /// to fewer bits.
  bool hasF16Results() const { return forF16; }

private:
  bool raise(Value value, unsigned count) {
    if (count > mostErrors)
      return false;
    unsigned &known = errors[value];
    bool isNew = reached.insert(value).second;
    if (count > known) {
      before.push_back({value, known});
      known = count;
      isNew = true;
    }
    if (isNew)
      pending.insert(value);
    return true;
  }

  bool follow(OpOperand &use) {
    Operation *op = use.getOwner();
    if (auto round = dyn_cast<arith::TruncFOp>(op))
      return ends(round);
    unsigned count = errors.lookup(use.get());
    if (auto targets = targetsOf(use))
      return llvm::all_of(*targets,
                          [&](Value target) { return raise(target, count); });
    std::optional<unsigned> computed = countOf(op);
    return computed && raise(op->getResult(0), *computed);
  }

  /// To the nearest: others may lose a whole unit of what was exact.
  bool ends(arith::TruncFOp round) {
    Type narrow = getElementTypeOrSelf(round.getType());
    bool mayBeLeftOut = bitEnumContainsAll(
        round.getFastmath().value_or(arith::FastMathFlags::none),
        arith::FastMathFlags::contract);
    if (mayBeLeftOut || narrow.getIntOrFloatBitWidth() > 16 ||
        round.getRoundingmode().value_or(
            arith::RoundingMode::to_nearest_even) !=
            arith::RoundingMode::to_nearest_even)
      return false;
    forF16 |= narrow.isF16();
    isRounded = true;
    return true;
  }

  /// How many errors a result has by those of operands, where it has no larger
  /// one.
  std::optional<unsigned> countOf(Operation *op) const {
    auto of = [&](unsigned number) {
      return errors.lookup(op->getOperand(number));
    };
    auto isNotNegative = [&](unsigned number) {
      return tilebridge::cpu::isNotNegative(op->getOperand(number));
    };
    if (isa<arith::MulFOp, arith::DivFOp>(op))
      return of(0) + of(1);
    if (isa<arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp,
            arith::MinimumFOp>(op))
      return std::max(of(0), of(1));
    if (isa<arith::NegFOp, math::AbsFOp, math::SqrtOp, math::RsqrtOp>(op))
      return of(0);
    if (isa<arith::AddFOp>(op) && isNotNegative(0) && isNotNegative(1))
      return std::max(of(0), of(1));
    if (auto difference = dyn_cast<arith::SubFOp>(op);
        difference && isComplement(difference))
      return of(1);
    if (isa<math::FmaOp>(op) && isNotNegative(0) && isNotNegative(1) &&
        isNotNegative(2))
      return std::max(of(0) + of(1), of(2));
    return std::nullopt;
  }

  DenseMap<Value, unsigned> errors;
  /// What counts were before the last exponential, and which values it reaches.
  SmallVector<std::pair<Value, unsigned>> before;
  llvm::DenseSet<Value> reached;
  llvm::SetVector<Value> pending;
  bool forF16 = false, isRounded = false;
};

struct CpuApproximateFunctionsPass
    : public tilebridge::cpu::impl::CpuApproximateFunctionsPassBase<
          CpuApproximateFunctionsPass> {
  void runOnOperation() override {
    Errors errors;
    getOperation().walk([&](Operation *op) {
      if (!isa<math::ExpOp, math::Exp2Op>(op))
        return;
      // A scale that is a power of two is exact: what it multiplies may lie
      // right between two of the few numbers that it is rounded to.
      Type type = op->getResult(0).getType(); // the bridge IR has no vectors
      bool isPowerOfTwo = isa<math::Exp2Op>(op) &&
                          (type.isF32() || type.isF64()) &&
                          isWholeNumber(op->getOperand(0));
      if (isPowerOfTwo)
        op->setAttr(wholeAttr, UnitAttr::get(op->getContext()));
      else
        op->removeAttr(wholeAttr);
      if (!type.isF32())
        return;
      auto flagged = cast<arith::ArithFastMathInterface>(op);
      auto flags = flagged.getFastMathFlagsAttr().getValue();
      bool isApproximate = !isPowerOfTwo && errors.tryWith(op->getResult(0));
      flags = isApproximate ? flags | arith::FastMathFlags::afn
                            : flags & ~arith::FastMathFlags::afn;
      op->setAttr(flagged.getFastMathAttrName(),
                  arith::FastMathFlagsAttr::get(op->getContext(), flags));
      if (isApproximate && !errors.hasF16Results())
        op->setAttr(forBf16Attr, UnitAttr::get(op->getContext()));
    });
  }
};
} // namespace
