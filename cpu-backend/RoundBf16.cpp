//===- RoundBf16.cpp - f32 to bf16 ----------------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// AVX512_BF16 has an instruction for 32 numbers. It takes numbers below the
// normal ones as zero and keeps bits of NaN; where there are such, the ten
// instructions of the general way run, so that results are the same everywhere.
// Where NaNs are short (ShortNans.h) both ways keep the same bits of them, and
// a number below the normal ones shows as a zero: there are half as many
// results to look at as numbers, and numbers only where one of them is zero.
//===----------------------------------------------------------------------===//

#include "cpu-backend/MathVectors.h"
#include "cpu-backend/SmallFloat.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

Value SmallFloatConverter::truncateBFloat(Value x, Type type, bool towardZero,
                                          bool keepsNans) {
  auto vector = dyn_cast<VectorType>(x.getType());
  auto done = [&](Value codes) -> Value {
    return arith::BitcastOp::create(b, like(x, type), codes);
  };
  if (!has.bf16Rounding || towardZero || !vector || vector.getRank() != 1 ||
      vector.isScalable() || vector.getNumElements() % 32 != 0)
    return done(roundBFloat(x, towardZero, keepsNans));
  auto type16 = vector.clone(b.getI16Type());
  auto either = [&](Value condition, llvm::function_ref<Value()> then,
                    llvm::function_ref<Value()> otherwise) {
    auto branch =
        scf::IfOp::create(b, type16, condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, then());
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, otherwise());
    return branch.getResult(0);
  };
  auto general = [&] { return roundBFloat(x, towardZero, keepsNans); };
  if (!keepsNans)
    return done(either(isAnySpecial(x), general,
                       [&] { return roundNormals(x, type16); }));
  Value codes = roundNormals(x, type16);
  return done(either(
      isAnyZero(codes),
      [&] { return either(isAnySpecial(x), general, [&] { return codes; }); },
      [&] { return codes; }));
}

/// Whether one is a zero of either sign, or else below the normal numbers: of
/// zeros alone LLVM would make a comparison with zero, of bf16, which it would
/// then widen.
Value SmallFloatConverter::isAnyZero(Value codes) {
  Type i32 = b.getI32Type();
  Value any;
  int64_t lanes = cast<VectorType>(codes.getType()).getNumElements();
  for (int64_t at = 0; at < lanes; at += 32) {
    Value some = sliceLanes(b, codes, at, 32);
    Value exponent =
        arith::AndIOp::create(b, some, constant(some.getType(), 0x7f80));
    Value isZero = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, exponent,
                                         constant(some.getType(), 0));
    Value bits = LLVM::BitcastOp::create(b, i32, isZero);
    any = any ? arith::OrIOp::create(b, any, bits).getResult() : bits;
  }
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, any,
                               constant(i32, 0));
}

/// Whether one is NaN or below the normal numbers: AVX512_BF16's conversion
/// keeps bits of the one and makes zeros of the others.
Value SmallFloatConverter::isAnySpecial(Value x) {
  constexpr int32_t quietNan = 0x01, subnormal = 0x20, signalingNan = 0x80;
  Value kinds = arith::ConstantOp::create(
      b, b.getI32IntegerAttr(quietNan | subnormal | signalingNan));
  Value any;
  int64_t lanes = cast<VectorType>(x.getType()).getNumElements();
  for (int64_t at = 0; at < lanes; at += 16) {
    Value isSpecial = LLVM::CallIntrinsicOp::create(
                          b, VectorType::get(16, b.getI1Type()),
                          b.getStringAttr("llvm.x86.avx512.fpclass.ps.512"),
                          ValueRange{sliceLanes(b, x, at, 16), kinds})
                          ->getResult(0);
    Value bits = LLVM::BitcastOp::create(b, b.getI16Type(), isSpecial);
    any = any ? arith::OrIOp::create(b, any, bits).getResult() : bits;
  }
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, any,
                               constant(any.getType(), 0));
}

Value SmallFloatConverter::roundNormals(Value x, VectorType type) {
  auto some = VectorType::get(32, type.getElementType());
  Value result;
  for (int64_t at = 0; at < type.getNumElements(); at += 32) {
    // The first operand becomes the upper half.
    Value codes =
        LLVM::CallIntrinsicOp::create(
            b, some, b.getStringAttr("llvm.x86.avx512bf16.cvtne2ps2bf16.512"),
            ValueRange{sliceLanes(b, x, at + 16, 16), sliceLanes(b, x, at, 16)})
            ->getResult(0);
    if (type == some)
      return codes;
    if (!result)
      result = arith::ConstantOp::create(b, b.getZeroAttr(type));
    result = vector::InsertStridedSliceOp::create(
        b, codes, result, ArrayRef<int64_t>{at}, ArrayRef<int64_t>{1});
  }
  return result;
}

