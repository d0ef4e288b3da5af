//===- Floats.cpp - arithmetic of floats ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A sum, product, quotient or root of two floats of at most 24 bits, computed
// in double and then rounded, is the correctly rounded one: double has more
// than twice the bits and two.

#include "reference/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace tilebridge::reference {

static bool compare(arith::CmpFPredicate predicate, double x, double y) {
  bool isUnordered = std::isnan(x) || std::isnan(y);
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return false;
  case arith::CmpFPredicate::AlwaysTrue:
    return true;
  case arith::CmpFPredicate::ORD:
    return !isUnordered;
  case arith::CmpFPredicate::UNO:
    return isUnordered;
  case arith::CmpFPredicate::OEQ:
    return x == y;
  case arith::CmpFPredicate::OGT:
    return x > y;
  case arith::CmpFPredicate::OGE:
    return x >= y;
  case arith::CmpFPredicate::OLT:
    return x < y;
  case arith::CmpFPredicate::OLE:
    return x <= y;
  case arith::CmpFPredicate::ONE:
    return !isUnordered && x != y;
  case arith::CmpFPredicate::UEQ:
    return isUnordered || x == y;
  case arith::CmpFPredicate::UGT:
    return isUnordered || x > y;
  case arith::CmpFPredicate::UGE:
    return isUnordered || x >= y;
  case arith::CmpFPredicate::ULT:
    return isUnordered || x < y;
  case arith::CmpFPredicate::ULE:
    return isUnordered || x <= y;
  case arith::CmpFPredicate::UNE:
    return isUnordered || x != y;
  }
  llvm_unreachable("all predicates are listed");
}

static LogicalResult evaluateCompare(Program &program, Operation *op) {
  auto cmp = cast<arith::CmpFOp>(op);
  LaneReader x(program.lanes(cmp.getLhs())), y(program.lanes(cmp.getRhs()));
  auto type = cast<FloatType>(cmp.getLhs().getType());
  setElements(program, op, [&](size_t i) {
    return compare(cmp.getPredicate(), toDouble(x[i], type),
                   toDouble(y[i], type));
  });
  return success();
}

/// The larger one; of two zeros the positive one.
static double larger(double x, double y) {
  if (x == y)
    return std::signbit(x) ? y : x;
  return x > y ? x : y;
}

static double smaller(double x, double y) { return -larger(-x, -y); }

static void addExtrema(HandlerTable &table) {
  // NaN wins ...
  addFloatBinary<arith::MaximumFOp>(table, [](double x, double y) {
    return std::isnan(x) ? x : std::isnan(y) ? y : larger(x, y);
  });
  addFloatBinary<arith::MinimumFOp>(table, [](double x, double y) {
    return std::isnan(x) ? x : std::isnan(y) ? y : smaller(x, y);
  });
  // ... or loses.
  addFloatBinary<arith::MaxNumFOp>(table, [](double x, double y) {
    return std::isnan(x) ? y : std::isnan(y) ? x : larger(x, y);
  });
  addFloatBinary<arith::MinNumFOp>(table, [](double x, double y) {
    return std::isnan(x) ? y : std::isnan(y) ? x : smaller(x, y);
  });
}

/// Signs are bits: those of NaN change too.
static void addSigns(HandlerTable &table) {
  auto signBit = [](unsigned width) { return uint64_t(1) << (width - 1); };
  addIntegerUnary<arith::NegFOp>(
      table, [=](uint64_t x, unsigned width) { return x ^ signBit(width); });
  addIntegerUnary<math::AbsFOp>(
      table, [=](uint64_t x, unsigned width) { return x & ~signBit(width); });
  addIntegerBinary<math::CopySignOp>(
      table, [=](uint64_t x, uint64_t y, unsigned width) {
        return (x & ~signBit(width)) | (y & signBit(width));
      });
}

static LogicalResult evaluateFma(Program &program, Operation *op) {
  LaneReader x(program.lanes(op->getOperand(0)));
  LaneReader y(program.lanes(op->getOperand(1)));
  LaneReader z(program.lanes(op->getOperand(2)));
  auto type = cast<FloatType>(op->getResult(0).getType());
  setElements(program, op, [&](size_t i) {
    llvm::APFloat result = toAPFloat(x[i], type);
    result.fusedMultiplyAdd(toAPFloat(y[i], type), toAPFloat(z[i], type),
                            llvm::RoundingMode::NearestTiesToEven);
    return fromAPFloat(result);
  });
  return success();
}

template <typename OpT>
static void addClass(HandlerTable &table, bool (*is)(double)) {
  table.add<OpT>([is](Program &program, Operation *op) {
    LaneReader x(program.lanes(op->getOperand(0)));
    auto type = cast<FloatType>(op->getOperand(0).getType());
    setElements(program, op,
                [&](size_t i) { return is(toDouble(x[i], type)); });
    return success();
  });
}

void addFloatHandlers(HandlerTable &table) {
  addFloatBinary<arith::AddFOp>(table,
                                [](double x, double y) { return x + y; });
  addFloatBinary<arith::SubFOp>(table,
                                [](double x, double y) { return x - y; });
  addFloatBinary<arith::MulFOp>(table,
                                [](double x, double y) { return x * y; });
  addFloatBinary<arith::DivFOp>(table,
                                [](double x, double y) { return x / y; });
  addFloatBinary<arith::RemFOp>(
      table, [](double x, double y) { return std::fmod(x, y); });
  table.add<arith::CmpFOp>(evaluateCompare);
  table.add<math::FmaOp>(evaluateFma);
  addExtrema(table);
  addSigns(table);
  addClass<math::IsNaNOp>(table, [](double x) { return std::isnan(x); });
  addClass<math::IsInfOp>(table, [](double x) { return std::isinf(x); });
  addClass<math::IsFiniteOp>(table, [](double x) { return std::isfinite(x); });
  addClass<math::IsNormalOp>(table, [](double x) { return std::isnormal(x); });
}

} // namespace tilebridge::reference
