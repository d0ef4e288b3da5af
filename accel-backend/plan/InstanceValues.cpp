//===- InstanceValues.cpp - integers of all programs at once --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/InstanceValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <functional>

using namespace mlir;
using tilebridge::accel::InstanceValues;
using Row = InstanceValues::Row;

// Index counts as 64 bits wide; 0 where the type is no scalar integer of at
// most that many.
static unsigned widthOf(Type type) {
  if (type.isIndex())
    return 64;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.getWidth() <= 64 ? integer.getWidth() : 0;
}

static int64_t wrapped(int64_t value, unsigned width) {
  return width ? llvm::SignExtend64(uint64_t(value), width) : value;
}

static uint64_t asUnsigned(int64_t value, unsigned width) {
  return uint64_t(value) & llvm::maskTrailingOnes<uint64_t>(width);
}

void InstanceValues::seed(Value value, Row row) {
  assert(row.size() == count && "one value for each instance");
  rows[value] = std::make_unique<Row>(std::move(row));
}

const Row *InstanceValues::get(Value value) {
  if (auto it = rows.find(value); it != rows.end())
    return it->second.get();
  // While it is computed, and where it fails, it is unknown.
  rows[value] = nullptr;
  unsigned width = widthOf(value.getType());
  Operation *op = value.getDefiningOp();
  if (!width || !op || op->getNumResults() != 1)
    return nullptr;
  // A chain that is longer than the stack bears is as good as unknown.
  if (depth == 2000)
    return nullptr;
  ++depth;
  std::optional<Row> row = compute(op);
  --depth;
  if (!row)
    return nullptr;
  for (int64_t &each : *row)
    each = wrapped(each, width);
  auto &place = rows[value];
  place = std::make_unique<Row>(std::move(*row));
  return place.get();
}

namespace {
/// One operation on the numbers of one instance; none where the operation is
/// undefined there (a division by zero, a shift that is too far).
using Function =
    std::function<std::optional<int64_t>(ArrayRef<int64_t> operands)>;
} // namespace

// Sums and products wrap: they are computed unsigned.
static Function ofSums(Operation *op) {
  using Numbers = ArrayRef<int64_t>;
  return llvm::TypeSwitch<Operation *, Function>(op)
      .Case([](arith::AddIOp) {
        return [](Numbers n) -> std::optional<int64_t> {
          return int64_t(uint64_t(n[0]) + uint64_t(n[1]));
        };
      })
      .Case([](arith::SubIOp) {
        return [](Numbers n) -> std::optional<int64_t> {
          return int64_t(uint64_t(n[0]) - uint64_t(n[1]));
        };
      })
      .Case([](arith::MulIOp) {
        return [](Numbers n) -> std::optional<int64_t> {
          return int64_t(uint64_t(n[0]) * uint64_t(n[1]));
        };
      })
      .Case([](arith::AndIOp) {
        return [](Numbers n) -> std::optional<int64_t> { return n[0] & n[1]; };
      })
      .Case([](arith::OrIOp) {
        return [](Numbers n) -> std::optional<int64_t> { return n[0] | n[1]; };
      })
      .Case([](arith::XOrIOp) {
        return [](Numbers n) -> std::optional<int64_t> { return n[0] ^ n[1]; };
      })
      .Default(Function());
}

static Function ofQuotients(Operation *op, unsigned width) {
  using Numbers = ArrayRef<int64_t>;
  // Rounds toward zero, down or up; none by zero or where it overflows.
  auto divide = [width](int round, bool remainder) -> Function {
    return [=](Numbers n) -> std::optional<int64_t> {
      if (!n[1] || (n[1] == -1 && n[0] == llvm::minIntN(width)))
        return std::nullopt;
      int64_t quotient = n[0] / n[1], rest = n[0] % n[1];
      if (remainder)
        return rest;
      bool negative = (n[0] < 0) != (n[1] < 0);
      if (rest && round < 0 && negative)
        --quotient;
      if (rest && round > 0 && !negative)
        ++quotient;
      return quotient;
    };
  };
  auto divideUnsigned = [width](bool up, bool remainder) -> Function {
    return [=](Numbers n) -> std::optional<int64_t> {
      uint64_t a = asUnsigned(n[0], width), b = asUnsigned(n[1], width);
      if (!b)
        return std::nullopt;
      return int64_t(remainder ? a % b : a / b + (up && a % b ? 1 : 0));
    };
  };
  return llvm::TypeSwitch<Operation *, Function>(op)
      .Case([&](arith::DivSIOp) { return divide(0, false); })
      .Case([&](arith::FloorDivSIOp) { return divide(-1, false); })
      .Case([&](arith::CeilDivSIOp) { return divide(1, false); })
      .Case([&](arith::RemSIOp) { return divide(0, true); })
      .Case([&](arith::DivUIOp) { return divideUnsigned(false, false); })
      .Case([&](arith::CeilDivUIOp) { return divideUnsigned(true, false); })
      .Case([&](arith::RemUIOp) { return divideUnsigned(false, true); })
      .Default(Function());
}

static bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b,
                    unsigned width) {
  return arith::applyCmpPredicate(predicate, APInt(width, a, true),
                                  APInt(width, b, true));
}

static Function ofComparisons(Operation *op, unsigned width) {
  using Numbers = ArrayRef<int64_t>;
  using Predicate = arith::CmpIPredicate;
  auto choose = [width](Predicate predicate) -> Function {
    return [=](Numbers n) -> std::optional<int64_t> {
      return compare(predicate, n[0], n[1], width) ? n[0] : n[1];
    };
  };
  return llvm::TypeSwitch<Operation *, Function>(op)
      .Case([&](arith::MaxSIOp) { return choose(Predicate::sgt); })
      .Case([&](arith::MinSIOp) { return choose(Predicate::slt); })
      .Case([&](arith::MaxUIOp) { return choose(Predicate::ugt); })
      .Case([&](arith::MinUIOp) { return choose(Predicate::ult); })
      .Case([&](arith::CmpIOp compared) -> Function {
        Predicate predicate = compared.getPredicate();
        unsigned operands = widthOf(compared.getLhs().getType());
        return [=](Numbers n) -> std::optional<int64_t> {
          return compare(predicate, n[0], n[1], operands);
        };
      })
      .Case([](arith::SelectOp) {
        return [](Numbers n) -> std::optional<int64_t> {
          return n[0] ? n[1] : n[2];
        };
      })
      .Default(Function());
}

static Function ofBits(Operation *op, unsigned width) {
  using Numbers = ArrayRef<int64_t>;
  unsigned from =
      op->getNumOperands() ? widthOf(op->getOperand(0).getType()) : 0;
  auto shift = [width](auto apply) -> Function {
    return [=](Numbers n) -> std::optional<int64_t> {
      if (asUnsigned(n[1], width) >= width)
        return std::nullopt;
      return apply(n[0], n[1]);
    };
  };
  return llvm::TypeSwitch<Operation *, Function>(op)
      .Case([&](arith::ShLIOp) {
        return shift(
            [](int64_t a, int64_t b) { return int64_t(uint64_t(a) << b); });
      })
      .Case([&](arith::ShRSIOp) {
        return shift([](int64_t a, int64_t b) { return a >> b; });
      })
      .Case([&](arith::ShRUIOp) {
        return shift([=](int64_t a, int64_t b) {
          return int64_t(asUnsigned(a, width) >> b);
        });
      })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>([&](Operation *) {
        return [=](Numbers n) -> std::optional<int64_t> {
          return int64_t(asUnsigned(n[0], from));
        };
      })
      .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(
          [](Operation *) {
            return [](Numbers n) -> std::optional<int64_t> { return n[0]; };
          })
      .Default(Function());
}

static Function functionOf(Operation *op) {
  unsigned width = widthOf(op->getResult(0).getType());
  if (Function function = ofSums(op))
    return function;
  if (Function function = ofQuotients(op, width))
    return function;
  if (Function function = ofComparisons(op, width))
    return function;
  return ofBits(op, width);
}

std::optional<Row> InstanceValues::compute(Operation *op) {
  APInt constant;
  if (matchPattern(op, m_ConstantInt(&constant)))
    return Row(count, constant.getSExtValue());
  Function function = functionOf(op);
  if (!function)
    return std::nullopt;
  SmallVector<const Row *> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(get(operand));
    if (!operands.back())
      return std::nullopt;
  }
  Row result(count);
  SmallVector<int64_t> numbers(operands.size());
  for (size_t instance = 0; instance < count; ++instance) {
    for (auto [number, operand] : llvm::zip_equal(numbers, operands))
      number = (*operand)[instance];
    std::optional<int64_t> value = function(numbers);
    if (!value)
      return std::nullopt;
    result[instance] = *value;
  }
  return result;
}
