//===- MathF64.cpp - elementary functions of f64, inline ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// As MathExp.cpp has it for f32: exp(x) = 2^(n / 16) * exp(r), the fraction of
// n / 16 looked up in a register pair, the rest left to vscalefpd. What the
// roots' rounding leaves is looked up, too, and added to what is small: only
// the last sum rounds what matters.
//===----------------------------------------------------------------------===//

#include "cpu-backend/MathF64.h"
#include "cpu-backend/MathVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace tilebridge::cpu;

/// 2^(i / 16), and what is to be added to that.
static constexpr double roots[16] = {1.0,
                                     1.0442737824274138,
                                     1.0905077326652577,
                                     1.1387886347566916,
                                     1.189207115002721,
                                     1.241857812073484,
                                     1.2968395546510096,
                                     1.3542555469368927,
                                     1.4142135623730951,
                                     1.4768261459394993,
                                     1.5422108254079407,
                                     1.6104903319492543,
                                     1.681792830507429,
                                     1.7562521603732995,
                                     1.8340080864093424,
                                     1.9152065613971474};
static constexpr double tails[16] = {0.0,
                                     8.551889705537965e-17,
                                     -3.046782079812471e-17,
                                     8.912812676025408e-17,
                                     3.982015231465646e-17,
                                     4.658027591836937e-17,
                                     2.5382502794888315e-17,
                                     7.70094837980299e-17,
                                     -9.667293313452913e-17,
                                     -3.483994556892796e-17,
                                     7.949834809697621e-17,
                                     2.4707192569797888e-17,
                                     8.199010020581497e-17,
                                     2.960140695448873e-17,
                                     3.283107224245627e-17,
                                     -1.0619946056195963e-16};
/// (exp(r) - 1) / r for |r| <= log(2) / 32, a fit like those of MathF32.cpp.
static constexpr double powers[] = {1.0,
                                    0.5,
                                    0.16666666664372584,
                                    0.041666666663447934,
                                    0.008333473002952427,
                                    0.0013889071789353823};

Value tilebridge::cpu::expOfF64(ImplicitLocOpBuilder &b, Value x,
                                bool freeUnderflow) {
  auto type = dyn_cast<VectorType>(x.getType());
  if (!type || type.isScalable() || type.getRank() != 1 ||
      type.getNumElements() % 8 != 0)
    return {};
  Avx512 cpu(b, type);
  auto integers = type.clone(b.getI64Type());
  auto c = [&](double number) -> Value {
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, number));
  };
  auto bits = [&](Value value) -> Value {
    return arith::BitcastOp::create(b, integers, value);
  };
  auto mulAdd = [&](Value x, Value y, Value z) -> Value {
    return math::FmaOp::create(b, x, y, z);
  };
  // The sum's last bit counts sixteenths. n times the first part of log(2) is
  // exact.
  Value magic = c(0x1.8p48);
  Value sum = mulAdd(x, c(1.4426950408889634), magic);
  Value n = arith::SubFOp::create(b, sum, magic);
  Value r = mulAdd(n, c(-0x1.62e42ffp-1), x);
  r = mulAdd(n, c(4.2009150726810846e-11), r);
  Value root = cpu.lookup(roots, bits(sum)),
        tail = cpu.lookup(tails, bits(sum));
  Value polynomial = c(powers[5]);
  for (double coefficient : llvm::reverse(ArrayRef(powers).drop_back()))
    polynomial = mulAdd(polynomial, r, c(coefficient));
  Value small = mulAdd(arith::MulFOp::create(b, root, r), polynomial, tail);
  Value factor = arith::AddFOp::create(b, root, small);
  // Out of range r is no rest and the factor may be anything: between 1/2 and 4
  // the power alone decides. Infinities and NaN are left to it, too.
  Value whole = arith::MinUIOp::create(b, bits(factor), bits(c(4)));
  whole = arith::MaxUIOp::create(b, whole, bits(c(0.5)));
  factor = arith::BitcastOp::create(b, type, whole);
  // 2^-infinity is 0 without an underflow.
  if (!freeUnderflow) {
    Value isZero =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, c(-746));
    n = arith::SelectOp::create(b, isZero, c(-INFINITY), n);
  }
  return cpu.timesPower(factor, n);
}
