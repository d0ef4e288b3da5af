//===- ArgumentType.cpp - types of kernel arguments ----------------------
//-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/ArgumentType.h"

#include "runtime/SmallFloat.h"

#include <cstring>

namespace tilebridge::rt {

static bool parseUnsigned(std::string_view text, unsigned &value) {
  if (text.empty() || text.size() > 3)
    return false;
  value = 0;
  for (char c : text) {
    if (c < '0' || c > '9')
      return false;
    value = value * 10 + unsigned(c - '0');
  }
  return true;
}

static bool parseScalar(std::string_view text, ArgumentType &type) {
  type.kind = ArgumentType::Integer;
  if (text.size() > 1 && (text[0] == 'i' || text[0] == 'u') &&
      parseUnsigned(text.substr(1), type.bits)) {
    type.isUnsigned = text[0] == 'u';
    return type.bits == 1 || type.bits == 8 || type.bits == 16 ||
           type.bits == 32 || type.bits == 64;
  }
  type.kind = ArgumentType::Real;
  type.isBFloat = text == "bf16";
  if (type.isBFloat || text == "fp16")
    type.bits = 16;
  else if (text == "fp32")
    type.bits = 32;
  else if (text == "fp64")
    type.bits = 64;
  else
    return false;
  return true;
}

/// tensordesc<fp16[32, 64]>, whatever follows the shape.
static bool parseDescriptor(std::string_view text, ArgumentType &type) {
  size_t open = text.find('<'), bracket = text.find('['),
         close = text.find(']');
  if (open == text.npos || bracket == text.npos || close == text.npos ||
      !(open < bracket && bracket < close) || text.back() != '>')
    return false;
  type.kind = ArgumentType::Descriptor;
  type.element = text.substr(open + 1, bracket - open - 1);
  type.rank = 1;
  for (char c : text.substr(bracket + 1, close - bracket - 1)) {
    if (c == ',')
      ++type.rank;
    else if (c != ' ' && (c < '0' || c > '9'))
      return false;
    if (c != ' ')
      type.blockShape += c;
  }
  return type.rank <= TILEBRIDGE_MAX_RANK && !type.element.empty();
}

bool parseArgumentType(std::string_view text, ArgumentType &type) {
  type = ArgumentType();
  if (text.empty())
    return false;
  if (text[0] == '*') {
    text.remove_prefix(text.substr(0, 2) == "*k" ? 2 : 1);
    type.element = text;
    return !text.empty();
  }
  if (text.substr(0, 10) == "tensordesc")
    return parseDescriptor(text, type);
  return parseScalar(text, type);
}

static std::string signless(const std::string &element) {
  return element[0] == 'u' ? "i" + element.substr(1) : element;
}

bool isCompatible(const ArgumentType &given, const ArgumentType &wanted) {
  if (given.kind != wanted.kind)
    return false;
  switch (given.kind) {
  case ArgumentType::Pointer:
    return signless(given.element) == signless(wanted.element);
  case ArgumentType::Integer:
    return given.bits == wanted.bits;
  case ArgumentType::Real:
    return given.bits == wanted.bits && given.isBFloat == wanted.isBFloat;
  case ArgumentType::Descriptor:
    return signless(given.element) == signless(wanted.element) &&
           given.blockShape == wanted.blockShape;
  }
  return false;
}

static bool fits(int64_t value, const ArgumentType &type) {
  if (type.bits == 64)
    return true;
  if (type.bits == 1)
    return value == 0 || value == 1;
  int64_t low = type.isUnsigned ? 0 : -(int64_t(1) << (type.bits - 1));
  int64_t high =
      (int64_t(1) << (type.isUnsigned ? type.bits : type.bits - 1)) - 1;
  return value >= low && value <= high;
}

static uint64_t realBits(double value, const ArgumentType &type) {
  if (type.bits == 16)
    return type.isBFloat ? toBFloatBits(value) : toHalfBits(value);
  uint64_t bits = 0;
  if (type.bits == 32) {
    float single = float(value);
    std::memcpy(&bits, &single, sizeof(single));
  } else {
    std::memcpy(&bits, &value, sizeof(value));
  }
  return bits;
}

uint16_t toHalfBits(double value) { return tb_round_to_small(value, 5, 10); }
uint16_t toBFloatBits(double value) { return tb_round_to_small(value, 8, 7); }

bool writeSlots(const tilebridge_argument &argument, const ArgumentType &given,
                const ArgumentType &wanted, uint64_t *slots, std::string &why) {
  switch (wanted.kind) {
  case ArgumentType::Pointer:
    slots[0] = uint64_t(uintptr_t(argument.value.pointer));
    return true;
  case ArgumentType::Integer:
    if (!fits(argument.value.integer, given)) {
      why = std::to_string(argument.value.integer) + " does not fit its type " +
            argument.type;
      return false;
    }
    slots[0] = uint64_t(argument.value.integer);
    if (given.bits < 64)
      slots[0] &= (uint64_t(1) << given.bits) - 1;
    return true;
  case ArgumentType::Real:
    slots[0] = realBits(argument.value.real, wanted);
    return true;
  case ArgumentType::Descriptor:
    break;
  }
  const tilebridge_descriptor *descriptor = argument.value.descriptor;
  if (!descriptor || descriptor->rank != wanted.rank) {
    why = descriptor
              ? "the descriptor has rank " + std::to_string(descriptor->rank) +
                    ", the kernel wants " + std::to_string(wanted.rank)
              : "the descriptor is a null pointer";
    return false;
  }
  int64_t last = wanted.rank ? descriptor->strides[wanted.rank - 1] : 1;
  if (last != 1 && descriptor->sizes[wanted.rank - 1] > 1) {
    why = "the last stride of the descriptor is " + std::to_string(last) +
          "; elements of its last dimension must lie side by side";
    return false;
  }
  *slots++ = uint64_t(uintptr_t(descriptor->pointer));
  for (unsigned i = 0; i < wanted.rank; ++i)
    *slots++ = uint64_t(descriptor->sizes[i]);
  for (unsigned i = 0; i < wanted.rank; ++i)
    *slots++ = uint64_t(descriptor->strides[i]);
  *slots = descriptor->pad_with_nan ? 1 : 0;
  return true;
}

} // namespace tilebridge::rt
