//===- MathF32.cpp - exponentials and logarithms of f32, inline -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The polynomials are minimax fits (weighted for relative error of the whole
// function), their coefficients rounded to f32 one after the other, lowest
// first, the rest refitted each time. Their own error is below 0.1 units of
// 2^-24.

#include "cpu-backend/MathF32.h"
#include "cpu-backend/MathVectors.h"
#include "cpu-backend/MathWhole.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;
using namespace tilebridge::cpu;

/// Native vectors of 4, 8 or 16, or several of 16.
static bool hasNativeLanes(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || vector.isScalable())
    return false;
  int64_t lanes = vector.getNumElements();
  return lanes == 4 || lanes == 8 || (lanes > 0 && lanes % 16 == 0);
}

MathF32::MathF32(ImplicitLocOpBuilder &builder, Type type, const Cpu &cpu,
                 Rounded rounded)
    : b(builder), type(type), fma(cpu.fma),
      scalef(cpu.scalef && hasNativeLanes(type)),
      freeUnderflow(cpu.freeUnderflow), vectorBits(cpu.vectorBits),
      rounded(rounded) {
  intType = builder.getI32Type();
  if (auto vector = dyn_cast<VectorType>(type))
    intType = vector.clone(intType);
}

Value MathF32::c(float value) {
  TypedAttr attr = b.getF32FloatAttr(value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, value);
  return arith::ConstantOp::create(b, attr);
}

Value MathF32::ci(int32_t value) {
  TypedAttr attr = b.getI32IntegerAttr(value);
  if (auto vector = dyn_cast<VectorType>(intType))
    attr = DenseElementsAttr::get(vector, value);
  return arith::ConstantOp::create(b, attr);
}

Value MathF32::mulAdd(Value x, Value y, Value z) {
  if (fma)
    return math::FmaOp::create(b, x, y, z);
  return arith::AddFOp::create(b, arith::MulFOp::create(b, x, y), z);
}

Value MathF32::polynomial(Value x, ArrayRef<float> lowToHigh) {
  Value sum = c(lowToHigh.back());
  for (float coefficient : llvm::reverse(lowToHigh.drop_back()))
    sum = mulAdd(sum, x, c(coefficient));
  return sum;
}

/// `power` of x, with 0 where x is below `low`: a mask's -infinity is common,
/// and a result that underflows takes some CPUs hundreds of cycles. Powers of
/// `low` and `high` are 0 and infinity. NaN stays NaN: all comparisons are
/// false for it.
Value MathF32::inRange(Value x, float low, float high,
                       llvm::function_ref<Value(Value)> power) {
  Value above = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, c(high));
  x = arith::SelectOp::create(b, above, c(high), x);
  // The instruction's own mask does the rest: what it leaves out cannot
  // underflow.
  if (scalef) {
    wanted = arith::CmpFOp::create(b, arith::CmpFPredicate::UGE, x, c(low));
    return power(x);
  }
  Value below = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, c(low));
  if (freeUnderflow)
    return power(arith::SelectOp::create(b, below, c(low), x));
  x = arith::SelectOp::create(b, below, c(0.0f), x);
  return arith::SelectOp::create(b, below, c(0.0f), power(x));
}

Value MathF32::toBits(Value x) {
  return arith::BitcastOp::create(b, intType, x);
}
Value MathF32::fromBits(Value x) {
  return arith::BitcastOp::create(b, type, x);
}

/// The bits of `mask` as an integer of 8 or 16.
static Value maskBits(ImplicitLocOpBuilder &b, Value mask) {
  int64_t lanes = cast<VectorType>(mask.getType()).getNumElements();
  int64_t bits = std::max<int64_t>(lanes, 8);
  if (lanes < bits) {
    SmallVector<int64_t> places(bits, lanes); // of an element that is false
    for (int64_t lane = 0; lane < lanes; ++lane)
      places[lane] = lane;
    Value none = arith::ConstantOp::create(b, b.getZeroAttr(mask.getType()));
    mask = vector::ShuffleOp::create(b, mask, none, places);
  }
  auto whole = VectorType::get({1}, b.getIntegerType(bits));
  return vector::ExtractOp::create(b, vector::BitCastOp::create(b, whole, mask),
                                   ArrayRef<int64_t>{0});
}

