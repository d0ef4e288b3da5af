//===- PtxBits.cpp - PTX that moves and changes bits ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/assembly/PtxToArith.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilebridge::ttl::ptx;

bool Translator::move(const Instruction &instruction) {
  bool isSigned = false;
  if (!onlyHas(instruction, 1, {}) || instruction.operands.size() != 2)
    return false;
  Type type = typeOf(instruction.modifiers.back(), isSigned);
  Value value = type ? read(instruction.operands[1], type) : Value();
  return value && write(instruction, instruction.operands[0], value);
}

bool Translator::logic(const Instruction &instruction) {
  StringRef name = instruction.opcode;
  return compute(instruction, name == "not" ? 1 : 2, {},
                 [&](Type type, bool, ValueRange in) -> Value {
                   if (!isa<IntegerType>(type))
                     return {};
                   if (name == "and")
                     return arith::AndIOp::create(b, in[0], in[1]);
                   if (name == "or")
                     return arith::OrIOp::create(b, in[0], in[1]);
                   Value other =
                       name == "not"
                           ? integer(type.getIntOrFloatBitWidth(), ~uint64_t(0))
                           : in[1];
                   return arith::XOrIOp::create(b, in[0], other);
                 });
}

/// An amount of the width or more leaves zeros, or copies of the sign.
Value Translator::shifted(Value value, Value amount, bool left, bool isSigned) {
  unsigned width = value.getType().getIntOrFloatBitWidth();
  Value isLarge = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, amount,
                                        integer(32, width));
  Value last = integer(32, width - 1);
  Value inside =
      resize(arith::SelectOp::create(b, isLarge, last, amount), width);
  if (!left && isSigned)
    return arith::ShRSIOp::create(b, value, inside);
  Value result = left ? arith::ShLIOp::create(b, value, inside).getResult()
                      : arith::ShRUIOp::create(b, value, inside).getResult();
  return arith::SelectOp::create(b, isLarge, integer(width, 0), result);
}

bool Translator::shift(const Instruction &instruction) {
  bool isSigned = false;
  if (!onlyHas(instruction, 1, {}) || instruction.operands.size() != 3)
    return false;
  Type type = typeOf(instruction.modifiers.back(), isSigned);
  if (!type || !isa<IntegerType>(type))
    return false;
  Value value = read(instruction.operands[1], type),
        amount = read(instruction.operands[2], b.getI32Type());
  return value && amount &&
         write(instruction, instruction.operands[0],
               shifted(value, amount, instruction.opcode == "shl", isSigned),
               isSigned);
}

/// One half of a pair of registers after a shift of both.
bool Translator::funnelShift(const Instruction &instruction) {
  bool left = instruction.has("l"), wraps = instruction.has("wrap");
  if (left == instruction.has("r") || wraps == instruction.has("clamp"))
    return false;
  return compute(
      instruction, 3, {"l", "r", "wrap", "clamp"},
      [&](Type type, bool, ValueRange in) -> Value {
        if (!type.isInteger(32))
          return {};
        Value pair = join({in[0], in[1]}), amount = in[2];
        if (wraps)
          amount = arith::AndIOp::create(b, amount, integer(32, 31));
        else
          amount = arith::MinUIOp::create(b, amount, integer(32, 32));
        amount = resize(amount, 64);
        if (left)
          return part(arith::ShLIOp::create(b, pair, amount), 32, type);
        return part(arith::ShRUIOp::create(b, pair, amount), 0, type);
      });
}

/// Four bytes of eight, each chosen by four bits: its number, and whether its
/// sign fills it.
bool Translator::permute(const Instruction &instruction) {
  return compute(
      instruction, 3, {}, [&](Type type, bool, ValueRange in) -> Value {
        if (!type.isInteger(32))
          return {};
        Value bytes = join({in[0], in[1]});
        Values chosen;
        for (unsigned i = 0; i < 4; ++i) {
          Value selector = part(in[2], 4 * i, b.getI32Type());
          Value which =
              arith::AndIOp::create(b, selector, integer(32, 7)).getResult();
          which = arith::ShLIOp::create(b, resize(which, 64), integer(64, 3));
          Value byte = resize(arith::ShRUIOp::create(b, bytes, which), 8);
          Value sign = arith::ShRSIOp::create(b, byte, integer(8, 7));
          Value usesSign = part(selector, 3, b.getI1Type());
          chosen.push_back(arith::SelectOp::create(b, usesSign, sign, byte));
        }
        return join(chosen);
      });
}

