//===- WholeNumbers.cpp - floats that are known to be whole ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Rounding to fewer bits keeps a number whole: from 1 on, what a float cannot
// hold of it is above the point. What a loop carries is whole if it begins so,
// and is so again where it was before: what is asked for already is taken for
// whole meanwhile.
//===----------------------------------------------------------------------===//

#include "cpu-backend/WholeNumbers.h"
#include "cpu-backend/ConstantNumbers.h"
#include "cpu-backend/ElementFlow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Values that are looked at for one question.
static constexpr int mostSteps = 200;

namespace {
class Question {
public:
  bool isWhole(Value value) {
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
      return isConstantOf(
          op, [](const APFloat &number) { return number.isInteger(); });
    if (isa<arith::SIToFPOp, arith::UIToFPOp, math::CeilOp, math::FloorOp,
            math::RoundOp, math::RoundEvenOp, math::TruncOp>(op))
      return true;
    return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp,
               arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp,
               arith::MinimumFOp, arith::ExtFOp, arith::TruncFOp, math::AbsFOp,
               math::FmaOp>(op) &&
           all(op->getOperands());
  }

  bool all(ValueRange values) {
    return llvm::all_of(values, [&](Value value) { return isWhole(value); });
  }

  SmallVector<Value> asked;
  int steps = 0;
};
} // namespace

bool tilebridge::cpu::isWholeNumber(Value value) {
  return Question().isWhole(value);
}
