//===- StepRanges.cpp - iterations that a load is there in ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A mask along K that is not the loop's own end, and what a descriptor has of a
// row, which is nothing before the first and behind the last one: of a block of
// iterations only those from one to another read.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Growth.h"
#include "cpu-backend/emit/StepBlocks.h"
#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// The first iteration of the block in which `number`, which grows, is not less
/// than `bound`, or how many there are.
OpFoldResult StepBlocks::firstNotLess(Value number, OpFoldResult bound) {
  auto growth = growthOf(number);
  auto step = growth ? constantOf(*growth) : std::nullopt;
  if (!step || *step <= 0)
    return {};
  Value begin = first(number);
  if (!begin)
    return {};
  Location loc = number.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value far = toValue(b, loc, subIndex(b, loc, bound, inIndex(b, loc, begin)));
  far = arith::MaxSIOp::create(b, loc, far, constant(0));
  if (*step != 1) {
    far = arith::AddIOp::create(b, loc, far, constant(*step - 1));
    far = arith::DivUIOp::create(b, loc, far, constant(*step));
  }
  return arith::MinSIOp::create(b, loc, far, toValue(b, loc, count))
      .getResult();
}

/// The loop counts up from there.
static bool isNeverLess(scf::ForOp loop, Value number, OpFoldResult bound) {
  if (auto cast = number.getDefiningOp<arith::IndexCastOp>())
    number = cast.getIn();
  auto least = getConstantIntValue(loop.getLowerBound()),
       constant = getConstantIntValue(bound);
  return number == loop.getInductionVar() && least && constant &&
         *least >= *constant;
}

bool StepBlocks::addBound(Value number, OpFoldResult bound, bool isLower,
                          StepRange &range) {
  if (isLower && isNeverLess(loop, number, bound))
    return true;
  OpFoldResult at = firstNotLess(number, bound);
  if (!at)
    return false;
  Location loc = number.getLoc();
  bool isFirst =
      isLower ? getConstantIntValue(range.from) == 0 : range.until == count;
  if (isFirst)
    (isLower ? range.from : range.until) = at;
  else if (isLower)
    range.from = arith::MaxSIOp::create(b, loc, toValue(b, loc, range.from),
                                        toValue(b, loc, at))
                     .getResult();
  else
    range.until = arith::MinSIOp::create(b, loc, toValue(b, loc, range.until),
                                         toValue(b, loc, at))
                      .getResult();
  range.isAll = false;
  return true;
}

/// `condition` holds in the iterations of `range` alone.
bool StepBlocks::addCondition(Value condition, StepRange &range) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return addCondition(both.getLhs(), range) &&
           addCondition(both.getRhs(), range);
  Location loc = condition.getLoc();
  if (isFixed(condition)) {
    Value none = arith::ConstantIndexOp::create(b, loc, 0);
    range.isAll = false;
    range.until = arith::SelectOp::create(b, loc, condition,
                                          toValue(b, loc, range.until), none)
                      .getResult();
    return true;
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return false;
  Value number = compare.getLhs(), bound = compare.getRhs();
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = compare.getPredicate();
  if (isFixed(number)) {
    std::swap(number, bound);
    switch (predicate) {
    case Predicate::slt:
      predicate = Predicate::sgt;
      break;
    case Predicate::sle:
      predicate = Predicate::sge;
      break;
    case Predicate::sgt:
      predicate = Predicate::slt;
      break;
    case Predicate::sge:
      predicate = Predicate::sle;
      break;
    default:
      return false;
    }
  }
  if (!isFixed(bound) || !llvm::is_contained({Predicate::slt, Predicate::sle,
                                              Predicate::sgt, Predicate::sge},
                                             predicate))
    return false;
  OpFoldResult at = inIndex(b, loc, bound);
  if (predicate == Predicate::sle || predicate == Predicate::sgt)
    at = addIndex(b, loc, at, b.getIndexAttr(1));
  bool isLower = predicate == Predicate::sge || predicate == Predicate::sgt;
  return addBound(number, at, isLower, range);
}

/// How much of a block is inside in the iterations of `range`, which becomes
/// smaller where that is nothing in others; once the loop has ended, nothing
/// is.
OpFoldResult StepBlocks::insideOfSteps(OpFoldResult size, StepRange &range) {
  auto value = dyn_cast<Value>(size);
  auto select = value ? value.getDefiningOp<arith::SelectOp>() : nullptr;
  if (!select || isFixed(value) ||
      !matchPattern(select.getFalseValue(), m_Zero()))
    return size;
  auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
  bool isLoops = compare &&
                 compare.getPredicate() == arith::CmpIPredicate::slt &&
                 compare.getLhs() == loop.getInductionVar() &&
                 compare.getRhs() == loop.getUpperBound();
  if (!isLoops && !addCondition(select.getCondition(), range))
    return {};
  return select.getTrueValue();
}

/// `value` is max(x, 0) of an x; null if not.
static Value notBelowZero(Value value) {
  auto most = value.getDefiningOp<arith::MaxSIOp>();
  if (!most)
    return {};
  return matchPattern(most.getRhs(), m_Zero()) ? most.getLhs() : Value();
}

/// A descriptor's row, or column, of one element: where it begins,
/// min(max(x, 0), end), or end - 1 in place of the end, and how much of it is
/// in the array, max(min(x + 1, end) - max(x, 0), 0). Gives x.
Value StepBlocks::rowOfArray(OpFoldResult begin, OpFoldResult inside,
                             StepRange &range) {
  auto beginValue = dyn_cast<Value>(begin),
       insideValue = dyn_cast<Value>(inside);
  auto clamped = beginValue ? beginValue.getDefiningOp<arith::MinSIOp>()
                            : arith::MinSIOp();
  Value length = insideValue ? notBelowZero(insideValue) : Value();
  auto difference =
      length ? length.getDefiningOp<arith::SubIOp>() : arith::SubIOp();
  if (!clamped || !difference)
    return {};
  Value row = notBelowZero(clamped.getLhs());
  auto next = difference.getLhs().getDefiningOp<arith::MinSIOp>();
  if (!row || !next || notBelowZero(difference.getRhs()) != row)
    return {};
  Value end = next.getRhs(), most = clamped.getRhs();
  auto last = most.getDefiningOp<arith::SubIOp>();
  bool isLast =
      last && last.getLhs() == end && matchPattern(last.getRhs(), m_One());
  if (!isFixed(end) || (most != end && !isLast))
    return {};
  auto one = next.getLhs().getDefiningOp<arith::AddIOp>();
  if (!one || one.getLhs() != row || !matchPattern(one.getRhs(), m_One()) ||
      !addBound(row, b.getIndexAttr(0), /*isLower=*/true, range) ||
      !addBound(row, end, /*isLower=*/false, range))
    return {};
  return row;
}
