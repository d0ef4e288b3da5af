//===- MathRemainder.cpp - remainders of vectors of floats ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// x - q * y with q = x / y rounded towards zero is the remainder if both are
// exact. In f64 they are for numbers of f32 and q below 2^29: 29 bits times 24
// are 53; and a quotient that is no integer is below the next one by more than
// 2^-24 (y is an integer below 2^24 times a power of two, of which x is a
// multiple, or else q is below 2^24), while it is rounded by at most 2^-25.
//
// Numbers of f64 take one fused multiply-add. A quotient below 2^53 may have
// been rounded up to the next integer, but not beyond: q is right or one too
// large, and x - q * y is the remainder, or that less y. Where x >= y both are
// multiples of what y's last bit counts and no larger than y, so that they are
// numbers of f64, and so is the sum with y. Where x < y, q is 0, or 1 and x
// near y, so that x - y and its sum with y, x, are exact.
//
// Larger quotients, infinities and NaN are left to the C library, a lane at a
// time.
//===----------------------------------------------------------------------===//

#include "cpu-backend/MathRemainder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace tilebridge::cpu;

void tilebridge::cpu::expandRemainder(arith::RemFOp op, bool fma) {
  auto type = dyn_cast<VectorType>(op.getType());
  if (!type || type.isScalable() || type.getRank() != 1)
    return;
  bool isDouble = type.getElementType().isF64();
  if (!type.getElementType().isF32() && !(isDouble && fma))
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto wide = type.clone(b.getF64Type());
  auto constant = [&](double number) -> Value {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(wide, b.getF64FloatAttr(number)));
  };
  auto magnitude = [&](Value value) -> Value {
    Value absolute = math::AbsFOp::create(b, value);
    return isDouble ? absolute : arith::ExtFOp::create(b, wide, absolute);
  };
  auto compare = [&](arith::CmpFPredicate predicate, Value left,
                     Value right) -> Value {
    return arith::CmpFOp::create(b, predicate, left, right);
  };
  Value x = magnitude(op.getLhs()), y = magnitude(op.getRhs()),
        zero = constant(0);
  Value exact = arith::DivFOp::create(b, x, y);
  Value isSmall = compare(arith::CmpFPredicate::OLT, exact,
                          constant(isDouble ? 0x1p53 : 0x1p29));
  Value q = math::TruncOp::create(b, exact);
  Value rest;
  if (isDouble) {
    rest = math::FmaOp::create(b, arith::NegFOp::create(b, q), y, x);
    Value isBelow = compare(arith::CmpFPredicate::OLT, rest, zero);
    Value next = arith::AddFOp::create(b, rest, y);
    rest = arith::SelectOp::create(b, isBelow, next, rest);
  } else {
    rest = arith::SubFOp::create(b, x, arith::MulFOp::create(b, q, y));
  }
  // Also where y is infinite, and 0 * y is none.
  rest = arith::SelectOp::create(b, compare(arith::CmpFPredicate::OEQ, q, zero),
                                 x, rest);
  Value narrow = isDouble ? rest : arith::TruncFOp::create(b, type, rest);
  Value result = math::CopySignOp::create(b, narrow, op.getLhs());
  Value isEach =
      vector::ReductionOp::create(b, vector::CombiningKind::AND, isSmall);
  auto branch = scf::IfOp::create(b, type, isEach, /*withElseRegion=*/true);
  op.getResult().replaceAllUsesWith(branch.getResult(0));
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, result);
  op->moveBefore(branch.elseBlock(), branch.elseBlock()->end());
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, op.getResult());
}
