//===- PieceComparisons.cpp - where one number passes another --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A comparison, or the smaller of two numbers, stays what it is up to the index
// at which the one that grows passes the other. Without a sign it may pass zero
// before that, as the indices of a block do that begins before its array.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/LinearPieces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace tilebridge::cpu;
using arith::CmpIPredicate;

bool LinearPieces::keepOrder(Value x, Value u, OpFoldResult growth,
                             bool isSigned, bool orEqual) {
  if (!mayGrow(growth))
    return false;
  keepInRange(x, growth, isSigned);
  int64_t every = repeatsOf(x);
  unsigned width = widthOf(x);
  x = wide(x, isSigned);
  u = wide(u, isSigned);
  auto below = orEqual ? (isSigned ? CmpIPredicate::sle : CmpIPredicate::ule)
                       : (isSigned ? CmpIPredicate::slt : CmpIPredicate::ult);
  Value isBelow = arith::CmpIOp::create(b, below, x, u);
  Value room = arith::SubIOp::create(b, u, x);
  if (!orEqual)
    room = arith::SubIOp::create(b, room, number(1));
  if (isSigned) {
    keepWithin(isBelow, room, growth, every);
    return true;
  }
  // What is above, as a number below 0 is, is 0 once it has run over.
  Value upToEnd = arith::SubIOp::create(
      b, number(width == 64 ? -1 : (int64_t(1) << width) - 1), x);
  upToEnd = arith::MinUIOp::create(b, upToEnd,
                                   number(std::numeric_limits<int64_t>::max()));
  keepWithin(/*condition=*/{},
             arith::SelectOp::create(b, isBelow, room, upToEnd), growth, every);
  return true;
}

bool LinearPieces::keepDifferent(Value x, Value u, OpFoldResult growth) {
  if (!keepOrder(x, u, growth, /*isSigned=*/true, /*orEqual=*/false))
    return false;
  Value isEqual = arith::CmpIOp::create(b, CmpIPredicate::eq, wide(x), wide(u));
  Value most = arith::SelectOp::create(b, isEqual, number(1), left);
  length = arith::MinUIOp::create(b, length, most);
  return true;
}

LinearPieces::Growth LinearPieces::ofComparison(arith::CmpIOp op) {
  Value x = op.getLhs(), u = op.getRhs();
  CmpIPredicate is = op.getPredicate();
  Growth growth = growthOf(x), other = growthOf(u);
  if (!growth || !other)
    return std::nullopt;
  bool isSwapped = getConstantIntValue(*other) != 0;
  if (isSwapped) {
    if (getConstantIntValue(*growth) != 0)
      return std::nullopt;
    std::swap(x, u);
    std::swap(growth, other);
  }
  bool holds;
  if (is == CmpIPredicate::eq || is == CmpIPredicate::ne) {
    holds = keepDifferent(x, u, *growth);
  } else {
    bool isSigned = is == CmpIPredicate::slt || is == CmpIPredicate::sge ||
                    is == CmpIPredicate::sle || is == CmpIPredicate::sgt;
    bool orEqual = is == CmpIPredicate::sle || is == CmpIPredicate::sgt ||
                   is == CmpIPredicate::ule || is == CmpIPredicate::ugt;
    // u < x is no x <= u.
    holds = keepOrder(x, u, *growth, isSigned, orEqual != isSwapped);
  }
  return holds ? Growth(constant(0)) : std::nullopt;
}

LinearPieces::Growth LinearPieces::ofExtreme(Operation *op) {
  Value x = op->getOperand(0), u = op->getOperand(1);
  Growth growth = growthOf(x), other = growthOf(u);
  if (!growth || !other)
    return std::nullopt;
  if (getConstantIntValue(*other) != 0) {
    std::swap(x, u);
    std::swap(growth, other);
  }
  if (getConstantIntValue(*other) != 0 ||
      !keepOrder(x, u, *growth, /*isSigned=*/true, /*orEqual=*/false))
    return std::nullopt;
  Value isBelow = arith::CmpIOp::create(b, CmpIPredicate::slt, x, u);
  return isa<arith::MinSIOp>(op) ? ofSelection(isBelow, *growth, constant(0))
                                 : ofSelection(isBelow, constant(0), *growth);
}

/// Of x that comes nearer to zero by 1 each time, so does its magnitude, up to
/// zero; of x that goes away from it the magnitude grows, wherever it ends.
/// That may be x of either growth, as the places of a picture that is mirrored
/// at its edges are `n - |n - |i||`.
LinearPieces::Growth LinearPieces::ofMagnitude(Value x) {
  Growth growth = growthOf(x);
  if (!growth)
    return std::nullopt;
  auto known = getConstantIntValue(*growth);
  if (known == 0)
    return constant(0);
  if ((known && *known != 1) || repeatsOf(x) != 1)
    return std::nullopt;
  keepInRange(x, *growth, /*isSigned=*/true);
  Value from = wide(x), by = toWide(*growth), zero = number(0), one = number(1);
  auto is = [&](CmpIPredicate predicate, Value left, Value right) -> Value {
    return arith::CmpIOp::create(b, predicate, left, right);
  };
  auto negated = [&](Value value) -> Value {
    return arith::SubIOp::create(b, zero, value);
  };
  Value isBelow = is(CmpIPredicate::slt, from, zero);
  Value distance =
      arith::SelectOp::create(b, isBelow, negated(from), from).getResult();
  // At zero itself it goes away.
  Value grows = arith::SelectOp::create(b, isBelow, negated(by), by);
  if (!known) {
    Value shrinksAtZero = arith::AndIOp::create(
        b, is(CmpIPredicate::eq, from, zero), is(CmpIPredicate::slt, by, zero));
    grows = arith::SelectOp::create(b, shrinksAtZero, negated(by), grows);
  }
  // Other steps may pass zero between two elements.
  Value steps = arith::SelectOp::create(b, is(CmpIPredicate::slt, grows, zero),
                                        one, left);
  steps =
      arith::SelectOp::create(b, is(CmpIPredicate::eq, grows, number(-1)),
                              arith::AddIOp::create(b, distance, one), steps);
  length = arith::MinUIOp::create(b, length, steps);
  return OpFoldResult(grows);
}
