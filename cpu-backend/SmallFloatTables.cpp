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

Value SmallFloatConverter::lookUpBf16(Value x) {
  constexpr int64_t lanes = 64;
  auto whole = dyn_cast<VectorType>(x.getType());
  if (!has.byteLookups || !whole || whole.getRank() != 1 ||
      whole.isScalable() || whole.getNumElements() != lanes ||
      !isa<Float8E4M3FNType, Float8E5M2Type>(whole.getElementType()))
    return {};
  const llvm::fltSemantics &semantics =
      cast<FloatType>(whole.getElementType()).getFloatSemantics();
  auto bytes = whole.clone(b.getI8Type());
  Value codes = arith::BitcastOp::create(b, bytes, x);
  auto lookUp = [&](unsigned shift) -> Value {
    SmallVector<uint8_t> numbers;
    for (unsigned code = 0; code < 2 * lanes; ++code)
      numbers.push_back(static_cast<uint8_t>(bf16Of(semantics, code) >> shift));
    auto table = [&](ArrayRef<uint8_t> part) -> Value {
      return arith::ConstantOp::create(b, DenseElementsAttr::get(bytes, part));
    };
    // The instruction does not look at the sign.
    return LLVM::CallIntrinsicOp::create(
               b, bytes, b.getStringAttr("llvm.x86.avx512.vpermi2var.qi.512"),
               ValueRange{table(ArrayRef(numbers).take_front(lanes)), codes,
                          table(ArrayRef(numbers).take_back(lanes))})
        ->getResult(0);
  };
  Value low = lookUp(0), high = lookUp(8);
  // NaN is the same for both signs, as that of the general way.
  Value magnitude = arith::AndIOp::create(b, codes, constant(bytes, 0x7f)),
        sign = arith::AndIOp::create(b, codes, constant(bytes, 0x80));
  SmallFloatFormat format = *SmallFloatFormat::of(whole.getElementType());
  uint32_t most =
      format.largest() + (format.special == SmallFloatFormat::Ieee ? 1 : 0);
  Value isNumber = arith::CmpIOp::create(b, arith::CmpIPredicate::ule,
                                         magnitude, constant(bytes, most));
  sign = arith::SelectOp::create(b, isNumber, sign, constant(bytes, 0));
  high = arith::OrIOp::create(b, high, sign);
  Value halves = vector::InterleaveOp::create(b, low, high);
  Value codes16 =
      vector::BitCastOp::create(b, whole.clone(b.getI16Type()), halves);
  return arith::BitcastOp::create(b, whole.clone(b.getBF16Type()), codes16);
}
