//===- PlaceBounds.cpp - between which numbers places are -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/PlaceBounds.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;
using arith::CmpIPredicate;

Value PlaceBounds::number(int64_t value) {
  return arith::ConstantIntOp::create(b, value, 64);
}

Value PlaceBounds::wide(Value value) { return toI64(b, b.getLoc(), value); }

Value PlaceBounds::min(Value x, Value y) {
  return arith::MinSIOp::create(b, x, y);
}

Value PlaceBounds::max(Value x, Value y) {
  return arith::MaxSIOp::create(b, x, y);
}

bool PlaceBounds::dependsOn(Value value) {
  if (value == index)
    return true;
  Operation *op = value.getDefiningOp();
  // It is used in its own block alone.
  if (!op || op->getBlock() != index.getParentBlock())
    return false;
  auto it = depending.find(value);
  if (it != depending.end())
    return it->second;
  bool result = llvm::any_of(op->getOperands(),
                             [&](Value operand) { return dependsOn(operand); });
  depending[value] = result;
  return result;
}

void PlaceBounds::require(Value holds) {
  condition = condition ? arith::AndIOp::create(b, condition, holds).getResult()
                        : holds;
}

void PlaceBounds::require(const Bounds &bounds, unsigned bits) {
  int64_t most = (int64_t(1) << (bits - 1)) - 1;
  require(
      arith::CmpIOp::create(b, CmpIPredicate::sle, bounds.most, number(most)));
  require(arith::CmpIOp::create(b, CmpIPredicate::sge, bounds.least,
                                number(-most - 1)));
}

PlaceBounds::Bounds PlaceBounds::around(const Bounds &x, const Bounds &y) {
  return {min(x.least, y.least), max(x.most, y.most)};
}

static unsigned widthOf(Value value) {
  return value.getType().isIndex() ? 64
                                   : value.getType().getIntOrFloatBitWidth();
}

/// Sums of two numbers of so many bits are none of more than 64.
static constexpr unsigned mostBits = 62;

std::optional<PlaceBounds::Bounds> PlaceBounds::of(Value value) {
  if (!value.getType().isIntOrIndex() || value.getType().isInteger(1))
    return std::nullopt;
  auto it = known.find(value);
  if (it != known.end())
    return it->second;
  std::optional<Bounds> bounds;
  if (value == index) {
    bounds = Bounds{number(0), number(size - 1)};
  } else if (!dependsOn(value)) {
    Value same = wide(value);
    bounds = Bounds{same, same};
    if (widthOf(value) > mostBits)
      require(*bounds, mostBits);
  } else {
    bounds = compute(value.getDefiningOp());
    if (bounds)
      require(*bounds, std::min(widthOf(value), mostBits));
  }
  known[value] = bounds;
  return bounds;
}

