//===- Dtype.cpp - types of array elements --------------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/cli/Dtype.h"

#include "runtime/SmallFloat.h"

#include <cmath>
#include <cstring>
#include <map>

namespace tilebridge::cli {

static const Dtype all[] = {
    {"i1", "|b1", Dtype::Bool, 1, 0, 0, false},
    {"i8", "|i1", Dtype::Signed, 1, 0, 0, false},
    {"i16", "<i2", Dtype::Signed, 2, 0, 0, false},
    {"i32", "<i4", Dtype::Signed, 4, 0, 0, false},
    {"i64", "<i8", Dtype::Signed, 8, 0, 0, false},
    {"u8", "|u1", Dtype::Unsigned, 1, 0, 0, false},
    {"u16", "<u2", Dtype::Unsigned, 2, 0, 0, false},
    {"u32", "<u4", Dtype::Unsigned, 4, 0, 0, false},
    {"u64", "<u8", Dtype::Unsigned, 8, 0, 0, false},
    {"fp16", "<f2", Dtype::Float, 2, 5, 10, true},
    {"fp32", "<f4", Dtype::Float, 4, 8, 23, true},
    {"fp64", "<f8", Dtype::Float, 8, 11, 52, true},
    {"bf16", "<V2", Dtype::Float, 2, 8, 7, true},
    {"fp8e5", "|V1", Dtype::Float, 1, 5, 2, true},
    {"fp8e4nv", "|V1", Dtype::Float, 1, 4, 3, false},
    {"fp8e5b16", "|V1", Dtype::Raw, 1, 0, 0, false},
    {"fp8e4b8", "|V1", Dtype::Raw, 1, 0, 0, false},
    {"fp8e4b15", "|V1", Dtype::Raw, 1, 0, 0, false},
    {"bytes1", "|V1", Dtype::Raw, 1, 0, 0, false},
    {"bytes2", "<V2", Dtype::Raw, 2, 0, 0, false},
};

static const Dtype *byName(const std::string &name) {
  for (const Dtype &dtype : all)
    if (name == dtype.name)
      return &dtype;
  return nullptr;
}

const Dtype *findDtype(const std::string &name) {
  static const std::map<std::string, std::string> others = {
      {"f16", "fp16"},
      {"f32", "fp32"},
      {"f64", "fp64"},
      {"float16", "fp16"},
      {"float32", "fp32"},
      {"float64", "fp64"},
      {"half", "fp16"},
      {"float", "fp32"},
      {"double", "fp64"},
      {"bfloat16", "bf16"},
      {"bool", "i1"},
      {"int8", "i8"},
      {"int16", "i16"},
      {"int32", "i32"},
      {"int64", "i64"},
      {"uint8", "u8"},
      {"uint16", "u16"},
      {"uint32", "u32"},
      {"uint64", "u64"},
      {"f8e5m2", "fp8e5"},
      {"f8e4m3fn", "fp8e4nv"},
      {"float8_e5m2", "fp8e5"},
      {"float8_e4m3fn", "fp8e4nv"},
      {"float8_e5m2fnuz", "fp8e5b16"},
      {"float8_e4m3fnuz", "fp8e4b8"}};
  auto other = others.find(name);
  return byName(other == others.end() ? name : other->second);
}

const Dtype *findWrittenDtype(const std::string &descr) {
  if (descr.size() < 3)
    return nullptr;
  std::string kind = descr.substr(1);
  if (kind == "V1" || kind == "V2")
    return byName(kind == "V1" ? "bytes1" : "bytes2");
  for (const Dtype &dtype : all)
    if (kind == dtype.written + 1 &&
        (descr[0] == '<' || descr[0] == '|' || dtype.size == 1))
      return &dtype;
  return nullptr;
}

bool isCompatible(const Dtype &given, const Dtype &wanted) {
  if (given.size != wanted.size)
    return false;
  if (given.kind == Dtype::Raw || wanted.kind == Dtype::Raw ||
      given.name == wanted.name)
    return true;
  auto isInteger = [](const Dtype &dtype) {
    return dtype.kind == Dtype::Signed || dtype.kind == Dtype::Unsigned;
  };
  // Eight-bit floats are kept in arrays of bytes where NumPy has no type for
  // them.
  bool isByteOfFloat =
      given.size == 1 && isInteger(given) && wanted.kind == Dtype::Float;
  return (isInteger(given) && isInteger(wanted)) || isByteOfFloat;
}

static double decode(const Dtype &dtype, uint64_t bits) {
  unsigned exponentMask = (1u << dtype.exponentBits) - 1;
  uint64_t fraction = bits & ((uint64_t(1) << dtype.fractionBits) - 1);
  unsigned exponent = unsigned(bits >> dtype.fractionBits) & exponentMask;
  double sign = bits >> (dtype.exponentBits + dtype.fractionBits) ? -1.0 : 1.0;
  uint64_t allOnes = (uint64_t(1) << dtype.fractionBits) - 1;
  if (exponent == exponentMask && (dtype.hasInfinity || fraction == allOnes))
    return dtype.hasInfinity && fraction == 0 ? sign * HUGE_VAL : std::nan("");
  int bias = int(exponentMask >> 1);
  double significand =
      double(fraction) +
      (exponent ? std::ldexp(1.0, int(dtype.fractionBits)) : 0.0);
  return sign * std::ldexp(significand, int(exponent ? exponent : 1) - bias -
                                            int(dtype.fractionBits));
}

static uint64_t loadBits(const uint8_t *element, unsigned size) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, size);
  return bits;
}

