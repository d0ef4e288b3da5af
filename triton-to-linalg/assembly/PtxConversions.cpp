//===- PtxConversions.cpp - PTX that changes types ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/assembly/PtxToArith.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace tilebridge::ttl::ptx;

namespace {
/// Pairs of 8 or 16 bits, by the type of one.
FloatType pairElement(StringRef name, MLIRContext *context) {
  return llvm::StringSwitch<FloatType>(name)
      .Case("f16x2", Float16Type::get(context))
      .Case("bf16x2", BFloat16Type::get(context))
      .Case("e4m3x2", Float8E4M3FNType::get(context))
      .Case("e5m2x2", Float8E5M2Type::get(context))
      .Case("e2m1x2", Float4E2M1FNType::get(context))
      .Default(nullptr);
}

/// How a float becomes an integral one; null if the modifier is none.
enum class Integral { None, Even, Zero, Down, Up };
Integral integralOf(const Instruction &instruction) {
  for (const std::string &modifier : instruction.modifiers) {
    auto found = llvm::StringSwitch<Integral>(modifier)
                     .Case("rni", Integral::Even)
                     .Case("rzi", Integral::Zero)
                     .Case("rmi", Integral::Down)
                     .Case("rpi", Integral::Up)
                     .Default(Integral::None);
    if (found != Integral::None)
      return found;
  }
  return Integral::None;
}

Value roundToIntegral(ImplicitLocOpBuilder &b, Value value, Integral how) {
  switch (how) {
  case Integral::Even:
    return math::RoundEvenOp::create(b, value);
  case Integral::Zero:
    return math::TruncOp::create(b, value);
  case Integral::Down:
    return math::FloorOp::create(b, value);
  case Integral::Up:
    return math::CeilOp::create(b, value);
  case Integral::None:
    return value;
  }
  llvm_unreachable("all roundings are listed");
}

/// What is too large becomes the nearest integer, NaN 0.
Value saturatingInteger(ImplicitLocOpBuilder &b, Value value, unsigned width,
                        bool isSigned) {
  // f64 holds the ends of 32 bits.
  if (value.getType().getIntOrFloatBitWidth() < 64)
    value = arith::ExtFOp::create(b, b.getF64Type(), value);
  Type type = b.getIntegerType(width);
  double high = std::ldexp(1.0, static_cast<int>(width) - isSigned);
  double low = isSigned ? -high : 0;
  auto constant = [&](const llvm::APInt &number) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, number));
  };
  auto limit = [&](double number) -> Value {
    return arith::ConstantOp::create(b, b.getF64FloatAttr(number));
  };
  Value converted = isSigned
                        ? arith::FPToSIOp::create(b, type, value).getResult()
                        : arith::FPToUIOp::create(b, type, value).getResult();
  auto where = [&](arith::CmpFPredicate predicate, Value other,
                   const llvm::APInt &number) {
    Value condition = arith::CmpFOp::create(b, predicate, value, other);
    converted =
        arith::SelectOp::create(b, condition, constant(number), converted);
  };
  where(arith::CmpFPredicate::OGE, limit(high),
        isSigned ? llvm::APInt::getSignedMaxValue(width)
                 : llvm::APInt::getAllOnes(width));
  where(arith::CmpFPredicate::OLE, limit(low),
        isSigned ? llvm::APInt::getSignedMinValue(width)
                 : llvm::APInt::getZero(width));
  where(arith::CmpFPredicate::UNO, value, llvm::APInt::getZero(width));
  return converted;
}
} // namespace

