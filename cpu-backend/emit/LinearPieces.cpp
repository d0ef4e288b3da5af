//===- LinearPieces.cpp - how far integers grow evenly --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/LinearPieces.h"
#include "cpu-backend/emit/ScalarSlice.h"
#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilebridge::cpu;
using arith::CmpIPredicate;

Value LinearPieces::number(int64_t value) {
  return arith::ConstantIntOp::create(b, value, 64);
}

Value LinearPieces::wide(Value value, bool isSigned) {
  return toI64(b, b.getLoc(), value, isSigned);
}

Value LinearPieces::toWide(OpFoldResult value) {
  if (auto known = getConstantIntValue(value))
    return number(*known);
  return cast<Value>(value);
}

unsigned LinearPieces::widthOf(Value value) {
  return value.getType().isIndex() ? 64
                                   : value.getType().getIntOrFloatBitWidth();
}

bool LinearPieces::dependsOn(Value value) const {
  return value == index || value.getParentBlock() == block;
}

std::optional<OpFoldResult> LinearPieces::growthOf(Value value) {
  if (!value.getType().isIntOrIndex() || !dependsOn(value))
    return value.getType().isIntOrIndex() ? Growth(constant(0)) : Growth();
  auto it = known.find(value);
  if (it != known.end())
    return it->second;
  Growth growth = computeGrowth(value);
  if (!repeatAlike(value, growth))
    growth = std::nullopt;
  known[value] = growth;
  return growth;
}

/// All that a value grows with does so at the same indices, and so does the
/// value.
bool LinearPieces::repeatAlike(Value value, Growth growth) {
  Operation *op = value.getDefiningOp();
  if (!growth || value == index || !op || repeats.count(value))
    return true;
  int64_t every = 0;
  for (Value operand : op->getOperands()) {
    Growth grows = growthOf(operand);
    if (!grows || getConstantIntValue(*grows) == 0)
      continue;
    if (every != 0 && every != repeatsOf(operand))
      return false;
    every = repeatsOf(operand);
  }
  if (every > 1 && getConstantIntValue(*growth) != 0)
    repeats[value] = every;
  return true;
}

bool LinearPieces::isSame(Value value) {
  if (!dependsOn(value))
    return true;
  if (value.getType().isIntOrIndex()) {
    Growth growth = growthOf(value);
    return growth && getConstantIntValue(*growth) == 0;
  }
  Operation *op = value.getDefiningOp();
  return op && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isSame(operand); });
}

LinearPieces::Growth LinearPieces::computeGrowth(Value value) {
  if (value == index)
    return constant(1);
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0)
    return std::nullopt;
  // What all its operands give alike.
  if (llvm::all_of(op->getOperands(),
                   [&](Value operand) { return isSame(operand); }))
    return constant(0);
  auto both = [&](bool adds) -> Growth {
    Growth left = growthOf(op->getOperand(0)),
           right = growthOf(op->getOperand(1));
    if (!left || !right)
      return std::nullopt;
    auto one = getConstantIntValue(*left), other = getConstantIntValue(*right);
    if (one && other)
      return constant(adds ? *one + *other : *one - *other);
    if (other == 0)
      return left;
    if (one == 0 && adds)
      return right;
    Value x = toWide(*left), y = toWide(*right);
    return OpFoldResult(adds ? arith::AddIOp::create(b, x, y).getResult()
                             : arith::SubIOp::create(b, x, y).getResult());
  };
  return llvm::TypeSwitch<Operation *, Growth>(op)
      .Case([&](arith::AddIOp) { return both(true); })
      .Case([&](arith::SubIOp) { return both(false); })
      .Case([&](arith::MulIOp) { return ofProduct(op); })
      .Case<arith::ExtSIOp>([&](auto) { return ofExtension(op, true); })
      .Case<arith::ExtUIOp>([&](auto) { return ofExtension(op, false); })
      .Case([&](arith::TruncIOp) { return growthOf(op->getOperand(0)); })
      .Case([&](arith::IndexCastOp) { return ofExtension(op, true); })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
          [&](auto) { return ofDivision(op); })
      .Case([&](arith::CmpIOp compare) { return ofComparison(compare); })
      .Case([&](arith::SelectOp select) -> Growth {
        Growth condition = growthOf(select.getCondition()),
               left = growthOf(select.getTrueValue()),
               right = growthOf(select.getFalseValue());
        if (!condition || getConstantIntValue(*condition) != 0 || !left ||
            !right)
          return std::nullopt;
        return ofSelection(select.getCondition(), *left, *right);
      })
      .Case<arith::MaxSIOp, arith::MinSIOp>([&](auto) { return ofExtreme(op); })
      .Case([&](math::AbsIOp) { return ofMagnitude(op->getOperand(0)); })
      .Default([](Operation *) { return std::nullopt; });
}

