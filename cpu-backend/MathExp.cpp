//===- MathExp.cpp - exponentials of f32, by a table ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// AVX-512 looks up 16 lanes in a table of 16 floats by one shuffle, which other
// units do than multiply: what is left to the polynomial are powers between -1
// and 1 of 2^(1/32), for which four multiplications do instead of six.
// vscalefps takes powers that are no integers, and ignores their fractions.
//
// No comparison is needed to clamp, which would take a multiplier's time: for
// NaN and infinities vscalefps gives what exp does whatever the factor is. For
// other numbers out of range the factor may be anything: its bits are made
// those of a number from 1/2 to 2, as all right ones are, by one operation, and
// powers as large overflow or underflow.
//
// Where results are rounded to f16, a polynomial with one term less has enough
// bits (2^-20); where they are rounded to bf16, 1 + r has, with 32 roots, which
// are a little larger, as 1 + r is never above the power (2^-15).
//===----------------------------------------------------------------------===//

#include "cpu-backend/MathF32.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// 2^(i / 16).
static constexpr float roots[16] = {
    1.0f,       1.0442737f, 1.0905077f, 1.1387886f, 1.1892071f, 1.2418578f,
    1.2968396f, 1.3542556f, 1.4142135f, 1.4768262f, 1.5422108f, 1.6104903f,
    1.6817929f, 1.7562522f, 1.8340081f, 1.9152066f};

MathF32::Rounded MathF32::roundedTo(Operation *function) {
  if (!isa<math::ExpOp, math::Exp2Op>(function) ||
      !bitEnumContainsAll(cast<arith::ArithFastMathInterface>(function)
                              .getFastMathFlagsAttr()
                              .getValue(),
                          arith::FastMathFlags::afn))
    return Rounded::Never;
  return function->hasAttr(forBf16Attr) ? Rounded::ToBf16 : Rounded::ToF16;
}

bool MathF32::hasTables() const {
  auto vector = dyn_cast<VectorType>(type);
  return scalef && vector && vector.getRank() == 1 &&
         vector.getNumElements() % 16 == 0;
}

/// 2^(i / 32) times 1 + 2^-15.
static constexpr float raisedRoots[32] = {
    1.00002956f, 1.02192736f, 1.04430461f, 1.06717193f, 1.09053993f,
    1.1144197f,  1.13882232f, 1.16375923f, 1.18924224f, 1.21528327f,
    1.24189448f, 1.26908839f, 1.29687786f, 1.32527578f, 1.35429549f,
    1.38395071f, 1.41425538f, 1.44522345f, 1.47686982f, 1.50920904f,
    1.54225636f, 1.57602739f, 1.61053789f, 1.64580405f, 1.68184257f,
    1.71867001f, 1.75630403f, 1.79476213f, 1.83406222f, 1.87422299f,
    1.91526318f, 1.95720196f};

/// Where a result that underflows is slow, lanes whose result is 0 are left out
/// by the instruction's own mask.
void MathF32::leaveOutBelow(Value x, float low) {
  wanted = freeUnderflow
               ? Value()
               : arith::CmpFOp::create(b, arith::CmpFPredicate::UGE, x, c(low));
}

/// root * (1 + r * q(r)), times 2^power without its fraction. `sum`: the power
/// with `magic` added, in which the lowest bit counts sixteenths.
Value MathF32::timesRoot(Value sum, Value power, Value r, ArrayRef<float> q) {
  Value root = lookup(roots, toBits(sum));
  return scaled(
      mulAdd(arith::MulFOp::create(b, root, r), polynomial(r, q), root), power);
}

/// factor * 2^power without the power's fraction.
Value MathF32::scaled(Value factor, Value power) {
  Value bits = arith::AndIOp::create(b, toBits(factor), ci(0x3fffffff));
  bits = arith::OrIOp::create(b, bits, toBits(c(0.5f)));
  return callScalef(fromBits(bits), power);
}

static constexpr float magic = 0x1.8p19f, magicOf32nds = 0x1.8p18f;

/// n = x / ln 2 to the nearest sixteenth; r in two steps, for the first of
/// which n * ln2High is exact. The polynomials are never below the function but
/// by rounding: the roots that are rounded most are rounded down.
Value MathF32::expByTable(Value x) {
  leaveOutBelow(x, -104.0f);
  if (rounded == Rounded::ToBf16)
    return expForBf16(x);
  Value sum = mulAdd(x, c(1.44269504f), c(magic));
  Value n = arith::SubFOp::create(b, sum, c(magic));
  if (rounded == Rounded::ToF16)
    return timesRoot(sum, n, mulAdd(n, c(-0.693147182f), x),
                     {1.00005849f, 0.49999984f});
  Value r = mulAdd(n, c(-0.693359375f), x);
  r = mulAdd(n, c(2.12194440e-4f), r);
  return timesRoot(sum, n, r, {1.0f, 0.500025809f, 0.166669801f});
}

Value MathF32::exp2ByTable(Value x) {
  leaveOutBelow(x, -150.0f);
  if (rounded == Rounded::ToBf16)
    return exp2ForBf16(x);
  Value sum = arith::AddFOp::create(b, x, c(magic));
  Value n = arith::SubFOp::create(b, sum, c(magic));
  Value r = arith::SubFOp::create(b, x, n);
  if (rounded == Rounded::ToF16)
    return timesRoot(sum, n, r, {0.69318772f, 0.24022643f});
  return timesRoot(sum, n, r, {0.693147182f, 0.240238905f, 0.0555051528f});
}

/// root * (1 + r).
Value MathF32::expForBf16(Value x) {
  Value sum = mulAdd(x, c(1.44269504f), c(magicOf32nds));
  Value n = arith::SubFOp::create(b, sum, c(magicOf32nds));
  Value r = mulAdd(n, c(-0.693147182f), x);
  Value root = lookup(raisedRoots, toBits(sum));
  return scaled(mulAdd(root, r, root), n);
}

Value MathF32::exp2ForBf16(Value x) {
  Value sum = arith::AddFOp::create(b, x, c(magicOf32nds));
  Value n = arith::SubFOp::create(b, sum, c(magicOf32nds));
  Value r = arith::SubFOp::create(b, x, n);
  Value root = lookup(raisedRoots, toBits(sum));
  Value slope = arith::MulFOp::create(b, root, c(0.693147182f));
  return scaled(mulAdd(slope, r, root), n);
}