Value Translator::convertFloat(Value value, FloatType type, bool towardZero) {
  auto from = cast<FloatType>(value.getType());
  if (from == type)
    return value;
  if (from.getWidth() == type.getWidth()) {
    value = arith::ExtFOp::create(b, b.getF32Type(), value);
    from = b.getF32Type();
  }
  if (from.getWidth() < type.getWidth())
    return arith::ExtFOp::create(b, type, value);
  // Conversions to 8 bits are always `satfinite`: NaN stays, all else is at
  // most the largest number.
  if (type.getWidth() == 8) {
    for (bool isNegative : {true, false}) {
      llvm::APFloat end =
          llvm::APFloat::getLargest(type.getFloatSemantics(), isNegative);
      bool losesInfo;
      end.convert(from.getFloatSemantics(), llvm::APFloat::rmTowardZero,
                  &losesInfo);
      Value limit = arith::ConstantOp::create(b, FloatAttr::get(from, end));
      value = isNegative
                  ? arith::MaximumFOp::create(b, value, limit).getResult()
                  : arith::MinimumFOp::create(b, value, limit).getResult();
    }
  }
  auto narrow = arith::TruncFOp::create(b, type, value);
  if (towardZero)
    narrow.setRoundingmode(arith::RoundingMode::toward_zero);
  return narrow;
}

bool Translator::convert(const Instruction &instruction) {
  if (!onlyHas(instruction, 2,
               {"rn", "rz", "rni", "rzi", "rmi", "rpi", "ftz", "satfinite",
                "rna"}) ||
      instruction.operands.size() < 2)
    return false;
  StringRef to = *std::prev(instruction.modifiers.end(), 2),
            from = instruction.modifiers.back();
  if (pairElement(to, b.getContext()))
    return convertPair(instruction);
  if (instruction.operands.size() != 2)
    return false;
  // tf32 is f32 with ten bits of mantissa: nearest, ties away from zero.
  if (to == "tf32") {
    Value value = read(instruction.operands[1], b.getI32Type());
    if (!value || from != "f32" || instruction.has("rz"))
      return false;
    value = arith::AddIOp::create(b, value, integer(32, 0x1000));
    value = arith::AndIOp::create(b, value, integer(32, 0xffffe000));
    return write(instruction, instruction.operands[0], value);
  }
  bool toSigned = false, fromSigned = false;
  Type target = typeOf(to, toSigned), source = typeOf(from, fromSigned);
  Value value =
      target && source ? read(instruction.operands[1], source) : Value();
  if (!value)
    return false;
  auto targetFloat = dyn_cast<FloatType>(target);
  bool isFloat = isa<FloatType>(source);
  Integral integral = integralOf(instruction);
  if (isFloat)
    value = roundToIntegral(b, value, integral);
  if (isFloat && targetFloat) {
    value = convertFloat(value, targetFloat, instruction.has("rz"));
  } else if (isFloat) {
    if (integral == Integral::None)
      return false;
    value =
        saturatingInteger(b, value, target.getIntOrFloatBitWidth(), toSigned);
  } else if (targetFloat) {
    if (!instruction.has("rn"))
      return false;
    value = fromSigned ? arith::SIToFPOp::create(b, target, value).getResult()
                       : arith::UIToFPOp::create(b, target, value).getResult();
  } else {
    value = resize(value, target.getIntOrFloatBitWidth(), fromSigned);
  }
  return write(instruction, instruction.operands[0], value, toSigned);
}

/// Two floats side by side, from two registers, the upper one first, or from
/// another pair.
bool Translator::convertPair(const Instruction &instruction) {
  StringRef to = *std::prev(instruction.modifiers.end(), 2),
            from = instruction.modifiers.back();
  FloatType target = pairElement(to, b.getContext()),
            source = pairElement(from, b.getContext());
  // Nothing is rounded to 4 bits.
  if (target.getWidth() < 8)
    return false;
  Values halves;
  if (source && instruction.operands.size() == 2) {
    unsigned width = source.getWidth();
    Value pair = read(instruction.operands[1], b.getIntegerType(2 * width));
    if (!pair)
      return false;
    for (unsigned i = 0; i < 2; ++i)
      halves.push_back(part(pair, i * width, source));
  } else if (from == "f32" && instruction.operands.size() == 3) {
    for (unsigned i : {2u, 1u}) {
      halves.push_back(read(instruction.operands[i], b.getF32Type()));
      if (!halves.back())
        return false;
    }
  } else {
    return false;
  }
  for (Value &half : halves)
    half = convertFloat(half, target, instruction.has("rz"));
  return write(instruction, instruction.operands[0], join(halves));
}
