//===- ExternSpecial.cpp - error functions, norms, sines of pi x ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Functions that the C library lacks, as formulas without branches in what it
// has. They compute in f64: those of f32 are rounded once more at the end, and
// are right to the last bit but for rare cases. The errors in f64 are in
// docs/libdevice.md.

#include "triton-to-linalg/lower/ExternFunctions.h"
#include "triton-to-linalg/lower/Number.h"

#include <limits>

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double rootOfPi = 1.7724538509055160273;
static constexpr double pi = 3.14159265358979323846;
/// What pi has beyond the f64.
static constexpr double piTail = 1.2246467991473531772e-16;

Number ttl::polynomial(Number x, ArrayRef<double> lowToHigh) {
  Number sum = x.constant(lowToHigh.back());
  for (double coefficient : llvm::reverse(lowToHigh.drop_back()))
    sum = fma(sum, x, x.constant(coefficient));
  return sum;
}

/// The function `formula` of f64, for operands and a result of f32 or f64.
Value ttl::inDouble(ExternCall c,
                    llvm::function_ref<Number(ArrayRef<Number>)> formula) {
  SmallVector<Number> operands;
  for (Value operand : c.in)
    operands.emplace_back(
        c.b, operand.getType().isF64()
                 ? operand
                 : arith::ExtFOp::create(c.b, c.b.getF64Type(), operand)
                       .getResult());
  Value result = formula(operands).value();
  if (c.result.isF64())
    return result;
  return arith::TruncFOp::create(c.b, c.result, result);
}

template <Number (*formula)(Number)> static Value ofOne(ExternCall c) {
  return inDouble(c, [](ArrayRef<Number> x) { return formula(x[0]); });
}

/// exp(x * x) * erfc(x). The square's rounding error counts where the square is
/// large, so it is computed as well; beyond 12 a series in 1/x takes over,
/// before erfc loses digits.
static Number erfcx(Number x) {
  Number near = select(x > 12, x.constant(12), x);
  Number square = exactlyRoundedProduct(near, near);
  Number rest = fma(near, near, -square);
  Number first = exp(square) * erfc(near);
  Number corrected = fma(first, rest, first);
  first = select(first < first.constant(infinity), corrected, first);

  // 1 - 1/(2 x^2) + 3/(2 x^2)^2 - 15/(2 x^2)^3 ...
  SmallVector<double> coefficients{1};
  for (int k = 1; k < 14; ++k)
    coefficients.push_back(coefficients.back() * -(k - 0.5));
  Number inverse = 1.0 / x;
  Number far =
      polynomial(inverse * inverse, coefficients) * inverse * (1 / rootOfPi);
  return select(x > 12, far, first);
}

/// The y >= 0 for which erfc(y) = p, for p in (0, 0.5]: Newton's method on
/// y^2 - log(erfcx(y)) = -log(p), which is nearly a parabola, and in which no
/// term is too small to be written. It begins at an approximation that is
/// within 1 % of y (by Winitzki), and needs three steps from there.
static Number inverseTail(Number p) {
  constexpr double a = 0.147;
  Number level = log(p);
  Number both = log(p * (2.0 - p));
  Number half = both * 0.5 + 2 / (pi * a);
  Number y = sqrt(sqrt(half * half - both * (1 / a)) - half);
  for (int step = 0; step < 3; ++step) {
    Number scaled = erfcx(y);
    Number error = fma(y, y, level) - log(scaled);
    y = y - error * scaled * (rootOfPi / 2);
  }
  return select(p == 0, p.constant(infinity), y);
}

/// The y for which erf(y) = x, for |x| <= 0.5: four terms of its series, and
/// two steps of Halley's method.
static Number inverseCenter(Number x) {
  Number y = polynomial(x * x, {rootOfPi / 2, rootOfPi / 2 * pi / 12,
                                rootOfPi / 2 * 7 * pi * pi / 480,
                                rootOfPi / 2 * 127 * pi * pi * pi / 40320}) *
             x;
  for (int step = 0; step < 2; ++step) {
    Number newton = (erf(y) - x) * exp(y * y) * (rootOfPi / 2);
    y = y - newton / (newton * y + 1);
  }
  return y;
}

static Number erfInverse(Number x) {
  Number size = abs(x);
  return select(size > 0.5, copySign(inverseTail(1.0 - size), x),
                inverseCenter(x));
}

static Number erfcInverse(Number p) {
  Number low = select(p > 1, 2.0 - p, p);
  Number tail = copySign(inverseTail(low), 1.0 - p);
  return select(low < 0.5, tail, inverseCenter(1.0 - p));
}

/// erfc(-x / sqrt(2)) / 2, where what the argument's rounding changes is put
/// right by the derivative.
static Number normalCdf(Number x) {
  Number factor = x.constant(-0.70710678118654752440);
  Number argument = exactlyRoundedProduct(x, factor);
  // The second is what 1/sqrt(2) has beyond the f64.
  Number rest =
      fma(x, x.constant(4.8336466567264567e-17), fma(x, factor, -argument));
  Number near = erfc(argument);
  Number slope = exp(-(argument * argument)) * (-2 / rootOfPi);
  Number corrected = fma(slope, rest, near);
  return select(abs(x) < 64, corrected, near) * 0.5;
}

static Number normalCdfInverse(Number p) {
  return erfcInverse(p * 2) * -1.41421356237309504880;
}

/// sin(pi x), or with one quarter turn more cos(pi x).
static Number sineOfPi(Number x, double quarterTurns) {
  Number quarters = (x * 2).unary<math::RoundEvenOp>();
  Number rest = fma(quarters, x.constant(-0.5), x);
  Number angle = exactlyRoundedProduct(rest, x.constant(pi));
  Number tail =
      fma(rest, x.constant(piTail), fma(rest, x.constant(pi), -angle));
  Number sine = angle.unary<math::SinOp>(), cosine = angle.unary<math::CosOp>();
  Number quadrant = quarters - floor(quarters * 0.25) * 4.0 + quarterTurns;
  quadrant = select(quadrant == 4, x.constant(0), quadrant);
  Value isOdd = arith::OrIOp::create(x.builder(), quadrant == 1, quadrant == 3);
  Number result =
      select(isOdd, fma(-sine, tail, cosine), fma(cosine, tail, sine));
  return select(quadrant > 1, -result, result);
}

static Number sinPi(Number x) {
  // At an integer it is a zero of the argument's sign.
  Value isInteger = x.is(arith::CmpFPredicate::OEQ, floor(x));
  Value isFinite = abs(x) < infinity;
  Value isZero = arith::AndIOp::create(x.builder(), isInteger, isFinite);
  return select(isZero, copySign(x.constant(0), x), sineOfPi(x, 0));
}

/// A zero of it is positive.
static Number cosPi(Number x) { return sineOfPi(x, 1) + 0.0; }

static Number inverseCubeRoot(Number x) {
  return 1.0 / x.unary<math::CbrtOp>();
}

void ttl::addSpecialExterns(ExternTable &functions) {
  functions["erfcx"] = {"FF", ofOne<erfcx>};
  functions["erfinv"] = {"FF", ofOne<erfInverse>};
  functions["erfcinv"] = {"FF", ofOne<erfcInverse>};
  functions["normcdf"] = {"FF", ofOne<normalCdf>};
  functions["normcdfinv"] = {"FF", ofOne<normalCdfInverse>};
  functions["sinpi"] = {"FF", ofOne<sinPi>};
  functions["cospi"] = {"FF", ofOne<cosPi>};
  functions["rcbrt"] = {"FF", ofOne<inverseCubeRoot>};
}
