//===- NotNegative.cpp - values that are known not to be negative ---------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What a loop carries is so if it begins so, and is so again where it was
// before: what is asked for already is taken for such meanwhile.
//===----------------------------------------------------------------------===//

#include "cpu-backend/NotNegative.h"
#include "cpu-backend/ConstantNumbers.h"
#include "cpu-backend/ElementFlow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Values that are looked at for one question.
static constexpr int mostSteps = 200;

namespace {
class Question {
public:
  bool isNotNegative(Value value) {
    if (!isa<FloatType>(getElementTypeOrSelf(value.getType())) ||
        ++steps > mostSteps)
      return false;
    if (llvm::is_contained(asked, value))
      return true;
    asked.push_back(value);
    bool isSo = ask(value);
    asked.pop_back();
    return isSo;
  }

private:
  bool ask(Value value) {
    if (auto sources = sourcesOf(value))
      return all(*sources);
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    if (op->hasTrait<OpTrait::ConstantLike>())
      return isConstantOf(op, [](const APFloat &number) {
        return number.isNaN() || number.isZero() || !number.isNegative();
      });
    if (isa<math::ExpOp, math::Exp2Op, math::AbsFOp, math::SqrtOp,
            arith::UIToFPOp>(op))
      return true;
    if (isa<arith::TruncFOp>(op) &&
        getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() < 16)
      return false; // may make a number of -infinity
    if (isa<arith::MulFOp>(op) && op->getOperand(0) == op->getOperand(1))
      return true;
    if (isa<arith::AddFOp, arith::MulFOp, arith::DivFOp, arith::MaxNumFOp,
            arith::MinNumFOp, arith::MinimumFOp, arith::ExtFOp, arith::TruncFOp,
            math::FmaOp>(op))
      return all(op->getOperands());
    // NaN stays, where the other maximum would give what may be negative.
    if (isa<arith::MaximumFOp>(op))
      return isNotNegative(op->getOperand(0)) ||
             isNotNegative(op->getOperand(1));
    return false;
  }

  bool all(ValueRange values) {
    return llvm::all_of(values,
                        [&](Value value) { return isNotNegative(value); });
  }

  SmallVector<Value> asked;
  int steps = 0;
};
} // namespace

bool tilebridge::cpu::isNotNegative(Value value) {
  return Question().isNotNegative(value);
}
