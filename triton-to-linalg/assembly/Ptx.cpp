//===- Ptx.cpp - PTX text taken apart -------------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/assembly/Ptx.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"

using namespace tilebridge::ttl::ptx;
using llvm::StringRef;

static llvm::Error notUnderstood(StringRef part) {
  return llvm::createStringError("'" + part.trim() + "' is not understood");
}

/// Comments become spaces.
static std::string withoutComments(StringRef text) {
  std::string result;
  while (!text.empty()) {
    if (text.starts_with("//")) {
      text = text.drop_until([](char c) { return c == '\n'; });
    } else if (text.starts_with("/*")) {
      size_t end = text.find("*/", 2);
      text = end == StringRef::npos ? StringRef() : text.drop_front(end + 2);
      result += ' ';
    } else {
      result += text.front();
      text = text.drop_front();
    }
  }
  return result;
}

/// The text up to the next `separator` outside of braces and brackets.
static StringRef takeUntil(StringRef &text, char separator) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '{' || text[i] == '[';
    depth -= text[i] == '}' || text[i] == ']';
    if (text[i] == separator && depth == 0) {
      StringRef part = text.take_front(i);
      text = text.drop_front(i + 1);
      return part.trim();
    }
  }
  return std::exchange(text, StringRef()).trim();
}

static unsigned bitsOf(StringRef type) {
  if (type == "pred")
    return 1;
  if (type == "f16x2")
    return 32;
  unsigned bits = 0;
  if (type.empty() || !StringRef("busf").contains(type.front()) ||
      type.drop_front().getAsInteger(10, bits) ||
      (bits != 8 && bits != 16 && bits != 32 && bits != 64))
    return 0;
  return bits;
}

/// .reg .b32 a<2>, b;
static llvm::Error parseRegisters(StringRef text, Program &program) {
  text = text.trim();
  StringRef type = text.take_until(llvm::isSpace), names = text;
  names.consume_front(type);
  unsigned bits = type.consume_front(".") ? bitsOf(type) : 0;
  if (bits == 0)
    return notUnderstood(text);
  while (!names.trim().empty()) {
    StringRef name = takeUntil(names, ',');
    size_t open = name.find('<');
    unsigned count = 0;
    if (open == StringRef::npos) {
      program.registers[name] = bits;
      continue;
    }
    if (!name.ends_with(">") ||
        name.slice(open + 1, name.size() - 1).trim().getAsInteger(10, count) ||
        count > 1024)
      return notUnderstood(name);
    for (unsigned i = 0; i < count; ++i)
      program.registers[(name.take_front(open).trim() + llvm::Twine(i)).str()] =
          bits;
  }
  return llvm::Error::success();
}

static bool isName(StringRef text) {
  return !text.empty() && llvm::all_of(text, [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '$' || c == '%' || c == '.';
  });
}

static llvm::Expected<Operand> parseOperand(StringRef text) {
  Operand operand;
  char separator = 0;
  StringRef parts = text;
  if (parts.consume_front("{") && parts.consume_back("}"))
    separator = ',';
  else if (parts = text; parts.contains('|'))
    separator = '|';
  if (separator) {
    operand.kind = Operand::Group;
    while (!parts.trim().empty()) {
      auto part = parseOperand(takeUntil(parts, separator));
      if (!part)
        return part.takeError();
      operand.parts.push_back(std::move(*part));
    }
    return operand;
  }

  StringRef digits = text;
  bool isNegative = digits.consume_front("-");
  // 0f3F800000: the bits of an f32; 0d...: of an f64.
  StringRef bits = digits;
  if (bits.consume_front_insensitive("0f") && bits.size() == 8) {
    uint32_t code;
    if (bits.getAsInteger(16, code))
      return notUnderstood(text);
    double value = llvm::bit_cast<float>(code);
    operand.kind = Operand::Float;
    operand.number = llvm::bit_cast<uint64_t>(isNegative ? -value : value);
    return operand;
  }
  if (bits = digits;
      bits.consume_front_insensitive("0d") && bits.size() == 16) {
    operand.kind = Operand::Float;
    if (isNegative || bits.getAsInteger(16, operand.number))
      return notUnderstood(text);
    return operand;
  }
  if (!digits.empty() && llvm::isDigit(digits.front())) {
    bits = digits;
    bits.consume_back("U");
    if (!bits.getAsInteger(0, operand.number)) {
      operand.kind = Operand::Integer;
      if (isNegative)
        operand.number = -operand.number;
      return operand;
    }
    double value;
    if (digits.getAsDouble(value))
      return notUnderstood(text);
    operand.kind = Operand::Float;
    operand.number = llvm::bit_cast<uint64_t>(isNegative ? -value : value);
    return operand;
  }
  if (!isName(text))
    return notUnderstood(text);
  operand.name = text.str();
  return operand;
}

static llvm::Expected<Instruction> parseInstruction(StringRef text) {
  Instruction instruction;
  instruction.text = text.str();
  StringRef rest = text;
  if (rest.consume_front("@")) {
    instruction.isGuardNegated = rest.consume_front("!");
    StringRef guard = rest.take_until([](char c) { return llvm::isSpace(c); });
    instruction.guard = guard.str();
    rest = rest.drop_front(guard.size()).trim();
  }
  StringRef name = rest.take_until([](char c) { return llvm::isSpace(c); });
  rest = rest.drop_front(name.size()).trim();
  llvm::SmallVector<StringRef> parts;
  name.split(parts, '.');
  if (!isName(name) || parts.front().empty() || name.contains('$'))
    return notUnderstood(text);
  instruction.opcode = parts.front().str();
  for (StringRef modifier : llvm::drop_begin(parts))
    instruction.modifiers.push_back(modifier.str());
  while (!rest.empty()) {
    auto operand = parseOperand(takeUntil(rest, ','));
    if (!operand)
      return operand.takeError();
    instruction.operands.push_back(std::move(*operand));
  }
  return instruction;
}

llvm::Expected<Program> tilebridge::ttl::ptx::parse(StringRef text) {
  std::string plain = withoutComments(text);
  Program program;
  StringRef rest = plain;
  while (true) {
    // Braces around instructions only bound the life of registers.
    rest = rest.drop_while(
        [](char c) { return llvm::isSpace(c) || c == '{' || c == '}'; });
    if (rest.empty())
      return program;
    size_t end = rest.find(';');
    StringRef statement = rest.take_front(end).trim();
    rest = end == StringRef::npos ? StringRef() : rest.drop_front(end + 1);
    if (statement.consume_front(".reg")) {
      if (llvm::Error error = parseRegisters(statement, program))
        return error;
      continue;
    }
    auto instruction = parseInstruction(statement);
    if (!instruction)
      return instruction.takeError();
    program.instructions.push_back(std::move(*instruction));
  }
}