std::optional<PlaceBounds::Bounds> PlaceBounds::compute(Operation *op) {
  if (op->getNumRegions() != 0 || op->getNumResults() != 1)
    return std::nullopt;
  auto both = [&](auto make) -> std::optional<Bounds> {
    auto x = of(op->getOperand(0)), y = of(op->getOperand(1));
    if (!x || !y)
      return std::nullopt;
    return make(*x, *y);
  };
  auto add = [&](Value x, Value y) -> Value {
    return arith::AddIOp::create(b, x, y);
  };
  auto sub = [&](Value x, Value y) -> Value {
    return arith::SubIOp::create(b, x, y);
  };
  return llvm::TypeSwitch<Operation *, std::optional<Bounds>>(op)
      .Case([&](arith::AddIOp) {
        return both([&](const Bounds &x, const Bounds &y) {
          return Bounds{add(x.least, y.least), add(x.most, y.most)};
        });
      })
      .Case([&](arith::SubIOp) {
        return both([&](const Bounds &x, const Bounds &y) {
          return Bounds{sub(x.least, y.most), sub(x.most, y.least)};
        });
      })
      .Case([&](arith::MulIOp) { return ofProduct(op); })
      .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(
          [&](auto) { return of(op->getOperand(0)); })
      .Case([&](arith::ExtUIOp) -> std::optional<Bounds> {
        auto bounds = of(op->getOperand(0));
        if (bounds)
          require(arith::CmpIOp::create(b, CmpIPredicate::sge, bounds->least,
                                        number(0)));
        return bounds;
      })
      .Case<arith::DivSIOp, arith::RemSIOp>(
          [&](auto) { return ofDivision(op); })
      .Case([&](arith::SelectOp select) -> std::optional<Bounds> {
        auto x = of(select.getTrueValue()), y = of(select.getFalseValue());
        if (!x || !y)
          return std::nullopt;
        return around(*x, *y);
      })
      .Case([&](arith::MinSIOp) {
        return both([&](const Bounds &x, const Bounds &y) {
          return Bounds{min(x.least, y.least), min(x.most, y.most)};
        });
      })
      .Case([&](arith::MaxSIOp) {
        return both([&](const Bounds &x, const Bounds &y) {
          return Bounds{max(x.least, y.least), max(x.most, y.most)};
        });
      })
      .Case([&](math::AbsIOp) -> std::optional<Bounds> {
        auto x = of(op->getOperand(0));
        if (!x)
          return std::nullopt;
        Value zero = number(0), mirrored = sub(zero, x->least);
        return Bounds{max(zero, max(x->least, sub(zero, x->most))),
                      max(mirrored, x->most)};
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// One factor is the same for all indices.
std::optional<PlaceBounds::Bounds> PlaceBounds::ofProduct(Operation *op) {
  auto x = of(op->getOperand(0)), y = of(op->getOperand(1));
  if (!x || !y)
    return std::nullopt;
  if (x->least == x->most)
    std::swap(x, y);
  if (y->least != y->most)
    return std::nullopt;
  constexpr unsigned half = 32;
  if (widthOf(op->getResult(0)) > half) {
    require(*x, half);
    require(*y, half);
  }
  Value first = arith::MulIOp::create(b, x->least, y->least),
        last = arith::MulIOp::create(b, x->most, y->least);
  return Bounds{min(first, last), max(first, last)};
}

/// By a number above 0, of numbers that are none below.
std::optional<PlaceBounds::Bounds> PlaceBounds::ofDivision(Operation *op) {
  auto x = of(op->getOperand(0)), by = of(op->getOperand(1));
  if (!x || !by || by->least != by->most)
    return std::nullopt;
  Value zero = number(0), one = number(1), divisor = by->least;
  require(arith::CmpIOp::create(b, CmpIPredicate::sge, x->least, zero));
  require(arith::CmpIOp::create(b, CmpIPredicate::sgt, divisor, zero));
  if (isa<arith::RemSIOp>(op))
    return Bounds{zero,
                  min(x->most, Value(arith::SubIOp::create(b, divisor, one)))};
  // Division by 0 gives no number.
  divisor = max(divisor, one);
  auto quotient = [&](Value of) -> Value {
    // As few bits as the program divides: that takes less time.
    Type type = op->getResult(0).getType();
    if (!type.isInteger(32))
      return arith::DivSIOp::create(b, of, divisor);
    Value narrow =
        arith::DivUIOp::create(b, arith::TruncIOp::create(b, type, of),
                               arith::TruncIOp::create(b, type, divisor));
    return arith::ExtUIOp::create(b, b.getI64Type(), narrow);
  };
  return Bounds{quotient(x->least), quotient(x->most)};
}

View tilebridge::cpu::rowAround(Emitter &emitter, Operation *op,
                                const View &from, Value &unknown) {
  auto gather = cast<linalg_ext::GatherOp>(op);
  ImplicitLocOpBuilder b(op->getLoc(), emitter.builder());
  // A value that nothing else uses.
  Value first = arith::ConstantIndexOp::create(b, 0);
  Value place = emitter.scalarAt(gather.getOffsets(), first);
  PlaceBounds bounds(b, first, gather.getOffsets().getType().getDimSize(0));
  auto row = place ? bounds.of(place) : std::nullopt;
  Value holds = bounds.hold();
  if (!row)
    holds = arith::ConstantIntOp::create(b, 0, 1);
  if (holds)
    unknown =
        arith::XOrIOp::create(b, holds, arith::ConstantIntOp::create(b, 1, 1));
  View view = from;
  view.shape = {ShapedType::kDynamic};
  view.strides = {b.getIndexAttr(1)};
  view.lo = {b.getIndexAttr(0)};
  view.hi = {b.getIndexAttr(1)};
  if (!row)
    return view;
  Location loc = op->getLoc();
  Value least = arith::IndexCastOp::create(b, b.getIndexType(), row->least),
        most = arith::IndexCastOp::create(b, b.getIndexType(), row->most);
  view.offset = addIndex(b, loc, view.offset, least);
  view.hi = {
      addIndex(b, loc, subIndex(b, loc, most, least), b.getIndexAttr(1))};
  return view;
}