/// x * 2^power, power an integer as f32, in one instruction that rounds once,
/// overflows to infinity and keeps NaN; 0 in the lanes that are not `wanted`.
Value MathF32::callScalef(Value x, Value power) {
  auto vector = cast<VectorType>(type);
  int64_t lanes = vector.getNumElements(),
          native = std::min<int64_t>(lanes, 16);
  auto flat = VectorType::get(lanes, b.getF32Type());
  auto piece = VectorType::get(native, b.getF32Type());
  if (flat != vector) {
    x = vector::ShapeCastOp::create(b, flat, x);
    power = vector::ShapeCastOp::create(b, flat, power);
    if (wanted)
      wanted =
          vector::ShapeCastOp::create(b, flat.clone(b.getI1Type()), wanted);
  }
  std::string name =
      "llvm.x86.avx512.mask.scalef.ps." + std::to_string(native * 32);
  Value none = arith::ConstantOp::create(b, b.getZeroAttr(piece));
  auto maskType = b.getIntegerType(std::max<int64_t>(native, 8));
  Value all =
      wanted ? Value()
             : arith::ConstantOp::create(b, b.getIntegerAttr(maskType, -1));
  // Rounding as the CPU's state says; only vectors of 512 bits can choose.
  Value rounding = arith::ConstantOp::create(b, b.getI32IntegerAttr(4));
  Value result = lanes == native
                     ? Value()
                     : arith::ConstantOp::create(b, b.getZeroAttr(flat));
  for (int64_t first = 0; first < lanes; first += native) {
    auto pieceOf = [&](Value whole) -> Value {
      if (lanes == native)
        return whole;
      return sliceLanes(b, whole, first, native);
    };
    SmallVector<Value> operands = {pieceOf(x), pieceOf(power), none};
    operands.push_back(wanted ? maskBits(b, pieceOf(wanted)) : all);
    if (native == 16)
      operands.push_back(rounding);
    Value part =
        LLVM::CallIntrinsicOp::create(b, piece, b.getStringAttr(name), operands)
            .getResult(0);
    result = result ? vector::InsertStridedSliceOp::create(
                          b, part, result, ArrayRef<int64_t>{first},
                          ArrayRef<int64_t>{1})
                    : part;
  }
  return flat == vector ? result
                        : vector::ShapeCastOp::create(b, vector, result);
}

static constexpr float ones = 0x1.8p23f;

Value MathF32::nearest(Value x, float scale, float offset) {
  if (scale == 1.0f)
    return arith::AddFOp::create(b, x, c(offset));
  return mulAdd(x, c(scale), c(offset));
}

/// factor(x, n) * 2^n, with n the integer nearest to x * scale, |n| <= 250.
///
/// In a sum with 1.5 * 2^23 the lowest bit counts ones. No conversion is used,
/// whose result for NaN would be undefined. 2^n itself may not be a normal
/// number: it is two factors, the powers of h, about n / 2, and of n - h. Only
/// the second product can round. Both exponents get f32's bias by the numbers
/// that are added; what is above the sums' lowest 8 bits is shifted out.
Value MathF32::timesPower(Value x, float scale, Factor factor) {
  if (scalef) {
    Value product =
        scale == 1.0f ? x : arith::MulFOp::create(b, x, c(scale)).getResult();
    Value n = math::RoundEvenOp::create(b, product);
    return callScalef(factor(x, n), n);
  }
  constexpr float bias = 127.0f;
  Value sum = nearest(x, scale, ones + 2 * bias);
  Value n = arith::SubFOp::create(b, sum, c(ones + 2 * bias));
  Value half = toBits(nearest(x, scale / 2, ones + bias));
  Value rest = arith::SubIOp::create(b, toBits(sum), half);
  Value result = factor(x, n);
  for (Value exponent : {half, rest}) {
    Value power = fromBits(arith::ShLIOp::create(b, exponent, ci(23)));
    result = arith::MulFOp::create(b, result, power);
  }
  return result;
}

/// The same where the result is a normal number: its exponent is the sum of
/// both, and all bits are those of timesPower.
Value MathF32::powerOfNormal(Value x, float scale, Factor factor) {
  Value sum = nearest(x, scale, ones);
  Value n = arith::SubFOp::create(b, sum, c(ones));
  Value exponent = arith::ShLIOp::create(b, toBits(sum), ci(23));
  return fromBits(arith::AddIOp::create(b, toBits(factor(x, n)), exponent));
}

