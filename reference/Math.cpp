//===- Math.cpp - elementary functions ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The C library's functions of double, rounded to the type: right to the last
// bit for f32 and below in nearly all cases.

#include "reference/Elementwise.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace tilebridge::reference {

static LogicalResult evaluateIntegerPower(Program &program, Operation *op) {
  LaneReader x(program.lanes(op->getOperand(0)));
  LaneReader n(program.lanes(op->getOperand(1)));
  auto type = cast<FloatType>(op->getOperand(0).getType());
  unsigned width = widthOf(op->getOperand(1).getType());
  setElements(program, op, [&](size_t i) {
    return fromDouble(
        std::pow(toDouble(x[i], type), double(signedValue(n[i], width))), type);
  });
  return success();
}

/// Powers of integers wrap around; negative exponents give 0, 1 or -1.
static uint64_t integerPower(uint64_t x, uint64_t n, unsigned width) {
  int64_t exponent = signedValue(n, width), base = signedValue(x, width);
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  uint64_t result = 1;
  for (uint64_t factor = x; exponent; exponent >>= 1, factor *= factor)
    if (exponent & 1)
      result *= factor;
  return result;
}

static void addRoundings(HandlerTable &table) {
  addFloatUnary<math::FloorOp>(table, [](double x) { return std::floor(x); });
  addFloatUnary<math::CeilOp>(table, [](double x) { return std::ceil(x); });
  addFloatUnary<math::TruncOp>(table, [](double x) { return std::trunc(x); });
  addFloatUnary<math::RoundOp>(table, [](double x) { return std::round(x); });
  // The default rounding of the process is to the nearest even.
  addFloatUnary<math::RoundEvenOp>(table,
                                   [](double x) { return std::nearbyint(x); });
}

static void addTrigonometry(HandlerTable &table) {
  addFloatUnary<math::SinOp>(table, [](double x) { return std::sin(x); });
  addFloatUnary<math::CosOp>(table, [](double x) { return std::cos(x); });
  addFloatUnary<math::TanOp>(table, [](double x) { return std::tan(x); });
  addFloatUnary<math::AsinOp>(table, [](double x) { return std::asin(x); });
  addFloatUnary<math::AcosOp>(table, [](double x) { return std::acos(x); });
  addFloatUnary<math::AtanOp>(table, [](double x) { return std::atan(x); });
  addFloatUnary<math::SinhOp>(table, [](double x) { return std::sinh(x); });
  addFloatUnary<math::CoshOp>(table, [](double x) { return std::cosh(x); });
  addFloatUnary<math::TanhOp>(table, [](double x) { return std::tanh(x); });
  addFloatUnary<math::AsinhOp>(table, [](double x) { return std::asinh(x); });
  addFloatUnary<math::AcoshOp>(table, [](double x) { return std::acosh(x); });
  addFloatUnary<math::AtanhOp>(table, [](double x) { return std::atanh(x); });
  addFloatBinary<math::Atan2Op>(
      table, [](double y, double x) { return std::atan2(y, x); });
}

void addMathHandlers(HandlerTable &table) {
  addFloatUnary<math::ExpOp>(table, [](double x) { return std::exp(x); });
  addFloatUnary<math::Exp2Op>(table, [](double x) { return std::exp2(x); });
  addFloatUnary<math::ExpM1Op>(table, [](double x) { return std::expm1(x); });
  addFloatUnary<math::LogOp>(table, [](double x) { return std::log(x); });
  addFloatUnary<math::Log2Op>(table, [](double x) { return std::log2(x); });
  addFloatUnary<math::Log10Op>(table, [](double x) { return std::log10(x); });
  addFloatUnary<math::Log1pOp>(table, [](double x) { return std::log1p(x); });
  addFloatUnary<math::SqrtOp>(table, [](double x) { return std::sqrt(x); });
  addFloatUnary<math::RsqrtOp>(table,
                               [](double x) { return 1.0 / std::sqrt(x); });
  addFloatUnary<math::CbrtOp>(table, [](double x) { return std::cbrt(x); });
  addFloatUnary<math::ErfOp>(table, [](double x) { return std::erf(x); });
  addFloatUnary<math::ErfcOp>(table, [](double x) { return std::erfc(x); });
  addFloatBinary<math::PowFOp>(
      table, [](double x, double y) { return std::pow(x, y); });
  table.add<math::FPowIOp>(evaluateIntegerPower);
  addIntegerBinary<math::IPowIOp>(table, integerPower);
  addRoundings(table);
  addTrigonometry(table);
}

} // namespace tilebridge::reference
