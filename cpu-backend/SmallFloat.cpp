//===- SmallFloat.cpp - floats of 4 to 16 bits as integers and f32 --------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/SmallFloat.h"
#include "cpu-backend/MathVectors.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace tilebridge::cpu;

std::optional<SmallFloatFormat> SmallFloatFormat::of(Type type) {
  return llvm::TypeSwitch<Type, std::optional<SmallFloatFormat>>(type)
      .Case([](Float16Type) { return SmallFloatFormat{16, 10, 15, Ieee}; })
      .Case([](BFloat16Type) { return SmallFloatFormat{16, 7, 127, Ieee}; })
      .Case([](Float8E5M2Type) { return SmallFloatFormat{8, 2, 15, Ieee}; })
      .Case([](Float8E4M3FNType) { return SmallFloatFormat{8, 3, 7, Fn}; })
      .Case([](Float8E5M2FNUZType) { return SmallFloatFormat{8, 2, 16, Fnuz}; })
      .Case([](Float8E4M3FNUZType) { return SmallFloatFormat{8, 3, 8, Fnuz}; })
      .Case([](Float6E2M3FNType) { return SmallFloatFormat{6, 3, 1, Finite}; })
      .Case([](Float6E3M2FNType) { return SmallFloatFormat{6, 2, 3, Finite}; })
      .Case([](Float4E2M1FNType) { return SmallFloatFormat{4, 1, 1, Finite}; })
      .Case([](Float8E8M0FNUType) { return SmallFloatFormat{8, 0, 127, Fn}; })
      .Default(std::nullopt);
}

uint32_t SmallFloatFormat::largest() const {
  uint32_t magnitudes = signBit() - 1;
  switch (special) {
  case Ieee:
    return (magnitudes >> mantissa << mantissa) - 1;
  case Fn:
    return magnitudes - 1;
  case Fnuz:
  case Finite:
    return magnitudes;
  }
  llvm_unreachable("all formats are listed");
}

uint32_t SmallFloatFormat::nan() const {
  if (special == Fnuz)
    return signBit();
  // All ones above the lowest bits of the mantissa: quiet.
  return bits == 8 ? signBit() - 1 : largest() + 1 + (1u << (mantissa - 1));
}

Type SmallFloatConverter::like(Value shape, Type element) {
  if (auto vector = dyn_cast<VectorType>(shape.getType()))
    return vector.clone(element);
  return element;
}

Value SmallFloatConverter::constant(Type type, uint32_t value) {
  auto element = cast<IntegerType>(getElementTypeOrSelf(type));
  TypedAttr attr =
      b.getIntegerAttr(element, llvm::APInt(element.getWidth(), value));
  if (auto vector = dyn_cast<VectorType>(type))
    attr =
        DenseElementsAttr::get(vector, llvm::APInt(element.getWidth(), value));
  return arith::ConstantOp::create(b, attr);
}

Value SmallFloatConverter::constantF(Type type, double value) {
  auto element = b.getFloatAttr(getElementTypeOrSelf(type), value);
  TypedAttr attr = element;
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(element));
  return arith::ConstantOp::create(b, attr);
}

/// A power of two from its biased exponent: the one of f32, where the least is
/// a denormal, and the largest code is NaN.
Value SmallFloatConverter::extendExponent(Value x) {
  Type f32 = like(x, b.getF32Type()), i32 = like(x, b.getI32Type());
  Value code = arith::BitcastOp::create(b, like(x, b.getI8Type()), x);
  Value wide = arith::ExtUIOp::create(b, i32, code);
  auto isCode = [&](uint32_t number) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, wide,
                                 constant(i32, number));
  };
  Value bits = arith::ShLIOp::create(b, wide, constant(i32, 23));
  bits = arith::SelectOp::create(b, isCode(0), constant(i32, 1u << 22), bits);
  bits =
      arith::SelectOp::create(b, isCode(255), constant(i32, 0x7fc00000), bits);
  return arith::BitcastOp::create(b, f32, bits);
}

/// Words of zero and those of `code` in turn.
Value SmallFloatConverter::behindZeros(Value code) {
  Value zeros = arith::ConstantOp::create(b, b.getZeroAttr(code.getType()));
  SmallVector<int64_t> order;
  int64_t lanes = cast<VectorType>(code.getType()).getNumElements();
  for (int64_t lane = 0; lane < lanes; ++lane)
    order.append({0, lanes + lane});
  return vector::ShuffleOp::create(b, zeros, code, order);
}

