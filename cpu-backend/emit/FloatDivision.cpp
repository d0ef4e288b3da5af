//===- FloatDivision.cpp - integer divisions of vectors by floats ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// No CPU divides vectors of integers: LLVM takes the lanes apart. A float with
// more bits than the integers gives the same quotients. What follows counts for
// integers of b bits and floats of p bits, with b = 32 and p = 53, or b <= 16
// and p = 24:
// - a / d, if it is no integer, is by 1 / d or more below the next one, and so
//   relatively by 1 / a or more: rounding, by 2^-p, does not reach it.
// - For one divisor for all lanes, (a + 1/2) * (1 / d) has the same integer
// part
//   as a / d, and is no integer: it is by a half of that apart from the
//   integers next to it, and two roundings do not get there either.
// Integers of 64 bits are mostly that small, too: with b = 50, which is tested
// when it runs. Only AVX-512 converts vectors of them; AVX2 adds them to the
// bits of 1.5 * 2^52, whose lowest one counts ones, and multiplies floats, as
// it has no product of such integers either.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/SafeDivision.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Scalar divisions of as few lanes are as quick.
static constexpr int64_t fewestLanes = 4;
/// The b of integers of 64 bits.
static constexpr int64_t smallBits = 50;

/// What all lanes of `value` are; null where that may differ.
static Value scalarOf(Value value) {
  auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
  if (!broadcast || isa<VectorType>(broadcast.getSource().getType()))
    return {};
  return broadcast.getSource();
}

namespace {
class FloatDivision {
public:
  FloatDivision(Operation *op, VectorType type, bool convertsWide)
      : b(op->getLoc(), op), type(type),
        addsBits(type.getElementTypeBitWidth() == 64 && !convertsWide),
        isSigned(isa<arith::DivSIOp, arith::RemSIOp>(op)),
        isRemainder(isa<arith::RemSIOp, arith::RemUIOp>(op)),
        dividend(op->getOperand(0)), divisor(op->getOperand(1)) {
    bool isWide = bits() > 16;
    floatType = isWide ? Type(b.getF64Type()) : Type(b.getF32Type());
    floats = type.clone(floatType);
  }

  Value result() {
    if (addsBits) {
      Value q = math::TruncOp::create(b, realQuotient());
      if (isRemainder)
        q = arith::SubFOp::create(
            b, toFloat(dividend, floats),
            arith::MulFOp::create(b, q, toFloat(divisor, floats)));
      return fromSmall(q);
    }
    Value q = quotient();
    if (!isRemainder)
      return q;
    return arith::SubIOp::create(b, dividend,
                                 arith::MulIOp::create(b, q, divisor));
  }

  void moveTo(Block *block) { b.setInsertionPointToEnd(block); }

  /// Whether the integers are small enough for floats.
  Value fits() {
    Value each = isSmall(dividend);
    Value one = scalarOf(divisor);
    if (!one)
      each = arith::AndIOp::create(b, each, isSmall(divisor));
    Value all =
        vector::ReductionOp::create(b, vector::CombiningKind::AND, each);
    return one ? arith::AndIOp::create(b, all, isSmall(one)).getResult() : all;
  }

private:
  int64_t bits() const { return type.getElementTypeBitWidth(); }

  Value realQuotient() {
    if (Value one = scalarOf(divisor)) {
      Value reciprocal = arith::DivFOp::create(
          b, constant(floatType, 1.0), toFloat(withoutZero(one), floatType));
      Value halves = constant(floats, 0.5);
      Value a = toFloat(dividend, floats);
      if (isSigned)
        halves = math::CopySignOp::create(b, halves, a);
      return arith::MulFOp::create(
          b, arith::AddFOp::create(b, a, halves),
          vector::BroadcastOp::create(b, floats, reciprocal));
    }
    return arith::DivFOp::create(b, toFloat(dividend, floats),
                                 toFloat(withoutZero(divisor), floats));
  }