LinearPieces::Growth LinearPieces::ofProduct(Operation *op) {
  Value left = op->getOperand(0), right = op->getOperand(1);
  Growth one = growthOf(left), other = growthOf(right);
  if (!one || !other)
    return std::nullopt;
  if (getConstantIntValue(*one) == 0) {
    std::swap(left, right);
    std::swap(one, other);
  }
  if (getConstantIntValue(*other) != 0)
    return std::nullopt;
  auto grows = getConstantIntValue(*one);
  APInt by;
  if (grows && matchPattern(right, m_ConstantInt(&by)))
    return constant(*grows * by.getSExtValue());
  Value factor = wide(right);
  if (grows == 1)
    return OpFoldResult(factor);
  return OpFoldResult(
      arith::MulIOp::create(b, toWide(*one), factor).getResult());
}

/// A cast to as many bits or fewer keeps the lowest ones, and so how they grow.
LinearPieces::Growth LinearPieces::ofExtension(Operation *op, bool isSigned) {
  Value from = op->getOperand(0);
  Growth growth = growthOf(from);
  if (growth && widthOf(from) < widthOf(op->getResult(0)))
    keepInRange(from, *growth, isSigned);
  return growth;
}

void LinearPieces::keepWithin(Value condition, Value room, OpFoldResult growth,
                              int64_t every) {
  Value steps, one = number(1);
  auto known = getConstantIntValue(growth);
  if (known == 1)
    steps = arith::AddIOp::create(b, room, one);
  else if (known)
    steps = arith::AddIOp::create(
        b, arith::DivUIOp::create(b, room, number(*known)), one);
  if (!steps) {
    // Divisions take long, and steps are mostly 0 or 1.
    Value grows = cast<Value>(growth);
    auto is = [&](int64_t value) -> Value {
      return arith::CmpIOp::create(b, CmpIPredicate::eq, grows, number(value));
    };
    steps = arith::SelectOp::create(b, is(1),
                                    arith::AddIOp::create(b, room, one), one);
    steps = arith::SelectOp::create(b, is(0), left, steps);
  }
  // A room of all numbers and one more are 0.
  if (!isChecked) {
    Value isNone =
        arith::CmpIOp::create(b, CmpIPredicate::eq, steps, number(0));
    steps = arith::SelectOp::create(b, isNone, left, steps);
  }
  // Some of the indices that have the first number may be before this one.
  if (every > 1) {
    steps = arith::MulIOp::create(b, arith::MinUIOp::create(b, steps, left),
                                  number(every));
    steps = arith::SubIOp::create(
        b, steps, arith::AndIOp::create(b, wide(index), number(every - 1)));
  }
  if (condition)
    steps = arith::SelectOp::create(b, condition, steps, left);
  // What shrinks may do so wherever it is.
  if (!known) {
    Value shrinks = arith::CmpIOp::create(b, CmpIPredicate::slt,
                                          cast<Value>(growth), number(0));
    steps = arith::SelectOp::create(b, shrinks, one, steps);
  }
  length = arith::MinUIOp::create(b, length, steps);
}

void LinearPieces::keepInRange(Value x, OpFoldResult growth, bool isSigned) {
  unsigned width = widthOf(x);
  auto known = getConstantIntValue(growth);
  if (width == 64 || known == 0 || isChecked)
    return;
  // At its last index it is what it is said to be, or else it is not asked
  // where it runs over.
  Value last = arith::AddIOp::create(
      b, wide(x, isSigned),
      arith::MulIOp::create(b, toWide(growth),
                            arith::SubIOp::create(b, left, number(1))));
  int64_t least = isSigned ? -(int64_t(1) << (width - 1)) : 0;
  Value from = arith::SubIOp::create(b, last, number(least));
  Value fits = arith::CmpIOp::create(b, CmpIPredicate::ult, from,
                                     number(int64_t(1) << width));
  if (!known) {
    // A product that has run over says nothing.
    Value growthFits = arith::CmpIOp::create(
        b, CmpIPredicate::ult,
        arith::AddIOp::create(b, cast<Value>(growth),
                              number(int64_t(1) << (width - 1))),
        number(int64_t(1) << width));
    fits = arith::AndIOp::create(b, fits, growthFits);
  }
  Value most = arith::SelectOp::create(b, fits, left, number(1));
  length = arith::MinUIOp::create(b, length, most);
}