Value SmallFloatConverter::extend(Value x) {
  Type source = getElementTypeOrSelf(x.getType());
  if (isa<Float8E8M0FNUType>(source))
    return extendExponent(x);
  SmallFloatFormat format = *SmallFloatFormat::of(source);
  Type f32 = like(x, b.getF32Type()), i32 = like(x, b.getI32Type());
  if (source.isF16() && has.f16)
    return arith::ExtFOp::create(b, f32, x);

  Value code =
      arith::BitcastOp::create(b, like(x, b.getIntegerType(format.bits)), x);
  if (source.isBF16()) {
    if (auto vector = dyn_cast<VectorType>(x.getType());
        vector && has.wordShuffles && vector.getRank() == 1 &&
        !vector.isScalable() && vector.getNumElements() % 32 == 0)
      return vector::BitCastOp::create(b, f32, behindZeros(code));
    Value wide = arith::ExtUIOp::create(b, i32, code);
    return arith::BitcastOp::create(
        b, f32, arith::ShLIOp::create(b, wide, constant(i32, 16)));
  }

  if (auto vector = dyn_cast<VectorType>(x.getType());
      vector && has.lookups && isa<Float4E2M1FNType>(source) &&
      vector.getRank() == 1 && vector.getNumElements() % 16 == 0)
    return lookUp(arith::ExtUIOp::create(b, i32, code));

  if (Value found = lookUpF32(x))
    return found;

  // The exponent fits that of f16 (or f32) but for its bias, which a
  // multiplication by a power of two corrects, for denormals too. FNUZ with 5
  // bits of exponent uses the code that is infinity in f16.
  bool throughF16 = has.f16 && !(format.special == SmallFloatFormat::Fnuz &&
                                 format.mantissa == 2);
  unsigned width = throughF16 ? 16 : 32, mantissa = throughF16 ? 10 : 23;
  Value bits = shiftCode(code, format, width, mantissa);
  // What is no number becomes so before it is widened: lanes are half as wide.
  bits = withSpecial(bits, format, mantissa - format.mantissa);
  Value value = arith::BitcastOp::create(
      b, throughF16 ? like(x, b.getF16Type()) : f32, bits);
  if (throughF16)
    value = arith::ExtFOp::create(b, f32, value);
  int correction = (throughF16 ? 15 : 127) - format.bias;
  if (correction != 0)
    value = arith::MulFOp::create(b, value,
                                  constantF(f32, std::ldexp(1.0, correction)));
  return value;
}

/// The code's magnitude right below the sign of a wider float, whose mantissa
/// it ends with.
Value SmallFloatConverter::shiftCode(Value code, const SmallFloatFormat &format,
                                     unsigned width, unsigned mantissa) {
  Type type = like(code, b.getIntegerType(width));
  unsigned shift = mantissa - format.mantissa;
  uint32_t magnitude = (format.signBit() - 1) << shift,
           sign = 1u << (width - 1);
  // Extended as a signed number, the sign is where it belongs as well.
  if (format.bits == 8) {
    Value wide = arith::ExtSIOp::create(b, type, code);
    wide = arith::ShLIOp::create(b, wide, constant(type, shift));
    return shift + format.bits == width
               ? wide
               : arith::AndIOp::create(b, wide,
                                       constant(type, magnitude | sign));
  }
  Value wide = arith::ExtUIOp::create(b, type, code);
  Value upper =
      arith::AndIOp::create(b, wide, constant(type, format.signBit()));
  upper = arith::ShLIOp::create(b, upper, constant(type, width - format.bits));
  Value lower =
      arith::AndIOp::create(b, wide, constant(type, format.signBit() - 1));
  lower = arith::ShLIOp::create(b, lower, constant(type, shift));
  return arith::OrIOp::create(b, lower, upper);
}

