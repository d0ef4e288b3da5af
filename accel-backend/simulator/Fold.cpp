//===- Fold.cpp - reductions by one operation -----------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/simulator/Fold.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tilebridge::accel {

namespace {

struct Add {
  template <typename T> static T apply(T x, T y) { return T(x + y); }
};
struct Multiply {
  template <typename T> static T apply(T x, T y) { return T(x * y); }
};
struct Least {
  template <typename T> static T apply(T x, T y) { return std::min(x, y); }
};
struct Most {
  template <typename T> static T apply(T x, T y) { return std::max(x, y); }
};

} // namespace

template <typename T, typename Bits, typename F>
static uint64_t applied(uint64_t x, uint64_t y) {
  T result = F::apply(llvm::bit_cast<T>(Bits(x)), llvm::bit_cast<T>(Bits(y)));
  return llvm::bit_cast<Bits>(result);
}

template <typename F> static FoldFunction ofFloat(Type type) {
  if (type.isF32())
    return applied<float, uint32_t, F>;
  return type.isF64() ? applied<double, uint64_t, F> : nullptr;
}

template <typename F> static FoldFunction ofInteger(Type type, bool isSigned) {
  if (type.isInteger(32))
    return isSigned ? applied<int32_t, uint32_t, F>
                    : applied<uint32_t, uint32_t, F>;
  if (type.isInteger(64))
    return isSigned ? applied<int64_t, uint64_t, F>
                    : applied<uint64_t, uint64_t, F>;
  return nullptr;
}

/// Maxima and minima that give NaN where one operand is, and +0 for the larger
/// zero.
template <typename T, typename Bits, bool isMaximum>
static uint64_t extreme(uint64_t a, uint64_t b) {
  T x = llvm::bit_cast<T>(Bits(a)), y = llvm::bit_cast<T>(Bits(b));
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) ? a : b;
  if (x == y)
    return std::signbit(x) == isMaximum ? b : a;
  return (x > y) == isMaximum ? a : b;
}

template <bool isMaximum> static FoldFunction extremeOf(Type type) {
  if (type.isF32())
    return extreme<float, uint32_t, isMaximum>;
  return type.isF64() ? extreme<double, uint64_t, isMaximum> : nullptr;
}

FoldFunction foldOf(Operation &op) {
  Type type = op.getResult(0).getType();
  return llvm::TypeSwitch<Operation *, FoldFunction>(&op)
      .Case<arith::AddFOp>([&](auto) { return ofFloat<Add>(type); })
      .Case<arith::MulFOp>([&](auto) { return ofFloat<Multiply>(type); })
      .Case<arith::MaximumFOp>([&](auto) { return extremeOf<true>(type); })
      .Case<arith::MinimumFOp>([&](auto) { return extremeOf<false>(type); })
      .Case<arith::AddIOp>([&](auto) { return ofInteger<Add>(type, false); })
      .Case<arith::MulIOp>(
          [&](auto) { return ofInteger<Multiply>(type, false); })
      .Case<arith::MaxSIOp>([&](auto) { return ofInteger<Most>(type, true); })
      .Case<arith::MinSIOp>([&](auto) { return ofInteger<Least>(type, true); })
      .Case<arith::MaxUIOp>([&](auto) { return ofInteger<Most>(type, false); })
      .Case<arith::MinUIOp>([&](auto) { return ofInteger<Least>(type, false); })
      .Default([](Operation *) { return nullptr; });
}

} // namespace tilebridge::accel