bool MathF32::isMadeOfVectors() const {
  auto vector = dyn_cast<VectorType>(type);
  int64_t lanes = vectorBits / 32;
  return vector && vector.getRank() == 1 && !vector.isScalable() && lanes > 0 &&
         vector.getNumElements() % lanes == 0;
}

bool MathF32::isSeveralVectors() const {
  return isMadeOfVectors() &&
         cast<VectorType>(type).getNumElements() >= 2 * (vectorBits / 32);
}

/// Whether a lane is NaN, or of a larger size than `most`. As integers floats
/// without sign are in order, and NaN above all.
Value MathF32::isAnyAbove(Value x, float most) {
  Value size = arith::AndIOp::create(b, toBits(x), ci(0x7fffffff));
  int64_t lanes = vectorBits / 32;
  Value largest = sliceLanes(b, size, 0, lanes);
  for (int64_t at = lanes; at < cast<VectorType>(type).getNumElements();
       at += lanes)
    largest =
        arith::MaxSIOp::create(b, largest, sliceLanes(b, size, at, lanes));
  // Compared as floats: of integers without a sign LLVM makes two operations.
  auto native = VectorType::get(lanes, b.getF32Type());
  Value limit =
      arith::ConstantOp::create(b, DenseElementsAttr::get(native, most));
  return isAnySet(b, arith::CmpFOp::create(
                         b, arith::CmpFPredicate::UGT,
                         arith::BitcastOp::create(b, native, largest), limit));
}

/// factor(x, n) * 2^n for every x: 0 below `limits.zero`, infinity above
/// `limits.infinity`. AVX2 multiplies, adds and compares in two of four units;
/// where no lane of several vectors is further from 0 than `limits.normal`, as
/// nearly always, a third of that work is left out.
Value MathF32::power(Value x, const PowerLimits &limits, float scale,
                     Factor factor) {
  auto general = [&] {
    return inRange(x, limits.zero, limits.infinity, [&](Value inside) {
      return timesPower(inside, scale, factor);
    });
  };
  if (scalef || vectorBits != 256 || !isSeveralVectors())
    return general();
  auto branch = scf::IfOp::create(b, type, isAnyAbove(x, limits.normal),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, general());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, powerOfNormal(x, scale, factor));
  return branch.getResult(0);
}

/// exp(r) with r = x - n * ln 2, |r| <= ln(2) / 2, in two steps, for the first
/// of which n * ln2High is exact. Where few bits count, one step is enough if
/// the product is not rounded.
Value MathF32::expOfRest(Value x, Value n) {
  Value r = x;
  if (rounded != Rounded::Never && fma) {
    r = mulAdd(n, c(-0.693147182f), r);
  } else {
    r = mulAdd(n, c(-0.693359375f), r);
    r = mulAdd(n, c(2.12194440e-4f), r);
  }
  if (rounded != Rounded::Never)
    return polynomial(r, {0.9999992847442627f, 0.9999634027481079f,
                          0.5000435709953308f, 0.16790907084941864f,
                          0.0414586067199707f});
  return polynomial(r, {1.0f, 1.0f, 0x1.fffffep-2f, 0.1666652113199234f,
                        0.041668277233839035f, 0.008368686772882938f,
                        0.0013819823507219553f});
}

/// exp(x) = 2^n * exp(r) with n = round(x / ln 2).
Value MathF32::exp(Value argument) {
  if (hasTables())
    return expByTable(argument);
  return power(argument, {-104.0f, 90.0f, 87.0f}, 1.44269504f,
               [&](Value x, Value n) { return expOfRest(x, n); });
}

/// 2^x = 2^n * 2^r with n = round(x), |r| <= 1/2.
Value MathF32::exp2(Value argument) {
  if (hasTables())
    return exp2ByTable(argument);
  auto factor = [&](Value x, Value n) -> Value {
    Value r = arith::SubFOp::create(b, x, n);
    if (rounded != Rounded::Never)
      return polynomial(r, {0.9999992847442627f, 0.6931217908859253f,
                            0.240247443318367f, 0.05591785907745361f,
                            0.009570102207362652f});
    Value q = polynomial(r, {0.6931471824645996f, 0.24022647738456726f,
                             0.05550359562039375f, 0.009618503041565418f,
                             0.0013390997191891074f, 0.0001532784226583317f});
    return mulAdd(q, r, c(1.0f));
  };
  return power(argument, {-150.0f, 130.0f, 125.0f}, 1.0f, factor);
}