/// Shifted codes, but for those that are no numbers: infinity and NaN of the
/// wider float.
Value SmallFloatConverter::withSpecial(Value bits,
                                       const SmallFloatFormat &format,
                                       unsigned shift) {
  Type type = bits.getType();
  bool isF16 = getElementTypeOrSelf(type).isInteger(16);
  uint32_t magnitudes = (format.signBit() - 1) << shift;
  auto test = [&](Value tested, arith::CmpIPredicate is, uint32_t limit) {
    return arith::CmpIOp::create(b, is, tested, constant(type, limit));
  };
  auto magnitude = [&]() -> Value {
    return arith::AndIOp::create(b, bits, constant(type, magnitudes));
  };
  auto nanWhere = [&](Value isNan) -> Value {
    return arith::SelectOp::create(
        b, isNan, constant(type, isF16 ? 0x7e00 : 0x7fc00000), bits);
  };
  switch (format.special) {
  case SmallFloatFormat::Finite:
    return bits;
  case SmallFloatFormat::Ieee: {
    // Those are f16's as well.
    if (isF16)
      return bits;
    Value isSpecial =
        test(magnitude(), arith::CmpIPredicate::ugt, format.largest() << shift);
    Value special = arith::OrIOp::create(b, bits, constant(type, 0x7f800000));
    return arith::SelectOp::create(b, isSpecial, special, bits);
  }
  case SmallFloatFormat::Fn: {
    if (!isF16)
      return nanWhere(test(magnitude(), arith::CmpIPredicate::eq, magnitudes));
    // One more than NaN is the upper bit of f16's exponent, all others of which
    // NaN has. LLVM would move a select behind the widening.
    Value next = arith::AddIOp::create(b, bits, constant(type, 1u << shift));
    next = arith::AndIOp::create(b, next, constant(type, 0x4000));
    return arith::OrIOp::create(b, bits, next);
  }
  case SmallFloatFormat::Fnuz:
    return nanWhere(
        test(bits, arith::CmpIPredicate::eq, isF16 ? 0x8000 : 0x80000000));
  }
  llvm_unreachable("all formats are listed");
}

/// The numbers of the 16 codes of e2m1 are in a register.
Value SmallFloatConverter::lookUp(Value codes) {
  constexpr int64_t lanes = 16;
  SmallVector<float> numbers = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (int64_t i = 0; i < 8; ++i)
    numbers.push_back(-numbers[i]);
  auto type = VectorType::get(lanes, b.getF32Type());
  Value table = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, ArrayRef<float>(numbers)));
  auto lookUpSome = [&](Value some) -> Value {
    return LLVM::CallIntrinsicOp::create(
               b, type, b.getStringAttr("llvm.x86.avx512.permvar.sf.512"),
               ValueRange{table, some})
        ->getResult(0);
  };
  auto whole = cast<VectorType>(codes.getType());
  if (whole.getNumElements() == lanes)
    return lookUpSome(codes);
  Value result =
      arith::ConstantOp::create(b, b.getZeroAttr(whole.clone(b.getF32Type())));
  for (int64_t at = 0; at < whole.getNumElements(); at += lanes) {
    Value some = sliceLanes(b, codes, at, lanes);
    result = vector::InsertStridedSliceOp::create(b, lookUpSome(some), result,
                                                  ArrayRef<int64_t>{at},
                                                  ArrayRef<int64_t>{1});
  }
  return result;
}

/// The code, before overflow, of the magnitude of an f32 that is no NaN.
Value SmallFloatConverter::roundMagnitude(Value magnitude,
                                          const SmallFloatFormat &format,
                                          bool towardZero) {
  Type i32 = magnitude.getType(), f32 = like(magnitude, b.getF32Type());
  unsigned shift = 23 - format.mantissa;
  // Normal results: round the bits as an integer, then change the bias.
  Value rounded = magnitude;
  if (!towardZero) {
    Value odd = arith::ShRUIOp::create(b, magnitude, constant(i32, shift));
    odd = arith::AndIOp::create(b, odd, constant(i32, 1));
    rounded = arith::AddIOp::create(
        b, magnitude,
        arith::AddIOp::create(b, odd, constant(i32, (1u << (shift - 1)) - 1)));
  }
  Value normal = arith::ShRUIOp::create(b, rounded, constant(i32, shift));
  normal = arith::SubIOp::create(
      b, normal,
      constant(i32, static_cast<uint32_t>(127 - format.bias)
                        << format.mantissa));

  // Denormal results: a sum with the power of two whose last bit has the weight
  // of the format's smallest number. Its upper bits are then constant, its
  // lower ones the code.
  int magicExponent = 24 - format.bias - static_cast<int>(format.mantissa);
  Value magic = constantF(f32, std::ldexp(1.0, magicExponent));
  Value number = arith::BitcastOp::create(b, f32, magnitude);
  Value sum = arith::AddFOp::create(b, number, magic);
  Value denormal = arith::SubIOp::create(
      b, arith::BitcastOp::create(b, i32, sum),
      constant(i32, static_cast<uint32_t>(127 + magicExponent) << 23));
  if (towardZero) {
    Value back = arith::SubFOp::create(b, sum, magic);
    Value above =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, back, number);
    denormal = arith::SubIOp::create(b, denormal,
                                     arith::ExtUIOp::create(b, i32, above));
  }
  Value isDenormal = arith::CmpIOp::create(
      b, arith::CmpIPredicate::ult, magnitude,
      constant(i32, static_cast<uint32_t>(128 - format.bias) << 23));
  return arith::SelectOp::create(b, isDenormal, denormal, normal);
}

