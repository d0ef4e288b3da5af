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

/// LLVM multiplies by a constant's inverse; what is left are vectors that it
/// would divide lane by lane, for want of instructions. Their quotients fit
/// into a double.
static bool dividesVectorsByReciprocal(Operation *op) {
  auto type = dyn_cast<VectorType>(op->getOperand(0).getType());
  return type && type.getElementType().isInteger(32) &&
         isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
             op) &&
         !matchPattern(op->getOperand(1), m_Constant());
}

/// The quotient is (|a| + 1/2) * (1 / |b|) without its fraction, and the sign.
/// The half keeps it 1 / (2 |b|) away from every integer; what the two
/// roundings add is below 2^-20 / |b|, so that it never reaches one. Where the
/// divisor is a loop's invariant, so is the reciprocal: it depends on the
/// dividend for nothing, which is why an overflow is repaired afterwards.
static void divideByReciprocal(OpBuilder &builder, Operation *op) {
  Value dividend = op->getOperand(0), divisor = op->getOperand(1);
  Location loc = op->getLoc();
  auto type = cast<VectorType>(dividend.getType());
  auto wide = type.clone(builder.getF64Type());
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp>(op);
  auto integer = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(
            type, Attribute(IntegerAttr::get(type.getElementType(), value))));
  };
  auto real = [&](double value) -> Value {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(wide,
                               Attribute(builder.getF64FloatAttr(value))));
  };
  auto compare = [&](arith::CmpIPredicate how, Value a,
                     const APInt &b) -> Value {
    return arith::CmpIOp::create(builder, loc, how, a, integer(b));
  };
  auto choose = [&](Value condition, Value a, Value b) -> Value {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  };
  auto toReal = [&](Value value) -> Value {
    if (isSigned)
      return arith::SIToFPOp::create(builder, loc, wide, value);
    return arith::UIToFPOp::create(builder, loc, wide, value);
  };

  APInt zero = APInt::getZero(32), least = APInt::getSignedMinValue(32);
  divisor = choose(compare(arith::CmpIPredicate::eq, divisor, zero),
                   integer(APInt(32, 1)), divisor);
  Value reciprocal =
      arith::DivFOp::create(builder, loc, real(1.0), toReal(divisor));
  Value half = real(0.5);
  if (isSigned)
    half = choose(compare(arith::CmpIPredicate::slt, dividend, zero),
                  real(-0.5), half);
  Value sum = arith::AddFOp::create(builder, loc, toReal(dividend), half);
  Value product = arith::MulFOp::create(builder, loc, sum, reciprocal);
  Value quotient;
  if (isSigned) {
    Value overflow = arith::AndIOp::create(
        builder, loc,
        compare(arith::CmpIPredicate::eq, divisor, APInt::getAllOnes(32)),
        compare(arith::CmpIPredicate::eq, dividend, least));
    product = choose(overflow, real(-0x1p31), product);
    quotient = arith::FPToSIOp::create(builder, loc, type, product);
  } else {
    quotient = arith::FPToUIOp::create(builder, loc, type, product);
  }
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    quotient = arith::SubIOp::create(
        builder, loc, dividend,
        arith::MulIOp::create(builder, loc, quotient, divisor));
  op->getResult(0).replaceAllUsesWith(quotient);
  op->erase();
}

void tilebridge::cpu::makeDivisionsSafe(Operation *root) {
  root->walk([](Operation *op) {
    if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
      return;
    OpBuilder builder(op);
    if (dividesVectorsByReciprocal(op)) {
      divideByReciprocal(builder, op);
      return;
    }
    op->setOperand(1, safeDivisor(builder, op));
  });
}