/// Any function of three bits, by the table of its results.
bool Translator::lookup(const Instruction &instruction) {
  if (instruction.operands.size() != 5 ||
      instruction.operands[4].kind != Operand::Integer)
    return false;
  uint64_t table = instruction.operands[4].number;
  Instruction three = instruction;
  three.operands.pop_back();
  return compute(three, 3, {}, [&](Type type, bool, ValueRange in) -> Value {
    if (!type.isInteger(32))
      return {};
    Value ones = integer(32, ~uint64_t(0)), result = integer(32, 0);
    for (unsigned entry = 0; entry < 8; ++entry) {
      if (!(table >> entry & 1))
        continue;
      Value all = ones;
      for (unsigned i = 0; i < 3; ++i) {
        Value operand = in[i];
        if (!(entry >> (2 - i) & 1))
          operand = arith::XOrIOp::create(b, operand, ones);
        all = arith::AndIOp::create(b, all, operand);
      }
      result = arith::OrIOp::create(b, result, all);
    }
    return result;
  });
}

/// bfe d, a, position, length.
bool Translator::extractField(const Instruction &instruction) {
  bool isSigned = false;
  if (!onlyHas(instruction, 1, {}) || instruction.operands.size() != 4)
    return false;
  Type type = typeOf(instruction.modifiers.back(), isSigned);
  // The sign of a field that ends outside is one more special case.
  if (!type || !isa<IntegerType>(type) || isSigned)
    return false;
  unsigned width = type.getIntOrFloatBitWidth();
  Value value = read(instruction.operands[1], type),
        position = read(instruction.operands[2], b.getI32Type()),
        length = read(instruction.operands[3], b.getI32Type());
  if (!value || !position || !length)
    return false;
  Value byte = integer(32, 255);
  position = arith::AndIOp::create(b, position, byte);
  length = arith::AndIOp::create(b, length, byte);
  Value field = shifted(value, position, /*left=*/false, false);
  Value rest = shifted(integer(width, ~uint64_t(0)), length, true, false);
  Value mask = arith::XOrIOp::create(b, rest, integer(width, ~uint64_t(0)));
  return write(instruction, instruction.operands[0],
               arith::AndIOp::create(b, field, mask));
}

/// bfi d, a, b, position, length: b with bits of a.
bool Translator::insertField(const Instruction &instruction) {
  bool isSigned = false;
  if (!onlyHas(instruction, 1, {}) || instruction.operands.size() != 5)
    return false;
  Type type = typeOf(instruction.modifiers.back(), isSigned);
  if (!type || !isa<IntegerType>(type))
    return false;
  unsigned width = type.getIntOrFloatBitWidth();
  Values values;
  for (unsigned i = 1; i < 5; ++i) {
    values.push_back(
        read(instruction.operands[i], i < 3 ? type : b.getI32Type()));
    if (!values.back())
      return false;
  }
  Value byte = integer(32, 255), ones = integer(width, ~uint64_t(0));
  Value position = arith::AndIOp::create(b, values[2], byte),
        length = arith::AndIOp::create(b, values[3], byte);
  Value mask =
      arith::XOrIOp::create(b, shifted(ones, length, true, false), ones);
  mask = shifted(mask, position, true, false);
  Value field =
      arith::AndIOp::create(b, shifted(values[0], position, true, false), mask);
  Value kept =
      arith::AndIOp::create(b, values[1], arith::XOrIOp::create(b, mask, ones));
  return write(instruction, instruction.operands[0],
               arith::OrIOp::create(b, field, kept));
}

bool Translator::countBits(const Instruction &instruction) {
  StringRef name = instruction.opcode;
  return compute(
      instruction, 1, {}, [&](Type type, bool, ValueRange in) -> Value {
        unsigned width = type.getIntOrFloatBitWidth();
        if (!isa<IntegerType>(type) || (width != 32 && width != 64))
          return {};
        if (name == "popc")
          return resize(math::CtPopOp::create(b, in[0]), 32);
        if (name == "clz")
          return resize(math::CountLeadingZerosOp::create(b, in[0]), 32);
        // brev: neighbours are exchanged, then pairs, then fours, and so on.
        Value value = in[0];
        for (unsigned distance = 1; distance < width; distance *= 2) {
          uint64_t low = ~uint64_t(0) / ((uint64_t(1) << distance) + 1);
          if (width == 32)
            low &= 0xffffffff;
          Value mask = integer(width, low), by = integer(width, distance);
          Value down = arith::AndIOp::create(
              b, arith::ShRUIOp::create(b, value, by), mask);
          Value up = arith::ShLIOp::create(
              b, arith::AndIOp::create(b, value, mask), by);
          value = arith::OrIOp::create(b, up, down);
        }
        return value;
      });
}
