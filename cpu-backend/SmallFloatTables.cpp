//===- SmallFloatTables.cpp - floats of 8 bits by tables ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A magnitude has 7 bits, and AVX512_VBMI looks up 64 bytes in a table of 128:
// one for each half of a bf16.
//===----------------------------------------------------------------------===//

#include "cpu-backend/MathVectors.h"
#include "cpu-backend/SmallFloat.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// The bf16 of a code without a sign: NaN is the quiet one.
static uint16_t bf16Of(const llvm::fltSemantics &semantics, unsigned code) {
  llvm::APFloat number(semantics, llvm::APInt(8, code));
  bool losesInfo;
  if (number.isNaN())
    return 0x7fc0;
  number.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

/// One half of the bf16 of 64 codes of a type, without their signs, which the
/// instruction does not look at: the lower 8 bits or those `shift` above.
static Value lookUpHalf(ImplicitLocOpBuilder &b, FloatType type, Value codes,
                        unsigned shift) {
  auto bytes = cast<VectorType>(codes.getType());
  SmallVector<uint8_t> numbers;
  for (unsigned code = 0; code < 128; ++code)
    numbers.push_back(
        static_cast<uint8_t>(bf16Of(type.getFloatSemantics(), code) >> shift));
  auto table = [&](ArrayRef<uint8_t> part) -> Value {
    return arith::ConstantOp::create(b, DenseElementsAttr::get(bytes, part));
  };
  return LLVM::CallIntrinsicOp::create(
             b, bytes, b.getStringAttr("llvm.x86.avx512.vpermi2var.qi.512"),
             ValueRange{table(ArrayRef(numbers).take_front(64)), codes,
                        table(ArrayRef(numbers).take_back(64))})
      ->getResult(0);
}

Value SmallFloatConverter::lookUpBf16(Value x) {
  constexpr int64_t lanes = 64;
  auto whole = dyn_cast<VectorType>(x.getType());
  if (!has.byteLookups || !whole || whole.getRank() != 1 ||
      whole.isScalable() || whole.getNumElements() != lanes ||
      !isa<Float8E4M3FNType, Float8E5M2Type>(whole.getElementType()))
    return {};
  auto element = cast<FloatType>(whole.getElementType());
  auto bytes = whole.clone(b.getI8Type());
  Value codes = arith::BitcastOp::create(b, bytes, x);
  Value low = lookUpHalf(b, element, codes, 0),
        high = lookUpHalf(b, element, codes, 8);
  // What is the sign of a number is that of a NaN as well.
  Value sign = arith::AndIOp::create(b, codes, constant(bytes, 0x80));
  high = arith::OrIOp::create(b, high, sign);
  Value halves = vector::InterleaveOp::create(b, low, high);
  Value codes16 =
      vector::BitCastOp::create(b, whole.clone(b.getI16Type()), halves);
  return arith::BitcastOp::create(b, whole.clone(b.getBF16Type()), codes16);
}

/// f32 of 32 or 64 codes, in a register. What follows the first shuffle works
/// within 128 bits: each of these has four codes of each vector of f32.
static Value lookUpRegister(ImplicitLocOpBuilder &b, Value codes,
                            FloatType element) {
  constexpr int64_t lanes = 64;
  int64_t count = cast<VectorType>(codes.getType()).getNumElements();
  auto bytes = VectorType::get(lanes, b.getI8Type());
  auto halves = VectorType::get(lanes / 2, b.getI16Type());
  auto floats = VectorType::get(lanes / 4, b.getF32Type());
  bool isPaired = count == lanes / 2; // Both bytes of a bf16 are its code.
  int64_t vectors = count / 16, copies = isPaired ? 2 : 1;
  SmallVector<int64_t> order;
  for (int64_t group = 0; group < 4; ++group)
    for (int64_t vector = 0; vector < vectors; ++vector)
      for (int64_t lane = 0; lane < 4 * copies; ++lane)
        order.push_back(16 * vector + 4 * group + lane / copies);
  codes = vector::ShuffleOp::create(b, codes, codes, order);
  auto pattern = [&](uint8_t even, uint8_t odd) -> Value {
    SmallVector<uint8_t> values;
    for (int64_t lane = 0; lane < lanes; ++lane)
      values.push_back(lane % 2 == 0 ? even : odd);
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(bytes, ArrayRef<uint8_t>(values)));
  };
  // Of two vectors the lower or upper half of each 128 bits, in turns.
  auto join = [&](Value first, Value second, bool isUpper) -> Value {
    int64_t all = cast<VectorType>(first.getType()).getNumElements(),
            group = all / 4;
    SmallVector<int64_t> mask;
    for (int64_t at = 0; at < all; at += group)
      for (int64_t lane = 0; lane < group / 2; ++lane) {
        int64_t from = at + lane + (isUpper ? group / 2 : 0);
        mask.append({from, all + from});
      }
    return vector::ShuffleOp::create(b, first, second, mask);
  };

  Value low = lookUpHalf(b, element, codes, 0),
        high = lookUpHalf(b, element, codes, 8);
  Value sign = arith::AndIOp::create(
      b, codes, isPaired ? pattern(0, 0x80) : pattern(0x80, 0x80));
  SmallVector<Value> bf16;
  if (isPaired) {
    SmallVector<bool> isHigh;
    for (int64_t lane = 0; lane < lanes; ++lane)
      isHigh.push_back(lane % 2 != 0);
    Value mask = arith::ConstantOp::create(
        b, DenseElementsAttr::get(bytes.clone(b.getI1Type()),
                                  ArrayRef<bool>(isHigh)));
    Value both = arith::SelectOp::create(b, mask, high, low);
    bf16.push_back(arith::OrIOp::create(b, both, sign));
  } else {
    high = arith::OrIOp::create(b, high, sign);
    bf16 = {join(low, high, false), join(low, high, true)};
  }
  Value none = arith::ConstantOp::create(b, b.getZeroAttr(halves));
  Value result = arith::ConstantOp::create(
      b, b.getZeroAttr(VectorType::get(count, b.getF32Type())));
  int64_t at = 0;
  for (Value some : bf16)
    for (bool isUpper : {false, true}) {
      Value bits = vector::BitCastOp::create(b, halves, some);
      Value numbers =
          vector::BitCastOp::create(b, floats, join(none, bits, isUpper));
      result = vector::InsertStridedSliceOp::create(
          b, numbers, result, ArrayRef<int64_t>{at}, ArrayRef<int64_t>{1});
      at += 16;
    }
  return result;
}

/// Not of e5m2, which f16 holds but for a shift.
Value SmallFloatConverter::lookUpF32(Value x) {
  auto whole = dyn_cast<VectorType>(x.getType());
  if (!has.byteLookups || !whole || whole.getRank() != 1 ||
      whole.isScalable() || whole.getNumElements() % 32 != 0 ||
      !isa<Float8E4M3FNType>(whole.getElementType()))
    return {};
  auto element = cast<FloatType>(whole.getElementType());
  Value codes = arith::BitcastOp::create(b, whole.clone(b.getI8Type()), x);
  int64_t all = whole.getNumElements();
  Value result;
  for (int64_t at = 0; at < all;) {
    int64_t count = all - at >= 64 ? 64 : 32;
    if (count == all)
      return lookUpRegister(b, codes, element);
    Value part = lookUpRegister(b, sliceLanes(b, codes, at, count), element);
    if (!result)
      result = arith::ConstantOp::create(
          b, b.getZeroAttr(whole.clone(b.getF32Type())));
    result = vector::InsertStridedSliceOp::create(
        b, part, result, ArrayRef<int64_t>{at}, ArrayRef<int64_t>{1});
    at += count;
  }
  return result;
}
