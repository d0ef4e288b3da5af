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

/// The code of 4 bits (e2m1) nearest to an f32, ties to even; what is too large
/// becomes 6, and so does NaN, as PTX has it.
Value codeOfFloat4(ImplicitLocOpBuilder &b, Value value) {
  auto integer = [&](int64_t number) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(number));
  };
  auto number = [&](float number) -> Value {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(number));
  };
  auto bitsOf = [&](Value value) -> Value {
    return arith::BitcastOp::create(b, b.getI32Type(), value);
  };
  Value size = math::AbsFOp::create(b, value);
  Value fits =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, size, number(6));
  size = arith::SelectOp::create(b, fits, size, number(6));
  // Below 1 codes are a half apart: so are floats at 2^22, whose lowest bits
  // count them.
  Value small = arith::AndIOp::create(
      b, bitsOf(arith::AddFOp::create(b, size, number(1 << 22))), integer(3));
  // From there on a code is the exponent and the first bit of the mantissa.
  Value bits = bitsOf(size);
  Value odd = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, bits, integer(22)), integer(1));
  Value large = arith::AddIOp::create(
      b, arith::AddIOp::create(b, bits, integer((1 << 21) - 1)), odd);
  large = arith::SubIOp::create(
      b, arith::ShRUIOp::create(b, large, integer(22)), integer(252));
  Value isSmall =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, size, number(1));
  Value code = arith::SelectOp::create(b, isSmall, small, large);
  Value sign = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, bitsOf(value), integer(28)), integer(8));
  Value isNan =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  sign = arith::SelectOp::create(b, isNan, integer(0), sign);
  return arith::OrIOp::create(b, code, sign);
}

/// The exponent, with its bias of 127, of the power of two at or next to a
/// number's size. Its sign says nothing; zero becomes the least power, NaN 255,
/// and what is too large 255 or, if it saturates, 254.
Value codeOfScale(ImplicitLocOpBuilder &b, Value bits, bool up,
                  bool saturates) {
  auto integer = [&](int64_t number) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(number));
  };
  auto select = [&](arith::CmpIPredicate predicate, Value left, int64_t right,
                    Value yes, Value no) -> Value {
    return arith::SelectOp::create(
        b, arith::CmpIOp::create(b, predicate, left, integer(right)), yes, no);
  };
  Value size = arith::AndIOp::create(b, bits, integer(0x7fffffff));
  Value rounded = size;
  if (up) {
    // The least power is 2^-127, for which f32 has no exponent.
    Value below = select(arith::CmpIPredicate::ugt, size, 0x400000,
                         integer(0x800000), integer(0));
    Value above = arith::AddIOp::create(b, size, integer(0x7fffff));
    rounded = select(arith::CmpIPredicate::ult, size, 0x800000, below, above);
  }
  Value code = arith::ShRUIOp::create(b, rounded, integer(23));
  code = arith::MinUIOp::create(b, code, integer(saturates ? 254 : 255));
  return select(arith::CmpIPredicate::ugt, size, 0x7f800000, integer(255),
                code);
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
               {"rn", "rz", "rp", "rni", "rzi", "rmi", "rpi", "ftz",
                "satfinite", "rna"}) ||
      instruction.operands.size() < 2)
    return false;
  StringRef to = *std::prev(instruction.modifiers.end(), 2),
            from = instruction.modifiers.back();
  if (to == "ue8m0x2" || from == "ue8m0x2")
    return convertScales(instruction);
  // Only scales are rounded up.
  if (instruction.has("rp"))
    return false;
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
  if (target.getWidth() < 8) {
    if (instruction.has("rz"))
      return false;
    Values codes;
    for (Value half : halves)
      codes.push_back(
          codeOfFloat4(b, convertFloat(half, b.getF32Type(), false)));
    Value pair = arith::OrIOp::create(
        b, codes[0], arith::ShLIOp::create(b, codes[1], integer(32, 4)));
    return write(instruction, instruction.operands[0], resize(pair, 8));
  }
  for (Value &half : halves)
    half = convertFloat(half, target, instruction.has("rz"));
  return write(instruction, instruction.operands[0], join(halves));
}

/// Two scales of blocks, which are exponents alone.
bool Translator::convertScales(const Instruction &instruction) {
  StringRef to = *std::prev(instruction.modifiers.end(), 2),
            from = instruction.modifiers.back();
  if (to == "ue8m0x2" && from == "f32" && instruction.operands.size() == 3) {
    bool up = instruction.has("rp");
    if (up == instruction.has("rz"))
      return false;
    Values codes;
    for (unsigned i : {2u, 1u}) {
      Value bits = read(instruction.operands[i], b.getF32Type());
      if (!bits)
        return false;
      codes.push_back(resize(
          codeOfScale(b, this->bits(bits), up, instruction.has("satfinite")),
          8));
    }
    return write(instruction, instruction.operands[0], join(codes));
  }
  if (to != "bf16x2" || from != "ue8m0x2" || instruction.operands.size() != 2 ||
      !instruction.has("rn"))
    return false;
  Value pair = read(instruction.operands[1], b.getI16Type());
  if (!pair)
    return false;
  Values halves;
  for (unsigned i : {0u, 8u}) {
    Value code = resize(part(pair, i, b.getI8Type()), 16);
    Value value = arith::ShLIOp::create(b, code, integer(16, 7));
    auto where = [&](uint64_t special, uint64_t result) {
      Value is = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, code,
                                       integer(16, special));
      value = arith::SelectOp::create(b, is, integer(16, result), value);
    };
    where(0, 0x0040);
    where(255, 0x7fff);
    halves.push_back(value);
  }
  return write(instruction, instruction.operands[0], join(halves));
}
