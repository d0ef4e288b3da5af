//===- ExternFloatParts.cpp - exponents and neighbours of floats ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Functions that take the bits of a float apart. All are exact, denormals
// included.

#include "triton-to-linalg/lower/ExternFunctions.h"
#include "triton-to-linalg/lower/Number.h"

#include <limits>

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

namespace {

/// A float's format, and integer arithmetic on its bits.
struct Bits {
  Bits(ImplicitLocOpBuilder &b, Type type)
      : b(b), type(type), integer(b.getIntegerType(type.isF64() ? 64 : 32)),
        mantissa(type.isF64() ? 52 : 23), bias(type.isF64() ? 1023 : 127) {}

  Value c(int64_t number) {
    return arith::ConstantIntOp::create(b, integer, number);
  }
  Value of(Value x) { return arith::BitcastOp::create(b, integer, x); }
  Value back(Value x) { return arith::BitcastOp::create(b, type, x); }
  Value is(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, predicate, x, y);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, condition, yes, no);
  }

  /// The biased exponent of a number that is not negative.
  Value biasedExponent(Value bits) {
    return arith::ShRUIOp::create(b, bits, c(mantissa));
  }
  Value withoutSign(Value bits) {
    return arith::AndIOp::create(b, bits, c(int64_t(uint64_t(signMask()) - 1)));
  }
  int64_t signMask() const {
    return int64_t(uint64_t(1) << (integer.getIntOrFloatBitWidth() - 1));
  }
  int64_t infinity() const { return (2 * bias + 1) << mantissa; }

  /// |x| as a normal number, times 2^(mantissa + 1) where x is denormal, and
  /// what that adds to the exponent. Zero, infinity and NaN are what they are.
  std::pair<Value, Value> normalized(Value x) {
    Number absolute = abs(Number(b, x));
    Value small = absolute < absolute.constant(std::ldexp(1.0, 1 - int(bias)));
    Number scaled = absolute * std::ldexp(1.0, int(mantissa) + 1);
    return {of(ttl::select(small, scaled, absolute).value()),
            select(small, c(-(mantissa + 1)), c(0))};
  }

  ImplicitLocOpBuilder &b;
  Type type, integer;
  int64_t mantissa, bias;
};

} // namespace

/// The exponent of x, an integer; what it is for 0, infinity and NaN is the
/// caller's.
static Value exponentOf(Bits &f, Value x) {
  auto [bits, add] = f.normalized(x);
  Value exponent = arith::AddIOp::create(f.b, f.biasedExponent(bits), add);
  return arith::SubIOp::create(f.b, exponent, f.c(f.bias));
}

static Value ilogb(ExternCall c) {
  Bits f(c.b, c.in[0].getType());
  Value exponent = exponentOf(f, c.in[0]);
  if (exponent.getType() != c.result)
    exponent = arith::TruncIOp::create(c.b, c.result, exponent);
  Value bits = f.withoutSign(f.of(c.in[0]));
  auto choose = [&](arith::CmpIPredicate predicate, int64_t which,
                    int64_t number) {
    exponent =
        f.select(f.is(predicate, bits, f.c(which)),
                 arith::ConstantIntOp::create(c.b, c.result, number), exponent);
  };
  choose(arith::CmpIPredicate::eq, 0, std::numeric_limits<int32_t>::min());
  choose(arith::CmpIPredicate::eq, f.infinity(),
         std::numeric_limits<int32_t>::max());
  choose(arith::CmpIPredicate::sgt, f.infinity(),
         std::numeric_limits<int32_t>::min());
  return exponent;
}

static Value logb(ExternCall c) {
  Bits f(c.b, c.in[0].getType());
  Number x(c.b, c.in[0]);
  Number exponent(
      c.b, arith::SIToFPOp::create(c.b, c.result, exponentOf(f, c.in[0])));
  double infinity = std::numeric_limits<double>::infinity();
  exponent = select(x == 0, x.constant(-infinity), exponent);
  // Infinity is positive, and NaN stays.
  Value isFinite = abs(x) < infinity;
  return select(isFinite, exponent, x * x).value();
}

