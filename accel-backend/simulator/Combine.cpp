//===- Combine.cpp - two elements become one ------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/simulator/Combine.h"

#include "reference/Datum.h"
#include "reference/Float.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using tilebridge::reference::signedValue;
using tilebridge::reference::truncated;

namespace tilebridge::accel {

static uint64_t combinedFloats(CombiningKind kind, uint64_t x, uint64_t y,
                               FloatType type) {
  llvm::APFloat a = reference::toAPFloat(x, type);
  llvm::APFloat b = reference::toAPFloat(y, type);
  switch (kind) {
  case CombiningKind::Add:
    a.add(b, llvm::RoundingMode::NearestTiesToEven);
    return reference::fromAPFloat(a);
  case CombiningKind::Mul:
    a.multiply(b, llvm::RoundingMode::NearestTiesToEven);
    return reference::fromAPFloat(a);
  case CombiningKind::Max:
    return reference::fromAPFloat(llvm::maximum(a, b));
  case CombiningKind::Min:
    return reference::fromAPFloat(llvm::minimum(a, b));
  case CombiningKind::MaxNum:
    return reference::fromAPFloat(llvm::maximumnum(a, b));
  case CombiningKind::MinNum:
    return reference::fromAPFloat(llvm::minimumnum(a, b));
  default:
    return x; // The op's verifier refuses the others.
  }
}

uint64_t combined(CombiningKind kind, uint64_t x, uint64_t y, Type type) {
  if (auto real = dyn_cast<FloatType>(type))
    return combinedFloats(kind, x, y, real);
  unsigned width = reference::widthOf(type);
  bool isLess = signedValue(x, width) < signedValue(y, width);
  switch (kind) {
  case CombiningKind::Add:
    return truncated(x + y, width);
  case CombiningKind::Mul:
    return truncated(x * y, width);
  case CombiningKind::Max:
  case CombiningKind::MaxNum:
    return isLess ? y : x;
  case CombiningKind::Min:
  case CombiningKind::MinNum:
    return isLess ? x : y;
  case CombiningKind::UMax:
    return std::max(x, y);
  case CombiningKind::UMin:
    return std::min(x, y);
  case CombiningKind::And:
    return x & y;
  case CombiningKind::Or:
    return x | y;
  case CombiningKind::Xor:
    return x ^ y;
  }
  return x;
}

uint64_t combined(AtomicAction action, uint64_t old, uint64_t value,
                  Type type) {
  switch (action) {
  case AtomicAction::And:
    return old & value;
  case AtomicAction::Or:
    return old | value;
  case AtomicAction::Xor:
    return old ^ value;
  case AtomicAction::Add:
  case AtomicAction::FAdd:
    return combined(CombiningKind::Add, old, value, type);
  case AtomicAction::Max:
  case AtomicAction::Min: {
    // Of floats their bits as integers, as the source's op says.
    unsigned width = reference::widthOf(type);
    bool isLess = signedValue(old, width) < signedValue(value, width);
    return (action == AtomicAction::Max) == isLess ? value : old;
  }
  case AtomicAction::UMax:
    return std::max(old, value);
  case AtomicAction::UMin:
    return std::min(old, value);
  case AtomicAction::Inc:
    return old >= value ? 0 : old + 1;
  case AtomicAction::Dec:
    return old == 0 || old > value ? value : old - 1;
  case AtomicAction::Xchg:
  case AtomicAction::CompareAndSwap:
  case AtomicAction::Store:
    return value;
  case AtomicAction::Load:
    return old;
  }
  return old;
}

} // namespace tilebridge::accel
