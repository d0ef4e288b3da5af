//===- NotNegative.cpp - values that are known not to be negative ---------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/NotNegative.h"
#include "cpu-backend/NumberQuestion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tilebridge::cpu;

namespace {
class NotNegative : public NumberQuestion {
  bool isSuch(const APFloat &constant) const override {
    return constant.isNaN() || constant.isZero() || !constant.isNegative();
  }

  bool makesSuch(Operation *op) override {
    if (isa<math::ExpOp, math::Exp2Op, math::AbsFOp, math::SqrtOp,
            arith::UIToFPOp>(op))
      return true;
    if (isa<arith::TruncFOp>(op) &&
        getElementTypeOrSelf(op->getResult(0).getType())
                .getIntOrFloatBitWidth() < 16)
      return false; // may make a number of -infinity
    if (isa<arith::MulFOp>(op) && op->getOperand(0) == op->getOperand(1))
      return true;
    if (isa<arith::AddFOp, arith::MulFOp, arith::DivFOp, arith::MaxNumFOp,
            arith::MinNumFOp, arith::MinimumFOp, arith::ExtFOp, arith::TruncFOp,
            math::FmaOp>(op))
      return holdsForAll(op->getOperands());
    // NaN stays, where the other maximum would give what may be negative.
    if (isa<arith::MaximumFOp>(op))
      return holdsFor(op->getOperand(0)) || holdsFor(op->getOperand(1));
    return false;
  }
};
} // namespace

bool tilebridge::cpu::isNotNegative(Value value) {
  return NotNegative().holdsFor(value);
}
