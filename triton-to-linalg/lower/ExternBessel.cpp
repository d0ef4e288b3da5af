//===- ExternBessel.cpp - Bessel and gamma functions, lengths -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The C library has most of them, for scalars. The modified Bessel functions,
// which it lacks, are their series: below 20 in powers of x^2, from there in
// powers of 1/x.

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/lower/ExternFunctions.h"
#include "triton-to-linalg/lower/Number.h"

#include <limits>

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double seriesEnd = 20;

static Value callLibm(ImplicitLocOpBuilder &b, StringRef name,
                      ValueRange operands) {
  return linalg_ext::LibmOp::create(b, operands.back().getType(), name,
                                    operands);
}

namespace {

// The functions of C's math library, called in f64 always: its functions of f32
// err by up to 9 ulp, and these need no test of their own.
constexpr char tgammaName[] = "tgamma", lgammaName[] = "lgamma",
               j0Name[] = "j0", j1Name[] = "j1", y0Name[] = "y0",
               y1Name[] = "y1", jnName[] = "jn", ynName[] = "yn",
               remainderName[] = "remainder";

template <const char *name> Value libm(ExternCall c) {
  return inDouble(c, [&](ArrayRef<Number> x) {
    SmallVector<Value> operands;
    for (Number operand : x)
      operands.push_back(operand.value());
    return Number(c.b, callLibm(c.b, name, operands));
  });
}

/// The functions with an order, an i32.
template <const char *name> Value libmOfOrder(ExternCall c) {
  Value order = c.in[0];
  ExternCall ofNumber = {c.b, c.in.drop_front(), c.result};
  return inDouble(ofNumber, [&](ArrayRef<Number> x) {
    return Number(c.b, callLibm(c.b, name, {order, x[0].value()}));
  });
}

/// I0 for order 0, I1 for order 1.
template <int order> Value modifiedBessel(ExternCall c) {
  return inDouble(c, [](ArrayRef<Number> in) {
    Number x = abs(in[0]);
    // (x/2)^order * sum of (x^2/4)^k / (k! (k + order)!)
    SmallVector<double> powers;
    long double term = 1;
    for (int k = 0; k < 45; ++k) {
      powers.push_back(static_cast<double>(term));
      term /= static_cast<long double>(k + 1) * (k + 1 + order);
    }
    Number near = select(x > seriesEnd, x.constant(seriesEnd), x);
    Number sum = polynomial(near * near * 0.25, powers);
    if (order == 1)
      sum = sum * near * 0.5;
    // e^x / sqrt(2 pi x) * (1 - (m - 1)/(8x) + (m - 1)(m - 9)/(2! (8x)^2) ...)
    // where m = 4 order^2
    SmallVector<double> inverses;
    term = 1;
    for (int k = 0; k < 30; ++k) {
      inverses.push_back(static_cast<double>(term));
      int odd = 2 * k + 1;
      term *= -static_cast<long double>(4 * order * order - odd * odd) /
              (8 * (k + 1));
    }
    Number far = select(x > seriesEnd, x, x.constant(seriesEnd));
    // In two factors, as e^x is infinite before the result is.
    Number root = exp(far * 0.5);
    Number large =
        root *
        (polynomial(1.0 / far, inverses) / sqrt(far * 6.28318530717958647693)) *
        root;
    Number result = select(x > seriesEnd, large, sum);
    result = select(x == infinity, x, result);
    return order == 1 ? copySign(result, in[0]) : result;
  });
}

/// The length of a vector. In f64 the C library takes care that squares do not
/// overflow; those of f32 cannot. An infinity counts more than a NaN.
Number length(ImplicitLocOpBuilder &b, ArrayRef<Number> x, bool isDouble) {
  if (isDouble) {
    Number sum = x[0];
    for (Number next : x.drop_front())
      sum = Number(b, callLibm(b, "hypot", {sum.value(), next.value()}));
    return sum;
  }
  Number sum = x[0] * x[0];
  for (Number next : x.drop_front())
    sum = sum + next * next;
  sum = sqrt(sum);
  for (Number next : x)
    sum = select(abs(next) == infinity, sum.constant(infinity), sum);
  return sum;
}

Value length(ExternCall c) {
  return inDouble(
      c, [&](ArrayRef<Number> x) { return length(c.b, x, c.result.isF64()); });
}
Value inverseLength(ExternCall c) {
  return inDouble(c, [&](ArrayRef<Number> x) {
    return 1.0 / length(c.b, x, c.result.isF64());
  });
}

} // namespace

void ttl::addBesselExterns(ExternTable &functions) {
  functions["tgamma"] = {"FF", libm<tgammaName>};
  functions["lgamma"] = {"FF", libm<lgammaName>};
  functions["j0"] = {"FF", libm<j0Name>};
  functions["j1"] = {"FF", libm<j1Name>};
  functions["y0"] = {"FF", libm<y0Name>};
  functions["y1"] = {"FF", libm<y1Name>};
  functions["jn"] = {"FiF", libmOfOrder<jnName>};
  functions["yn"] = {"FiF", libmOfOrder<ynName>};
  functions["remainder"] = {"FFF", libm<remainderName>};
  functions["cyl_bessel_i0"] = {"FF", modifiedBessel<0>};
  functions["cyl_bessel_i1"] = {"FF", modifiedBessel<1>};
  functions["hypot"] = {"FFF", length};
  functions["rhypot"] = {"FFF", inverseLength};
  functions["norm3d"] = {"FFFF", length};
  functions["rnorm3d"] = {"FFFF", inverseLength};
  functions["norm4d"] = {"FFFFF", length};
  functions["rnorm4d"] = {"FFFFF", inverseLength};
}
