//===- MathSin.cpp - sines and cosines of f32 -----------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// |x| = n * pi/2 + r, |r| <= pi/4: the sine is that of r or its cosine, with a
// sign, by n's last two bits. pi/2 is three floats. n times the first one is
// taken off exactly; what n times the second one loses in rounding, and the
// difference, goes with the third part to `low`, as r + low is known to twice
// the bits that are needed where r is small.
//
// Largest errors, of all f32 up to `most` against f64: 0.88 units in the last
// place, both. Larger numbers are libm's: they want more of pi.
//
// The polynomials are minimax fits (relative error), their coefficients rounded
// to f32 one after the other, lowest first, the rest refitted each time.
//
// A kernel that asks for both functions of one number shares all but the last
// steps, which are simple enough for CSE to see it.
//===----------------------------------------------------------------------===//

#include "cpu-backend/MathF32.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Up to here n has 15 bits.
static constexpr float most = 40000.0f;
/// pi/2, the first part rounded down: n times the second one then is never -0.
static constexpr float first = 0x1.921fb4p+0f, second = 0x1.4442d2p-24f,
                       third = -0x1.ee59dap-50f;

/// Of numbers up to `most`.
Value MathF32::sinOrCosUpToMost(Value x, bool isCosine) {
  Value size = math::AbsFOp::create(b, x);
  // The sum's last bits are n.
  Value shifted = mulAdd(size, c(0x1.45f306p-1f), c(0x1p23f));
  Value quadrant = toBits(shifted);
  Value n = arith::SubFOp::create(b, shifted, c(0x1p23f));
  Value minusN = arith::NegFOp::create(b, n);
  Value rest = mulAdd(minusN, c(first), size);
  Value product = arith::MulFOp::create(b, n, c(second));
  Value r = arith::SubFOp::create(b, rest, product);
  Value lost = mulAdd(n, c(second), arith::NegFOp::create(b, product));
  Value low = arith::SubFOp::create(
      b, arith::SubFOp::create(b, rest, r).getResult(), product);
  low = arith::SubFOp::create(b, low, lost);
  low = mulAdd(minusN, c(third), low);

  Value square = arith::MulFOp::create(b, r, r);
  Value odd =
      polynomial(square, {-0x1.555546p-3f, 0x1.11077cp-7f, -0x1.9955bp-13f});
  Value sine = arith::AddFOp::create(
      b, r, mulAdd(arith::MulFOp::create(b, r, square), odd, low));
  Value twice = arith::AddFOp::create(b, low, low);
  Value whole = mulAdd(r, r, arith::MulFOp::create(b, r, twice));
  Value even = polynomial(
      whole, {1.0f, -0.5f, 0x1.55554ap-5f, -0x1.6c0c2ap-10f, 0x1.99e904p-16f});

  Value isOdd = arith::CmpIOp::create(
      b, arith::CmpIPredicate::ne,
      arith::AndIOp::create(b, quadrant, ci(1)).getResult(), ci(0));
  Value result = isCosine ? arith::SelectOp::create(b, isOdd, sine, even)
                          : arith::SelectOp::create(b, isOdd, even, sine);
  if (isCosine)
    quadrant = arith::AddIOp::create(b, quadrant, ci(1));
  Value sign = arith::ShLIOp::create(b, quadrant, ci(30));
  if (!isCosine)
    sign = arith::XOrIOp::create(b, sign, toBits(x));
  sign = arith::AndIOp::create(b, sign, ci(INT32_MIN));
  return fromBits(arith::XOrIOp::create(b, toBits(result), sign));
}

/// Null where vectors are not native, or products and sums not fused. `general`
/// writes the function for any vector.
Value MathF32::sinOrCos(Value x, bool isCosine,
                        llvm::function_ref<Value()> general) {
  if (!fma || !isMadeOfVectors())
    return {};
  Value result = sinOrCosUpToMost(x, isCosine);
  auto branch = scf::IfOp::create(b, type, isAnyAbove(x, most),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, general());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, result);
  return branch.getResult(0);
}