bool LinearPieces::mayGrow(OpFoldResult growth) {
  auto known = getConstantIntValue(growth);
  return !known || *known >= 0;
}

/// The quotient by a power of two, up to `mostRepeats`, of what grows by 1.
/// Noted is the index where a step begins.
bool LinearPieces::growsBySteps(Operation *op, OpFoldResult growth) {
  Value x = op->getOperand(0);
  APInt by;
  if (!isa<arith::DivSIOp, arith::DivUIOp>(op) ||
      getConstantIntValue(growth) != 1 || repeatsOf(x) != 1 ||
      !matchPattern(op->getOperand(1), m_ConstantInt(&by)) ||
      !by.isPowerOf2() || by.isOne() || by.ugt(mostRepeats))
    return false;
  int64_t every = by.getZExtValue();
  Value distance = arith::SubIOp::create(b, wide(x), wide(index));
  Value isAtStep = arith::CmpIOp::create(
      b, CmpIPredicate::eq,
      arith::AndIOp::create(b, distance, number(every - 1)), number(0));
  length = arith::MinUIOp::create(
      b, length, arith::SelectOp::create(b, isAtStep, left, number(1)));
  repeats[op->getResult(0)] = every;
  return true;
}

/// As it does so of a number that divides `divisor`. That is noted, too.
bool LinearPieces::staysBetween(Value dividend, const APInt &divisor) {
  if (!divisor.isStrictlyPositive())
    return false;
  bool stays = llvm::any_of(between, [&](const auto &known) {
    return known.first == dividend && divisor.urem(known.second) == 0;
  });
  between.push_back({dividend, divisor});
  return stays;
}

LinearPieces::Growth LinearPieces::ofDivision(Operation *op) {
  Value x = op->getOperand(0), by = op->getOperand(1);
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp>(op);
  bool isRest = isa<arith::RemSIOp, arith::RemUIOp>(op);
  Growth growth = growthOf(x), other = growthOf(by);
  if (!growth || !other || getConstantIntValue(*other) != 0 ||
      !mayGrow(*growth))
    return std::nullopt;
  if (BlockArgument argument = scalarArgumentOf(by))
    if (!isRest && getConstantIntValue(*growth) != 0)
      divisorArguments.insert(argument);
  keepInRange(x, *growth, isSigned);
  // Quotients are rounded down where nothing is negative.
  Value dividend = wide(x, isSigned), divisor = wide(by, isSigned);
  Value zero = number(0), one = number(1);
  if (!isChecked) {
    Value isUsual = arith::CmpIOp::create(b, CmpIPredicate::sgt, divisor, zero);
    isUsual = arith::AndIOp::create(
        b, isUsual,
        arith::CmpIOp::create(b, CmpIPredicate::sge, dividend, zero));
    Value most = arith::SelectOp::create(b, isUsual, left, one);
    length = arith::MinUIOp::create(b, length, most);
  }
  if (growsBySteps(op, *growth))
    return constant(1);
  APInt known;
  bool isKnown = matchPattern(by, m_ConstantInt(&known));
  if (isKnown && (known.isOne() || staysBetween(x, known)))
    return isRest != known.isOne() ? growth : Growth(constant(0));
  Value rest = isSigned ? arith::RemSIOp::create(b, x, by).getResult()
                        : arith::RemUIOp::create(b, x, by).getResult();
  Value room = arith::SubIOp::create(
      b, arith::SubIOp::create(b, divisor, wide(rest, isSigned)), one);
  // By 1 nothing is left over, and there is no room: each is one more.
  Value divides;
  if (!isKnown && asksForOne)
    divides = arith::CmpIOp::create(b, CmpIPredicate::ne, divisor, one);
  keepWithin(divides, room, *growth, repeatsOf(x));
  if (!divides)
    return isRest ? growth : Growth(constant(0));
  return isRest ? ofSelection(divides, *growth, constant(0))
                : ofSelection(divides, constant(0), *growth);
}

LinearPieces::Growth LinearPieces::ofSelection(Value condition,
                                               OpFoldResult whenTrue,
                                               OpFoldResult whenFalse) {
  auto left = getConstantIntValue(whenTrue),
       right = getConstantIntValue(whenFalse);
  if (left && left == right)
    return whenTrue;
  return OpFoldResult(
      arith::SelectOp::create(b, condition, toWide(whenTrue), toWide(whenFalse))
          .getResult());
}