/// Rounding carries into the exponent and from the largest number to infinity,
/// as it should.
Value SmallFloatConverter::roundInUpperHalf(Value x, bool towardZero,
                                            bool keepsNans) {
  Type i32 = like(x, b.getI32Type());
  Value bits = arith::BitcastOp::create(b, i32, x);
  Value rounded = bits;
  if (!towardZero) {
    Value odd = arith::ShRUIOp::create(b, bits, constant(i32, 16));
    odd = arith::AndIOp::create(b, odd, constant(i32, 1));
    rounded = arith::AddIOp::create(
        b, bits, arith::AddIOp::create(b, odd, constant(i32, 0x7fff)));
  }
  if (keepsNans)
    return rounded;
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
  return arith::SelectOp::create(b, isNan, constant(i32, 0x7fc00000), rounded);
}

Value SmallFloatConverter::bitsWithShortNans(Value x, bool areShort) {
  Type i32 = like(x, b.getI32Type());
  Value bits = arith::BitcastOp::create(b, i32, x);
  if (areShort)
    return bits;
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
  return arith::SelectOp::create(b, isNan, constant(i32, 0x7fc00000), bits);
}

/// All upper halves are rounded at once: one is added to those whose lower half
/// is more than 0x8000, or that and the upper one odd.
Value SmallFloatConverter::roundPairs(Value even, Value odd, bool towardZero) {
  auto words = cast<VectorType>(even.getType());
  auto halves = VectorType::get(2 * words.getNumElements(), b.getI16Type());
  auto both = [&](Value low, Value high) -> Value {
    return vector::BitCastOp::create(b, halves,
                                     arith::OrIOp::create(b, low, high));
  };
  Value count = constant(words, 16);
  Value upper =
      both(arith::ShRUIOp::create(b, even, count),
           arith::AndIOp::create(b, odd, constant(words, 0xffff0000)));
  if (towardZero)
    return upper;
  Value lower = both(arith::AndIOp::create(b, even, constant(words, 0xffff)),
                     arith::ShLIOp::create(b, odd, count));
  // What is taken from the lower half where the upper one is even, but not
  // below zero: then the first bit says which are to be rounded up.
  Value less = arith::AndIOp::create(
      b, arith::XOrIOp::create(b, upper, constant(halves, 0xffff)),
      constant(halves, 1));
  lower =
      arith::SubIOp::create(b, arith::MaxUIOp::create(b, lower, less), less);
  return arith::AddIOp::create(
      b, upper, arith::ShRUIOp::create(b, lower, constant(halves, 15)));
}

Value SmallFloatConverter::roundToBf16(Value x, bool keepsNans) {
  Value bits = roundInUpperHalf(x, /*towardZero=*/false, keepsNans);
  bits = arith::AndIOp::create(b, bits, constant(bits.getType(), 0xffff0000));
  return arith::BitcastOp::create(b, x.getType(), bits);
}

Value SmallFloatConverter::roundBFloat(Value x, bool towardZero,
                                       bool keepsNans) {
  return upperHalves(roundInUpperHalf(x, towardZero, keepsNans));
}

/// The upper 16 bits of each 32: of vectors every second element of twice as
/// many, which is one instruction where a shift and a truncation are four.
Value SmallFloatConverter::upperHalves(Value bits) {
  Type i16 = b.getI16Type();
  auto vector = dyn_cast<VectorType>(bits.getType());
  if (!vector || vector.getRank() != 1 || vector.isScalable() ||
      vector.getNumElements() < 8) {
    Value upper = arith::ShRUIOp::create(b, bits, constant(bits.getType(), 16));
    return arith::TruncIOp::create(b, like(bits, i16), upper);
  }
  int64_t lanes = vector.getNumElements();
  Value halves =
      vector::BitCastOp::create(b, VectorType::get(2 * lanes, i16), bits);
  SmallVector<int64_t> odd;
  for (int64_t lane = 0; lane < lanes; ++lane)
    odd.push_back(2 * lane + 1);
  return vector::ShuffleOp::create(b, halves, halves, odd);
}