/// Nothing is left to a polynomial. Of integers nothing is tested.
Value MathF32::exp2OfWhole(Value x) {
  if (scalef) {
    leaveOutBelow(x, -150.0f);
    return callScalef(c(1.0f), x);
  }
  if (wholeInteger(x))
    return powerOfWhole(b, x, /*shifts=*/vectorBits > 128);
  // 1, and NaN of NaN.
  return power(x, {-150.0f, 130.0f, 125.0f}, 1.0f, [&](Value inside, Value) {
    return mulAdd(inside, c(0.0f), c(1.0f));
  });
}

MathF32::Decomposed MathF32::decompose(Value x) {
  // Denormals are made normal first.
  Value tiny =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, c(0x1p-126f));
  Value normal = arith::SelectOp::create(
      b, tiny, arith::MulFOp::create(b, x, c(0x1p23f)), x);
  Value correction = arith::SelectOp::create(b, tiny, c(-23.0f), c(0.0f));

  constexpr int32_t sqrtHalf = 0x3f3504f3;
  Value bits = arith::SubIOp::create(b, toBits(normal), ci(sqrtHalf));
  Value exponent = arith::ShRSIOp::create(b, bits, ci(23));
  Value mantissa = arith::AddIOp::create(
      b, arith::AndIOp::create(b, bits, ci(0x7fffff)), ci(sqrtHalf));

  Decomposed parts;
  parts.exponent = arith::AddFOp::create(
      b, arith::SIToFPOp::create(b, type, exponent), correction);
  parts.f = arith::SubFOp::create(b, fromBits(mantissa), c(1.0f));
  Value square = arith::MulFOp::create(b, parts.f, parts.f);
  parts.halfSquare = arith::MulFOp::create(b, square, c(0.5f));
  Value q = polynomial(parts.f, {0.3333333134651184f, -0.2500081956386566f,
                                 0.2000124305486679f, -0.1662341058254242f,
                                 0.14201539754867554f, -0.13159550726413727f,
                                 0.12762485444545746f, -0.07636940479278564f});
  parts.tail =
      arith::MulFOp::create(b, arith::MulFOp::create(b, square, parts.f), q);
  return parts;
}

/// What the decomposition gets wrong: log of 0, of infinity, of NaN, and of
/// negative numbers.
Value MathF32::finishLog(Value x, Value result) {
  Value infinity = c(INFINITY);
  Value isLarge =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, infinity);
  result = arith::SelectOp::create(b, isLarge, infinity, result);
  Value isZero =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, c(0.0f));
  result = arith::SelectOp::create(b, isZero, c(-INFINITY), result);
  Value isBad = arith::CmpFOp::create(b, arith::CmpFPredicate::ULT, x, c(0.0f));
  return arith::SelectOp::create(b, isBad, c(NAN), result);
}

/// log(2^e * (1 + f)) = e * ln 2 + f - f^2/2 + tail(f), the small parts summed
/// first.
Value MathF32::log(Value x) {
  if (hasTables())
    return naturalByTable(x);
  Decomposed parts = decompose(x);
  Value small = mulAdd(parts.exponent, c(-2.12194440e-4f), parts.tail);
  small = arith::SubFOp::create(b, small, parts.halfSquare);
  Value sum = arith::AddFOp::create(b, parts.f, small);
  sum = mulAdd(parts.exponent, c(0.693359375f), sum);
  return finishLog(x, sum);
}

/// log2(2^e * (1 + f)) = e + (f - f^2/2 + tail(f)) * log2(e), with log2(e) - 1
/// as the factor so that f itself is not rounded.
Value MathF32::log2(Value x) {
  if (hasTables())
    return binaryByTable(x);
  Decomposed parts = decompose(x);
  Value small = arith::SubFOp::create(b, parts.tail, parts.halfSquare);
  Value factor = c(0.44269504f);
  Value sum = arith::MulFOp::create(b, small, factor);
  sum = mulAdd(parts.f, factor, sum);
  sum = arith::AddFOp::create(b, sum, small);
  sum = arith::AddFOp::create(b, sum, parts.f);
  return finishLog(x, arith::AddFOp::create(b, sum, parts.exponent));
}
