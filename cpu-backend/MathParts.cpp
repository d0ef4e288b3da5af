//===- MathParts.cpp - erf and tanh of f32, in two parts ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For CPUs without AVX-512's tables (MathErf.cpp, MathTanh.cpp): below 1 the
// number itself and a small correction, from 1 on 1 minus what is small there,
// so that errors of either count little. All lanes compute both. The largest
// errors are 0.99 (erf) and 1.03 (tanh) units in the last place, with fused
// multiply-adds. Coefficients are found as those of MathF32.cpp.
//===----------------------------------------------------------------------===//

#include "cpu-backend/MathF32.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// `below` for numbers of a `size` below 1 and `above` for the rest, with the
/// sign of x.
Value MathF32::joinParts(Value x, Value size, Value below, Value above) {
  Value isBelow =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, size, c(1.0f));
  Value joined = arith::SelectOp::create(b, isBelow, below, above);
  return math::CopySignOp::create(b, joined, x);
}

/// |x|, or `last` where it is larger. NaN stays NaN.
Value MathF32::sizeUpTo(Value x, float last) {
  Value size = math::AbsFOp::create(b, x);
  Value isLarge =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, size, c(last));
  return arith::SelectOp::create(b, isLarge, c(last), size);
}

/// x + x * q(x^2), and 1 - g(x - 1.5)^2: the square root of 1 - erf(x) falls
/// half as fast, and takes a shorter polynomial.
Value MathF32::erfInParts(Value x) {
  // From there on the nearest f32 is 1.
  Value size = sizeUpTo(x, 3.9375f);
  Value square = arith::MulFOp::create(b, size, size);
  Value q =
      polynomial(square, {0.12837917f, -0.37612626f, 0.11283579f, -0.026853347f,
                          0.005187162f, -0.0007997853f, 7.806903e-05f});
  Value below = mulAdd(size, q, size);
  Value root =
      polynomial(arith::SubFOp::create(b, size, c(1.5f)),
                 {0.18410558f, -0.32299456f, 0.20115969f, -0.02391816f,
                  -0.030705525f, 0.012642966f, 0.001534714f, -0.0020424617f,
                  0.00036849044f, 3.426374e-05f, -1.2208364e-05f});
  Value above = mulAdd(arith::NegFOp::create(b, root), root, c(1.0f));
  return joinParts(x, size, below, above);
}

/// x + x^3 * q(x^2), and 1 - 2 e / (1 + e) with e = exp(-2x), at least 2^-27.
Value MathF32::tanhInParts(Value x) {
  Value size = sizeUpTo(x, 9.02f);
  Value square = arith::MulFOp::create(b, size, size);
  Value q =
      polynomial(square, {-0.33333296f, 0.13332348f, -0.05387999f, 0.021487199f,
                          -0.007946894f, 0.0023019298f, -0.00035861123f});
  Value below = mulAdd(arith::MulFOp::create(b, square, q), size, size);
  // The exponent of a power as small is above 0: one factor is enough.
  constexpr float magic = 0x1.8p23f + 127.0f;
  Value sum = mulAdd(size, c(-2.88539008f), c(magic));
  Value n = arith::SubFOp::create(b, sum, c(magic));
  Value power = fromBits(arith::ShLIOp::create(b, toBits(sum), ci(23)));
  Value e = arith::MulFOp::create(
      b, expOfRest(arith::MulFOp::create(b, size, c(-2.0f)), n), power);
  Value quotient = arith::DivFOp::create(b, e, mulAdd(e, c(0.5f), c(0.5f)));
  Value above = arith::SubFOp::create(b, c(1.0f), quotient);
  return joinParts(x, size, below, above);
}
