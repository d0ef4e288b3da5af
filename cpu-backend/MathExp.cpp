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
// other numbers out of range the factor may be anything; as an unsigned integer
// it is below that of a number above all right ones, or becomes that number, so
// that it is positive and finite, and powers as large overflow or underflow.
//===----------------------------------------------------------------------===//

#include "cpu-backend/MathF32.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// 2^(i / 16).
static constexpr float roots[16] = {
    1.0f,       1.0442737f, 1.0905077f, 1.1387886f, 1.1892071f, 1.2418578f,
    1.2968396f, 1.3542556f, 1.4142135f, 1.4768262f, 1.5422108f, 1.6104903f,
    1.6817929f, 1.7562522f, 1.8340081f, 1.9152066f};

bool MathF32::hasTables() const {
  auto vector = dyn_cast<VectorType>(type);
  return scalef && vector && vector.getRank() == 1 &&
         vector.getNumElements() % 16 == 0;
}

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
  Value factor =
      mulAdd(arith::MulFOp::create(b, root, r), polynomial(r, q), root);
  Value bits = arith::MinUIOp::create(b, toBits(factor), toBits(c(4.0f)));
  return callScalef(fromBits(bits), power);
}

static constexpr float magic = 0x1.8p19f;

/// n = x / ln 2 to the nearest sixteenth; r in two steps, for the first of
/// which n * ln2High is exact. The polynomials are never below the function but
/// by rounding: the roots that are rounded most are rounded down.
Value MathF32::expByTable(Value x) {
  leaveOutBelow(x, -104.0f);
  Value sum = mulAdd(x, c(1.44269504f), c(magic));
  Value n = arith::SubFOp::create(b, sum, c(magic));
  Value r = mulAdd(n, c(-0.693359375f), x);
  r = mulAdd(n, c(2.12194440e-4f), r);
  return timesRoot(sum, n, r, {1.0f, 0.500025809f, 0.166669801f});
}

Value MathF32::exp2ByTable(Value x) {
  leaveOutBelow(x, -150.0f);
  Value sum = arith::AddFOp::create(b, x, c(magic));
  Value n = arith::SubFOp::create(b, sum, c(magic));
  Value r = arith::SubFOp::create(b, x, n);
  return timesRoot(sum, n, r, {0.693147182f, 0.240238905f, 0.0555051528f});
}
