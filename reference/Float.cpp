//===- Float.cpp - floats of any type as double ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Float.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace mlir;

namespace tilebridge::reference {

/// f16 without going through APFloat; infinities and NaNs do.
static std::optional<double> halfToDouble(uint64_t bits) {
  uint64_t exponent = bits >> 10 & 31, mantissa = bits & 1023;
  if (exponent == 31)
    return std::nullopt;
  // A number below 2^-14 is a multiple of 2^-24.
  double magnitude = exponent == 0
                         ? double(mantissa) * 0x1p-24
                         : llvm::bit_cast<double>((exponent + 1023 - 15) << 52 |
                                                  mantissa << 42);
  return bits >> 15 & 1 ? -magnitude : magnitude;
}

/// A finite double to the nearest float of 16 bits, ties to even, as APFloat
/// rounds it.
static uint64_t roundedToHalf(double value, unsigned mantissaBits) {
  uint64_t bits = llvm::bit_cast<uint64_t>(value);
  uint64_t sign = bits >> 63 << 15;
  int bias = (1 << (14 - mantissaBits)) - 1;
  int exponent = int(bits >> 52 & 2047) - 1023;
  if (exponent == -1023)
    return sign; // Too small for both types.
  uint64_t significand = (bits & ((uint64_t(1) << 52) - 1)) | uint64_t(1) << 52;
  bool isSmall = exponent < 1 - bias;
  int shift = 52 - int(mantissaBits) + (isSmall ? 1 - bias - exponent : 0);
  if (shift > 53)
    return sign;
  uint64_t quotient = significand >> shift;
  uint64_t rest = significand & ((uint64_t(1) << shift) - 1);
  uint64_t half = uint64_t(1) << (shift - 1);
  quotient += rest > half || (rest == half && (quotient & 1));
  // A carry goes on into the exponent.
  uint64_t magnitude =
      isSmall ? quotient
              : (uint64_t(exponent + bias - 1) << mantissaBits) + quotient;
  uint64_t infinity = ((uint64_t(1) << (15 - mantissaBits)) - 1)
                      << mantissaBits;
  return sign | std::min(magnitude, infinity);
}

double toDouble(uint64_t bits, FloatType type) {
  if (type.isF64())
    return llvm::bit_cast<double>(bits);
  if (type.isF32())
    return llvm::bit_cast<float>(uint32_t(bits));
  if (type.isBF16())
    return llvm::bit_cast<float>(uint32_t(bits) << 16);
  if (type.isF16())
    if (std::optional<double> value = halfToDouble(bits))
      return *value;
  return toAPFloat(bits, type).convertToDouble();
}

uint64_t fromDouble(double value, FloatType type, llvm::RoundingMode rounding) {
  if (rounding == llvm::RoundingMode::NearestTiesToEven) {
    if (type.isF64())
      return llvm::bit_cast<uint64_t>(value);
    if (type.isF32())
      return llvm::bit_cast<uint32_t>(float(value));
    if ((type.isF16() || type.isBF16()) && std::isfinite(value))
      return roundedToHalf(value, type.isF16() ? 10 : 7);
  }
  llvm::APFloat result(value);
  bool losesInfo;
  result.convert(type.getFloatSemantics(), rounding, &losesInfo);
  return fromAPFloat(result);
}

llvm::APFloat toAPFloat(uint64_t bits, FloatType type) {
  return llvm::APFloat(type.getFloatSemantics(),
                       llvm::APInt(type.getWidth(), bits));
}

uint64_t fromAPFloat(const llvm::APFloat &value) {
  return value.bitcastToAPInt().getZExtValue();
}

} // namespace tilebridge::reference
