//===- PieceRanges.cpp - masks that are ranges of a piece -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A picture that gets a margin is read where `0 <= column - left < width`, and
// the margin ends a piece of its places nowhere: these go on evenly. What is
// cut there are pieces of one element or two. Instead a piece is the whole row,
// with the range of its elements that exist.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/LinearPieces.h"
#include "cpu-backend/emit/View.h"

using namespace mlir;
using namespace tilebridge::cpu;
using arith::CmpIPredicate;

/// Of x that grows by 1 and u that does not: x is below u, or not above it, for
/// the first indices, as many as that.
bool LinearPieces::takeComparison(arith::CmpIOp op, Range &range) {
  Value x = op.getLhs(), u = op.getRhs();
  CmpIPredicate is = op.getPredicate();
  bool isSigned = is == CmpIPredicate::slt || is == CmpIPredicate::sge ||
                  is == CmpIPredicate::sle || is == CmpIPredicate::sgt;
  bool orEqual = is == CmpIPredicate::sle || is == CmpIPredicate::sgt;
  bool isNegated = is == CmpIPredicate::sge || is == CmpIPredicate::sgt;
  // Without a sign a number below 0 is above all others until it is 0.
  if (!isSigned)
    return false;
  Growth growth = growthOf(x), other = growthOf(u);
  if (!growth || !other)
    return false;
  if (getConstantIntValue(*other) != 0) {
    // u < x is no x <= u.
    std::swap(x, u);
    std::swap(growth, other);
    orEqual = !orEqual;
    isNegated = !isNegated;
  }
  if (getConstantIntValue(*growth) != 1 || getConstantIntValue(*other) != 0 ||
      repeatsOf(x) != 1)
    return false;
  keepInRange(x, *growth, /*isSigned=*/true);
  x = wide(x);
  u = wide(u);
  auto below = orEqual ? CmpIPredicate::sle : CmpIPredicate::slt;
  Value isBelow = arith::CmpIOp::create(b, below, x, u);
  Value room = arith::SubIOp::create(b, u, x), one = number(1), count;
  if (orEqual)
    count = arith::AddIOp::create(
        b, arith::MinUIOp::create(b, room, arith::SubIOp::create(b, left, one)),
        one);
  else
    count = arith::MinUIOp::create(b, room, left);
  count = arith::SelectOp::create(b, isBelow, count, number(0));
  Value &end = isNegated ? range.from : range.to;
  if (!end)
    end = count;
  else if (isNegated)
    end = arith::MaxSIOp::create(b, end, count);
  else
    end = arith::MinSIOp::create(b, end, count);
  return true;
}

bool LinearPieces::takeRange(Value mask, Range &range) {
  if (dependsOn(mask)) {
    if (auto both = mask.getDefiningOp<arith::AndIOp>())
      return takeRange(both.getLhs(), range) && takeRange(both.getRhs(), range);
    auto compare = mask.getDefiningOp<arith::CmpIOp>();
    if (compare && takeComparison(compare, range))
      return true;
    if (!isSame(mask))
      return false;
  }
  range.exists = range.exists
                     ? arith::AndIOp::create(b, range.exists, mask).getResult()
                     : mask;
  return true;
}