  Value quotient() {
    Value real = realQuotient();
    if (!isSigned)
      return arith::FPToUIOp::create(b, type, real);
    if (bits() == 64)
      return arith::FPToSIOp::create(b, type, real);
    // The least integer by -1 wraps around, as that by one in scalar divisions.
    APInt least = APInt::getSignedMinValue(bits());
    Value isLess =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, real,
                              constant(floats, -least.signedRoundToDouble()));
    return arith::FPToSIOp::create(
        b, type,
        arith::SelectOp::create(b, isLess, real,
                                constant(floats, least.signedRoundToDouble())));
  }

  /// Of `value`'s lanes, or the scalar `value`.
  Value isSmall(Value value) {
    int64_t bound = int64_t(1) << smallBits;
    if (isSigned) {
      value = arith::AddIOp::create(b, value, integer(value.getType(), bound));
      bound *= 2;
    }
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, value,
                                 integer(value.getType(), bound));
  }

  Value integer(Type of, int64_t number) {
    TypedAttr attr = IntegerAttr::get(type.getElementType(), number);
    if (auto vector = dyn_cast<VectorType>(of))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(b, attr);
  }

  Value constant(Type of, double value) {
    TypedAttr attr = FloatAttr::get(floatType, value);
    if (auto vector = dyn_cast<VectorType>(of))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(b, attr);
  }

  /// One instead of zero.
  Value withoutZero(Value value) {
    Type of = value.getType();
    Value isZero = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, value,
                                         integer(of, 0));
    return arith::SelectOp::create(b, isZero, integer(of, 1), value);
  }

  Value toFloat(Value value, Type to) {
    if (addsBits && isa<VectorType>(to)) {
      Value bits = arith::AddIOp::create(b, value, integer(type, onesBits));
      return arith::SubFOp::create(b, arith::BitcastOp::create(b, floats, bits),
                                   constant(floats, ones));
    }
    return isSigned ? arith::SIToFPOp::create(b, to, value).getResult()
                    : arith::UIToFPOp::create(b, to, value).getResult();
  }

  /// The integers that small floats are.
  Value fromSmall(Value real) {
    Value sum = arith::AddFOp::create(b, real, constant(floats, ones));
    return arith::SubIOp::create(b, arith::BitcastOp::create(b, type, sum),
                                 integer(type, onesBits));
  }

  static constexpr double ones = 0x1.8p52;
  static constexpr int64_t onesBits = 0x4338000000000000;

  ImplicitLocOpBuilder b;
  VectorType type, floats;
  /// Instead of conversions.
  bool addsBits;
  bool isSigned, isRemainder;
  Value dividend, divisor;
  Type floatType;
};
} // namespace

/// LLVM has better for constants: products and shifts, or of 64 bits, whose
/// products it has to put together, for powers of two.
static bool isConstantForLlvm(Value divisor, bool isWide) {
  APInt number;
  Value one = scalarOf(divisor);
  if (!matchPattern(one ? one : divisor, m_ConstantInt(&number)))
    return matchPattern(divisor, m_Constant());
  return !isWide || number.isPowerOf2();
}

Operation *tilebridge::cpu::divideByFloats(Operation *op, int64_t vectorBits) {
  auto type = dyn_cast<VectorType>(op->getResult(0).getType());
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
          op) ||
      !type || !type.getElementType().isInteger() ||
      type.getElementTypeBitWidth() < 8 || type.getNumElements() < fewestLanes)
    return op;
  bool isWide = type.getElementTypeBitWidth() > 32;
  if (isWide && (type.getElementTypeBitWidth() != 64 || vectorBits < 256))
    return op;
  if (isConstantForLlvm(op->getOperand(1), isWide))
    return op;
  FloatDivision division(op, type, /*convertsWide=*/vectorBits >= 512);
  if (!isWide) {
    op->getResult(0).replaceAllUsesWith(division.result());
    op->erase();
    return nullptr;
  }
  Location loc = op->getLoc();
  OpBuilder b(op);
  auto branch = scf::IfOp::create(b, loc, TypeRange{type}, division.fits(),
                                  /*withElseRegion=*/true);
  op->getResult(0).replaceAllUsesWith(branch.getResult(0));
  division.moveTo(branch.thenBlock());
  Value quick = division.result();
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, loc, quick);
  op->moveBefore(branch.elseBlock(), branch.elseBlock()->end());
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, loc, op->getResult(0));
  return op;
}
