//===- PtxToArith.cpp - registers, and which instruction is what ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/assembly/PtxToArith.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace tilebridge::ttl::ptx;
using llvm::StringRef;

void Translator::bind(unsigned number, unsigned bits, Value value) {
  registers["$" + std::to_string(number)] = {
      bits, value ? resize(this->bits(value), bits) : Value()};
}

Value Translator::valueOf(unsigned number) {
  return registers["$" + std::to_string(number)].value;
}

llvm::Error Translator::run() {
  for (const auto &entry : program.registers)
    registers[entry.getKey()] = {entry.getValue(), Value()};
  for (const Instruction &instruction : program.instructions)
    if (!translate(instruction))
      return llvm::createStringError("the instruction '" + instruction.text +
                                     "' has no translation");
  return llvm::Error::success();
}

bool Translator::translate(const Instruction &instruction) {
  static const llvm::StringMap<Handler> handlers = {
      {"abs", &Translator::function},
      {"add", &Translator::sum},
      {"and", &Translator::logic},
      {"bfe", &Translator::extractField},
      {"bfi", &Translator::insertField},
      {"brev", &Translator::countBits},
      {"clz", &Translator::countBits},
      {"copysign", &Translator::copySign},
      {"cos", &Translator::function},
      {"cvt", &Translator::convert},
      {"div", &Translator::quotient},
      {"ex2", &Translator::function},
      {"fma", &Translator::fusedMultiplyAdd},
      {"lg2", &Translator::function},
      {"lop3", &Translator::lookup},
      {"mad", &Translator::multiplyAdd},
      {"max", &Translator::extremum},
      {"min", &Translator::extremum},
      {"mov", &Translator::move},
      {"mul", &Translator::product},
      {"neg", &Translator::unaryMinus},
      {"not", &Translator::logic},
      {"or", &Translator::logic},
      {"popc", &Translator::countBits},
      {"prmt", &Translator::permute},
      {"rcp", &Translator::function},
      {"rem", &Translator::quotient},
      {"rsqrt", &Translator::function},
      {"selp", &Translator::select},
      {"setp", &Translator::compare},
      {"shf", &Translator::funnelShift},
      {"shl", &Translator::shift},
      {"shr", &Translator::shift},
      {"sin", &Translator::function},
      {"sqrt", &Translator::function},
      {"sub", &Translator::sum},
      {"tanh", &Translator::function},
      {"xor", &Translator::logic}};
  // It only waits.
  if (instruction.opcode == "nanosleep")
    return true;
  auto handler = handlers.find(instruction.opcode);
  return handler != handlers.end() && (this->*handler->second)(instruction);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type Translator::typeOf(StringRef name, bool &isSigned) {
  if (name == "pred")
    return b.getI1Type();
  if (name == "bf16")
    return b.getBF16Type();
  StringRef digits = name.drop_front();
  unsigned width;
  if (name.empty() || digits.getAsInteger(10, width) ||
      !llvm::is_contained({8u, 16u, 32u, 64u}, width))
    return {};
  switch (name.front()) {
  case 's':
    isSigned = true;
    return b.getIntegerType(width);
  case 'b':
  case 'u':
    isSigned = false;
    return b.getIntegerType(width);
  case 'f':
    return width == 16   ? Type(b.getF16Type())
           : width == 32 ? Type(b.getF32Type())
           : width == 64 ? Type(b.getF64Type())
                         : Type();
  }
  return {};
}

Type Translator::halfOf(StringRef name) {
  return name == "f16x2"    ? Type(b.getF16Type())
         : name == "bf16x2" ? Type(b.getBF16Type())
                            : Type();
}

Value Translator::integer(unsigned bits, uint64_t value) {
  return arith::ConstantOp::create(
      b, b.getIntegerAttr(b.getIntegerType(bits),
                          llvm::APInt(bits, value, /*isSigned=*/false,
                                      /*implicitTrunc=*/true)));
}

Value Translator::number(Type type, double value) {
  return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

Value Translator::bits(Value value) {
  if (isa<IntegerType>(value.getType()))
    return value;
  return arith::BitcastOp::create(
      b, b.getIntegerType(value.getType().getIntOrFloatBitWidth()), value);
}

Value Translator::resize(Value value, unsigned bits, bool isSigned) {
  unsigned from = value.getType().getIntOrFloatBitWidth();
  Type type = b.getIntegerType(bits);
  if (from > bits)
    return arith::TruncIOp::create(b, type, value);
  if (from == bits)
    return value;
  return isSigned ? arith::ExtSIOp::create(b, type, value).getResult()
                  : arith::ExtUIOp::create(b, type, value).getResult();
}

/// Bits of an integer as a value of `type`.
Value Translator::part(Value value, unsigned from, Type type) {
  if (from != 0)
    value = arith::ShRUIOp::create(
        b, value, integer(value.getType().getIntOrFloatBitWidth(), from));
  value = resize(value, type.getIntOrFloatBitWidth());
  if (value.getType() == type)
    return value;
  return arith::BitcastOp::create(b, type, value);
}

/// One integer of several values, the first in its lowest bits.
Value Translator::join(ValueRange parts) {
  unsigned width = parts.front().getType().getIntOrFloatBitWidth(),
           total = width * parts.size(), at = 0;
  Value result;
  for (Value part : parts) {
    Value wide = resize(bits(part), total);
    if (at != 0)
      wide = arith::ShLIOp::create(b, wide, integer(total, at));
    result = result ? arith::OrIOp::create(b, result, wide) : wide;
    at += width;
  }
  return result;
}

Value Translator::read(const Operand &operand, Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  switch (operand.kind) {
  case Operand::Integer:
    return part(integer(width, operand.number), 0, type);
  case Operand::Float:
    if (!isa<FloatType>(type))
      return {};
    return number(type, llvm::bit_cast<double>(operand.number));
  case Operand::Group: {
    Values parts;
    for (const Operand &inner : operand.parts) {
      if (width % operand.parts.size() != 0)
        return {};
      parts.push_back(
          read(inner, b.getIntegerType(width / operand.parts.size())));
      if (!parts.back())
        return {};
    }
    return parts.empty() ? Value() : part(join(parts), 0, type);
  }
  case Operand::Register:
    break;
  }
  // All programs run on what is the first processor to them.
  if (operand.name == "%smid" || operand.name == "%nsmid")
    return part(integer(width, operand.name == "%nsmid"), 0, type);
  // A cycle of the clock is a nanosecond.
  if (operand.name == "%globaltimer" || operand.name == "%clock64" ||
      operand.name == "%clock")
    return part(linalg_ext::ClockOp::create(b), 0, type);
  auto it = registers.find(operand.name);
  if (it == registers.end() || !it->second.value)
    return {};
  return part(it->second.value, 0, type);
}

bool Translator::write(const Instruction &instruction, const Operand &operand,
                       Value value, bool isSigned) {
  if (!value || operand.kind == Operand::Integer ||
      operand.kind == Operand::Float)
    return false;
  value = bits(value);
  if (operand.kind == Operand::Group) {
    unsigned width = value.getType().getIntOrFloatBitWidth(),
             each = width / operand.parts.size();
    if (each == 0 || width % operand.parts.size() != 0)
      return false;
    for (auto [i, inner] : llvm::enumerate(operand.parts))
      if (!write(instruction, inner,
                 part(value, i * each, b.getIntegerType(each))))
        return false;
    return true;
  }
  if (operand.name == "_")
    return true;
  auto it = registers.find(operand.name);
  if (it == registers.end())
    return false;
  value = resize(value, it->second.bits, isSigned);
  if (!instruction.guard.empty()) {
    Operand guard;
    guard.name = instruction.guard;
    Value condition = read(guard, b.getI1Type());
    if (!condition)
      return false;
    Value old = it->second.value;
    // A register that nothing was written to has any value.
    if (old)
      value = arith::SelectOp::create(b, condition,
                                      instruction.isGuardNegated ? old : value,
                                      instruction.isGuardNegated ? value : old);
  }
  it->second.value = value;
  return true;
}

bool Translator::onlyHas(const Instruction &instruction, unsigned types,
                         ArrayRef<StringRef> allowed) {
  ArrayRef<std::string> modifiers = instruction.modifiers;
  if (modifiers.size() < types)
    return false;
  return llvm::all_of(modifiers.drop_back(types), [&](const std::string &m) {
    return llvm::is_contained(allowed, StringRef(m));
  });
}

bool Translator::compute(
    const Instruction &instruction, size_t operands,
    ArrayRef<StringRef> allowed,
    llvm::function_ref<Value(Type, bool, ValueRange)> body) {
  if (!onlyHas(instruction, 1, allowed) ||
      instruction.operands.size() != operands + 1)
    return false;
  bool isSigned = false;
  StringRef name = instruction.modifiers.back();
  Type half = halfOf(name);
  Type type = half ? b.getI32Type() : typeOf(name, isSigned);
  if (!type)
    return false;
  Values values;
  for (size_t i = 1; i <= operands; ++i) {
    values.push_back(read(instruction.operands[i], type));
    if (!values.back())
      return false;
  }
  if (!half)
    return write(instruction, instruction.operands[0],
                 body(type, isSigned, values), isSigned);
  Values results;
  for (unsigned from : {0u, 16u}) {
    Values halves;
    for (Value value : values)
      halves.push_back(part(value, from, half));
    results.push_back(body(half, false, halves));
    if (!results.back())
      return false;
  }
  return write(instruction, instruction.operands[0], join(results));
}