Value SmallFloatConverter::truncate(Value x, Type type, bool towardZero,
                                    bool keepsNans) {
  SmallFloatFormat format = *SmallFloatFormat::of(type);
  if (type.isBF16())
    return truncateBFloat(x, type, towardZero, keepsNans);
  if (type.isF16() && has.f16 && !towardZero)
    return arith::TruncFOp::create(b, like(x, type), x);

  Type i32 = like(x, b.getI32Type());
  Value bits = arith::BitcastOp::create(b, i32, x);
  Value magnitude = arith::AndIOp::create(b, bits, constant(i32, 0x7fffffff));
  Value code = roundMagnitude(magnitude, format, towardZero);

  // Overflow. Toward zero a finite number gives the largest one; infinity
  // itself does not.
  uint32_t infinity =
      format.special == SmallFloatFormat::Ieee ? format.largest() + 1
      : format.special == SmallFloatFormat::Fn ? format.largest()
                                               : format.nan();
  Value over = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, code,
                                     constant(i32, format.largest()));
  code = arith::SelectOp::create(
      b, over, constant(i32, towardZero ? format.largest() : infinity), code);
  if (towardZero) {
    Value isInfinite = arith::CmpIOp::create(
        b, arith::CmpIPredicate::eq, magnitude, constant(i32, 0x7f800000));
    code =
        arith::SelectOp::create(b, isInfinite, constant(i32, infinity), code);
  }
  Value isNan = arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, magnitude,
                                      constant(i32, 0x7f800000));
  code = arith::SelectOp::create(b, isNan, constant(i32, format.nan()), code);

  Value sign = arith::ShRUIOp::create(b, bits, constant(i32, 32 - format.bits));
  sign = arith::AndIOp::create(b, sign, constant(i32, format.signBit()));
  Value signedCode = arith::OrIOp::create(b, code, sign);
  if (format.special == SmallFloatFormat::Fnuz) {
    // There is no -0.
    Value isZero = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, code,
                                         constant(i32, 0));
    signedCode = arith::SelectOp::create(b, isZero, code, signedCode);
  }
  Value narrow = arith::TruncIOp::create(
      b, like(x, b.getIntegerType(format.bits)), signedCode);
  return arith::BitcastOp::create(b, like(x, type), narrow);
}

/// The nearest f32, then one step toward zero if that was away from it, then
/// the last bit set if anything was lost: the last bit tells a later rounding
/// whether it is at, above or below the middle.
Value SmallFloatConverter::truncateF64ToOdd(Value x) {
  Type f32 = like(x, b.getF32Type()), i32 = like(x, b.getI32Type());
  Value nearest = arith::TruncFOp::create(b, f32, x);
  Value back = arith::ExtFOp::create(b, x.getType(), nearest);
  Value bits = arith::BitcastOp::create(b, i32, nearest);
  Type i64 = like(x, b.getI64Type());
  auto magnitude = [&](Value v) {
    Value mask = arith::ConstantOp::create(
        b, isa<VectorType>(i64)
               ? TypedAttr(DenseElementsAttr::get(cast<VectorType>(i64),
                                                  llvm::APInt(64, INT64_MAX)))
               : TypedAttr(b.getI64IntegerAttr(INT64_MAX)));
    return arith::AndIOp::create(b, arith::BitcastOp::create(b, i64, v), mask);
  };
  Value away = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt,
                                     magnitude(back), magnitude(x));
  Value toward =
      arith::SubIOp::create(b, bits, arith::ExtUIOp::create(b, i32, away));
  Value odd = arith::OrIOp::create(b, toward, constant(i32, 1));
  // False for NaN, which stays as it is.
  Value inexact = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, x);
  return arith::BitcastOp::create(
      b, f32, arith::SelectOp::create(b, inexact, odd, bits));
}
