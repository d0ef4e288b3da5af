//===- SafeDivision.cpp - integer divisions that do not trap --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/SafeDivision.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// What divides by zero, or overflows, is undefined in one lane only; the CPU's
/// integer division would end the process. Such lanes are divided by one.
static Value safeDivisor(OpBuilder &builder, Operation *op) {
  Value dividend = op->getOperand(0), divisor = op->getOperand(1);
  Location loc = op->getLoc();
  Type type = divisor.getType();
  Type element = getElementTypeOrSelf(type);
  auto constant = [&](const APInt &value) -> Value {
    TypedAttr attr = IntegerAttr::get(element, value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(builder, loc, attr);
  };
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp,
                      arith::CeilDivSIOp>(op);
  APInt known;
  if (matchPattern(divisor, m_ConstantInt(&known)) && !known.isZero() &&
      !(isSigned && known.isAllOnes()))
    return divisor;
  auto is = [&](Value value, const APInt &what) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value,
                                 constant(what));
  };
  Value bad = is(divisor, APInt::getZero(bits));
  if (isSigned) {
    Value overflow = arith::AndIOp::create(
        builder, loc, is(divisor, APInt::getAllOnes(bits)),
        is(dividend, APInt::getSignedMinValue(bits)));
    bad = arith::OrIOp::create(builder, loc, bad, overflow);
  }
  return arith::SelectOp::create(builder, loc, bad, constant(APInt(bits, 1)),
                                 divisor);
}

void tilebridge::cpu::makeDivisionsSafe(Operation *root, int64_t vectorBits) {
  root->walk([&](Operation *op) {
    if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
      return;
    op = divideByFloats(op, vectorBits);
    if (!op)
      return;
    OpBuilder builder(op);
    op->setOperand(1, safeDivisor(builder, op));
  });
}
