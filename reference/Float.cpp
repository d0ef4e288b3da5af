//===- Float.cpp - floats of any type as double ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Float.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace tilebridge::reference {

double toDouble(uint64_t bits, FloatType type) {
  if (type.isF64())
    return llvm::bit_cast<double>(bits);
  if (type.isF32())
    return llvm::bit_cast<float>(uint32_t(bits));
  if (type.isBF16())
    return llvm::bit_cast<float>(uint32_t(bits) << 16);
  return toAPFloat(bits, type).convertToDouble();
}

uint64_t fromDouble(double value, FloatType type, llvm::RoundingMode rounding) {
  if (rounding == llvm::RoundingMode::NearestTiesToEven) {
    if (type.isF64())
      return llvm::bit_cast<uint64_t>(value);
    if (type.isF32())
      return llvm::bit_cast<uint32_t>(float(value));
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
