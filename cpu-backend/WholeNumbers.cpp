//===- WholeNumbers.cpp - floats that are known to be whole ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Rounding to fewer bits keeps a number whole: from 1 on, what a float cannot
// hold of it is above the point.
//===----------------------------------------------------------------------===//

#include "cpu-backend/WholeNumbers.h"
#include "cpu-backend/NumberQuestion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilebridge::cpu;

namespace {
class Whole : public NumberQuestion {
  bool isSuch(const APFloat &constant) const override {
    return constant.isInteger();
  }

  bool makesSuch(Operation *op) override {
    if (isa<arith::SIToFPOp, arith::UIToFPOp, math::CeilOp, math::FloorOp,
            math::RoundOp, math::RoundEvenOp, math::TruncOp>(op))
      return true;
    return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp,
               arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp,
               arith::MinimumFOp, arith::ExtFOp, arith::TruncFOp, math::AbsFOp,
               math::FmaOp>(op) &&
           holdsForAll(op->getOperands());
  }
};
} // namespace

bool tilebridge::cpu::isWholeNumber(Value value) {
  return Whole().holdsFor(value);
}
