//===- MathVectors.cpp - the CPU's own functions of vectors ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/MathVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

static int64_t nativeLanes(VectorType type) {
  return 512 / type.getElementTypeBitWidth();
}

Type tilebridge::cpu::withElement(Type type, Type element) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? Type(shaped.clone(element)) : element;
}

Value tilebridge::cpu::sliceLanes(ImplicitLocOpBuilder &b, Value vector,
                                  int64_t first, int64_t count) {
  return vector::ExtractStridedSliceOp::create(
      b, vector, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{count},
      ArrayRef<int64_t>{1});
}

Value tilebridge::cpu::isAnySet(ImplicitLocOpBuilder &b, Value mask) {
  Type bits =
      b.getIntegerType(cast<VectorType>(mask.getType()).getNumElements());
  return arith::CmpIOp::create(
      b, arith::CmpIPredicate::ne, LLVM::BitcastOp::create(b, bits, mask),
      arith::ConstantOp::create(b, b.getIntegerAttr(bits, 0)));
}

Value tilebridge::cpu::callForPieces(ImplicitLocOpBuilder &b, VectorType type,
                                     StringRef name, ValueRange operands) {
  int64_t lanes = type.getNumElements(), native = nativeLanes(type);
  auto piece = VectorType::get(native, type.getElementType());
  Value result = lanes == native
                     ? Value()
                     : arith::ConstantOp::create(b, b.getZeroAttr(type));
  for (int64_t first = 0; first < lanes; first += native) {
    SmallVector<Value> pieces;
    for (Value operand : operands) {
      auto vector = dyn_cast<VectorType>(operand.getType());
      bool isCut =
          lanes != native && vector && vector.getNumElements() == lanes;
      pieces.push_back(isCut ? sliceLanes(b, operand, first, native) : operand);
    }
    Value part =
        LLVM::CallIntrinsicOp::create(b, piece, b.getStringAttr(name), pieces)
            .getResult(0);
    result = result ? vector::InsertStridedSliceOp::create(
                          b, part, result, ArrayRef<int64_t>{first},
                          ArrayRef<int64_t>{1})
                    : part;
  }
  return result;
}

Value Avx512::every(int64_t bits, int64_t value) {
  auto attr = b.getIntegerAttr(b.getIntegerType(bits), value);
  return arith::ConstantOp::create(b, attr);
}

/// What lanes have that the mask leaves out.
Value Avx512::none() {
  auto piece = VectorType::get(nativeLanes(type), type.getElementType());
  return arith::ConstantOp::create(b, b.getZeroAttr(piece));
}

/// The mask of all lanes.
Value Avx512::all() { return every(nativeLanes(type), -1); }

std::string Avx512::named(StringRef name) {
  return ("llvm.x86.avx512." + name +
          (type.getElementType().isF32() ? ".ps.512" : ".pd.512"))
      .str();
}

/// Rounding as the CPU's state says.
static constexpr int64_t currentRounding = 4;

Value Avx512::mantissa(Value x) {
  // The interval from 3/4, and NaN for what has a sign but is not -0.
  constexpr int64_t choice = 0b1111;
  return callForPieces(
      b, type, named("mask.getmant"),
      {x, every(32, choice), none(), all(), every(32, currentRounding)});
}

Value Avx512::exponent(Value x) {
  return callForPieces(b, type, named("mask.getexp"),
                       {x, none(), all(), every(32, currentRounding)});
}

Value Avx512::reciprocalRootEstimate(Value x) {
  return callForPieces(b, type, named("rsqrt14"), {x, none(), all()});
}

Value Avx512::withSpecial(Value value, Value x, Special ofZero,
                          Special ofInfinity) {
  // The instruction's table has four bits for each class of numbers: the third
  // is zeros, the sixth infinity. 0 leaves the value.
  int64_t answers = static_cast<int64_t>(ofZero) << 8 |
                    static_cast<int64_t>(ofInfinity) << 20;
  unsigned bits = type.getElementTypeBitWidth();
  auto integers = VectorType::get(nativeLanes(type), b.getIntegerType(bits));
  Value table = arith::ConstantOp::create(
      b, DenseElementsAttr::get(integers, APInt(bits, answers)));
  return callForPieces(
      b, type, named("mask.fixupimm"),
      {value, x, table, every(32, 0), all(), every(32, currentRounding)});
}

Value Avx512::timesPower(Value x, Value power) {
  return callForPieces(b, type, named("mask.scalef"),
                       {x, power, none(), all(), every(32, currentRounding)});
}

Value Avx512::lookup(ArrayRef<double> table, Value index) {
  assert(table.size() == 16 && type.getElementType().isF64());
  auto half = [&](unsigned from) -> Value {
    auto piece = VectorType::get(8, b.getF64Type());
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(piece, table.slice(from, 8)));
  };
  return callForPieces(b, type, "llvm.x86.avx512.vpermi2var.pd.512",
                       {half(0), index, half(8)});
}
