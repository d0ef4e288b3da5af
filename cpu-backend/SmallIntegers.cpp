//===- SmallIntegers.cpp - integers that short floats hold ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Weights of 8 bits and fewer. Rounding them to bf16 is half of what converting
// them takes.
//===----------------------------------------------------------------------===//

#include "cpu-backend/SmallIntegers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge::cpu;

static unsigned widthOf(Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  return type.isInteger() ? type.getIntOrFloatBitWidth() : 64;
}

/// The largest magnitude that an integer with a sign can be seen to have.
static std::optional<int64_t> magnitudeOf(Value value, int depth = 6) {
  std::optional<int64_t> ofType;
  if (unsigned width = widthOf(value); width <= 8)
    ofType = int64_t(1) << (width - 1);
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return ofType;
  APInt number;
  if (matchPattern(op, m_ConstantInt(&number)))
    return number.getSignificantBits() <= 16
               ? std::optional(std::abs(number.getSExtValue()))
               : std::nullopt;
  if (isa<arith::ExtUIOp>(op))
    return widthOf(op->getOperand(0)) <= 8
               ? std::optional((int64_t(1) << widthOf(op->getOperand(0))) - 1)
               : std::nullopt;
  if (isa<arith::ExtSIOp>(op))
    return magnitudeOf(op->getOperand(0), depth - 1);
  if (isa<arith::AndIOp>(op))
    for (Value operand : op->getOperands())
      if (matchPattern(operand, m_ConstantInt(&number)) &&
          number.isNonNegative() && number.getActiveBits() <= 16)
        return number.getZExtValue();
  // A few numbers of 16 bits do not run over when they are added.
  if (isa<arith::AddIOp, arith::SubIOp>(op) && widthOf(value) >= 32) {
    auto a = magnitudeOf(op->getOperand(0), depth - 1),
         b = magnitudeOf(op->getOperand(1), depth - 1);
    return a && b ? std::optional(*a + *b) : std::nullopt;
  }
  return ofType;
}

bool tilebridge::cpu::convertsSmallIntegers(Operation *op) {
  if (!isa_and_nonnull<arith::UIToFPOp, arith::SIToFPOp>(op))
    return false;
  // What has so many bits is a number of the type.
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  int64_t most = type.isF16() ? 2048 : 256;
  if (isa<arith::UIToFPOp>(op))
    return widthOf(op->getOperand(0)) <= 8;
  std::optional<int64_t> magnitude = magnitudeOf(op->getOperand(0));
  return magnitude && *magnitude <= most;
}