/// x * 2^n, rounded once. The exponent is put in place where the result is a
/// normal number; else it is put 2^shift above it, and one product rounds.
static Value scaleByPower(ExternCall c) {
  Bits f(c.b, c.in[0].getType());
  auto [bits, add] = f.normalized(c.in[0]);
  Value exponent = arith::AddIOp::create(f.b, f.biasedExponent(bits), add);
  // Beyond this every result is zero or infinite.
  Value n = c.in[1],
        limit = arith::ConstantIntOp::create(c.b, n.getType(), 4 * f.bias);
  n = arith::MinSIOp::create(c.b, n, limit);
  n = arith::MaxSIOp::create(
      c.b, n, arith::ConstantIntOp::create(c.b, n.getType(), -4 * f.bias));
  if (n.getType() != f.integer)
    n = arith::ExtSIOp::create(c.b, f.integer, n);
  Value target = arith::AddIOp::create(c.b, exponent, n);
  int64_t shift = f.mantissa + 4;
  Value isNormal = f.is(arith::CmpIPredicate::sgt, target, f.c(0));
  Value placed = f.select(isNormal, target,
                          arith::AddIOp::create(c.b, target, f.c(shift)));
  // Far below the smallest: anything that the product makes zero.
  placed = arith::MaxSIOp::create(c.b, placed, f.c(1));
  placed = arith::MinSIOp::create(c.b, placed, f.c(2 * f.bias));
  Value fraction =
      arith::AndIOp::create(c.b, bits, f.c((int64_t(1) << f.mantissa) - 1));
  Value whole = arith::OrIOp::create(
      c.b, fraction, arith::ShLIOp::create(c.b, placed, f.c(f.mantissa)));
  Number result(c.b, f.back(whole));
  result = select(isNormal, result, result * std::ldexp(1.0, int(-shift)));
  Value overflows = f.is(arith::CmpIPredicate::sgt, target, f.c(2 * f.bias));
  result =
      select(overflows,
             result.constant(std::numeric_limits<double>::infinity()), result);
  Number x(c.b, c.in[0]);
  result = copySign(result, x);
  Value keeps = arith::OrIOp::create(c.b, x == 0,
                                     f.is(arith::CmpIPredicate::sge,
                                          f.withoutSign(f.of(c.in[0])),
                                          f.c(f.infinity())));
  return select(keeps, x, result).value();
}

/// The next float from x towards y.
static Value nextAfter(ExternCall c) {
  Bits f(c.b, c.in[0].getType());
  Number x(c.b, c.in[0]), y(c.b, c.in[1]);
  Value bits = f.of(c.in[0]);
  // Floats of one sign are ordered as their bits are.
  Value isPositive = f.is(arith::CmpIPredicate::sge, bits, f.c(0));
  Value away = f.is(arith::CmpIPredicate::eq, x < y, isPositive);
  Value step = f.select(away, f.c(1), f.c(-1));
  Number next(c.b, f.back(arith::AddIOp::create(c.b, bits, step)));
  Number least(c.b, f.back(f.c(1)));
  next = select(x == 0, copySign(least, y), next);
  next = select(x.is(arith::CmpFPredicate::OEQ, y), y, next);
  Value anyNaN = x.is(arith::CmpFPredicate::UNO, y);
  return select(anyNaN, x + y, next).value();
}

void ttl::addFloatPartExterns(ExternTable &functions) {
  functions["ilogb"] = {"iF", ilogb};
  functions["logb"] = {"FF", logb};
  functions["ldexp"] = {"FFi", scaleByPower};
  functions["scalbn"] = {"FFi", scaleByPower};
  functions["nextafter"] = {"FFF", nextAfter};
}