std::string Dtype::format(const uint8_t *element) const {
  uint64_t bits = loadBits(element, size);
  char text[40];
  switch (kind) {
  case Bool:
    return bits ? "true" : "false";
  case Signed: {
    unsigned shift = 64 - 8 * size;
    return std::to_string(int64_t(bits << shift) >> shift);
  }
  case Unsigned:
    return std::to_string(bits);
  case Float:
    // As many digits as tell two neighbours apart.
    std::snprintf(text, sizeof(text), "%.*g",
                  size == 8   ? 17
                  : size == 4 ? 9
                  : size == 2 ? 5
                              : 3,
                  decode(*this, bits));
    return text;
  case Raw:
    std::snprintf(text, sizeof(text), "0x%0*llx", int(2 * size),
                  static_cast<unsigned long long>(bits));
    return text;
  }
  return "";
}

/// The nearest value of a small float; of 8 bits by search, where those without
/// infinity have one way less to round.
static uint64_t encode(const Dtype &dtype, double value) {
  if (dtype.size == 2)
    return tb_round_to_small(value, int(dtype.exponentBits),
                             int(dtype.fractionBits));
  uint64_t signBit = uint64_t(1) << (dtype.exponentBits + dtype.fractionBits);
  uint64_t low = 0, high = signBit - 1;
  double magnitude = std::fabs(value);
  if (std::isnan(value))
    return high;
  while (high && std::isnan(decode(dtype, high)))
    --high;
  // Codes grow with the values they stand for.
  uint64_t largest = high;
  while (low < high) {
    uint64_t middle = low + (high - low + 1) / 2;
    if (decode(dtype, middle) <= magnitude)
      low = middle;
    else
      high = middle - 1;
  }
  if (low < largest) {
    double below = magnitude - decode(dtype, low),
           above = decode(dtype, low + 1) - magnitude;
    if (above < below || (above == below && (low & 1)))
      ++low;
  }
  return low | (std::signbit(value) ? signBit : 0);
}

void Dtype::store(double value, uint8_t *element) const {
  uint64_t bits = 0;
  switch (kind) {
  case Bool:
    bits = value != 0;
    break;
  case Signed:
    bits = uint64_t(int64_t(value));
    break;
  case Unsigned:
  case Raw:
    bits = value < 0 ? uint64_t(int64_t(value)) : uint64_t(value);
    break;
  case Float:
    if (size == 8) {
      std::memcpy(&bits, &value, 8);
    } else if (size == 4) {
      float single = float(value);
      std::memcpy(&bits, &single, 4);
    } else {
      bits = encode(*this, value);
    }
    break;
  }
  std::memcpy(element, &bits, size);
}

} // namespace tilebridge::cli
