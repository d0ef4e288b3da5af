//===- ChosenFactors.cpp - products with a condition ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// torch.compile writes the pixel at the edge that a margin repeats as a sum of
// products with conditions: `63 * (63 <= x) + x * (x < 63)`. Of two factors
// that differ nothing is known; of a choice it is.
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/Passes.h"
#include "triton-to-linalg/analysis/IntegerFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace tilebridge::ttl {
#define GEN_PASS_DEF_CHOSENFACTORSPASS
#include "triton-to-linalg/Passes.h.inc"
} // namespace tilebridge::ttl

using namespace mlir;
using namespace tilebridge;

/// The condition that a number is 1 for, and 0 else.
static Value conditionOf(Value number) {
  auto extension = number.getDefiningOp<arith::ExtUIOp>();
  if (!extension ||
      !getElementTypeOrSelf(extension.getIn().getType()).isInteger(1))
    return {};
  return extension.getIn();
}

static bool areOpposite(Value left, Value right) {
  auto one = left.getDefiningOp<arith::CmpIOp>(),
       other = right.getDefiningOp<arith::CmpIOp>();
  if (!one || !other)
    return false;
  auto opposite = arith::invertPredicate(one.getPredicate());
  if (one.getLhs() == other.getLhs() && one.getRhs() == other.getRhs())
    return other.getPredicate() == opposite;
  return one.getLhs() == other.getRhs() && one.getRhs() == other.getLhs() &&
         other.getPredicate() == ttl::swapped(opposite);
}

/// A choice of 0 or of that number.
static arith::SelectOp choiceOrZero(Value value) {
  auto choice = value.getDefiningOp<arith::SelectOp>();
  return choice && matchPattern(choice.getFalseValue(), m_Zero())
             ? choice
             : arith::SelectOp();
}

/// What is there instead of a product or a sum; null: that stays.
static Value chosen(OpBuilder &b, Operation *op) {
  Value left = op->getOperand(0), right = op->getOperand(1);
  if (isa<arith::MulIOp>(op)) {
    Value one = conditionOf(left), other = conditionOf(right);
    // Both are a mask, which is asked for as such elsewhere.
    if ((one != nullptr) == (other != nullptr))
      return {};
    Value zero = arith::ConstantOp::create(
        b, op->getLoc(), cast<TypedAttr>(b.getZeroAttr(left.getType())));
    return arith::SelectOp::create(b, op->getLoc(), one ? one : other,
                                   one ? right : left, zero);
  }
  arith::SelectOp one = choiceOrZero(left), other = choiceOrZero(right);
  if (!one || !other || !areOpposite(one.getCondition(), other.getCondition()))
    return {};
  return arith::SelectOp::create(b, op->getLoc(), one.getCondition(),
                                 one.getTrueValue(), other.getTrueValue());
}

namespace {
struct ChosenFactors : ttl::impl::ChosenFactorsPassBase<ChosenFactors> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::MulIOp, arith::AddIOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      OpBuilder b(op);
      Value value = chosen(b, op);
      if (!value)
        continue;
      op->replaceAllUsesWith(ValueRange{value});
      op->erase();
    }
  }
};
} // namespace
