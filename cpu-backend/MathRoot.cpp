//===- MathRoot.cpp - square roots by AVX-512's estimates -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A root of 16 floats keeps the divider busy for 12 cycles or more, of 8
// doubles for 19. vrsqrt14 gives r = 1 / sqrt(x) to 14 bits in two, and
//   g = x * r, h = r / 2; e = 1/2 - g * h, g += g * e, h += h * e
// doubles the bits of g, about sqrt(x), and h, about 1 / (2 * sqrt(x)), with
// each round. Last comes g + h * (x - g^2), rounded once.
//
// That is the correctly rounded root. In f32: for each x of [1, 4) and each
// estimate r that is right to 14 bits and a bit less, which were all tried
// (2.6 * 10^10 pairs). In f64: with u = 2^-53, g and h are right to 2.95 * u
// before the last step (half of what both differ by, which is three roundings,
// the square of the estimate's error, and a rounding). Then the last sum is
// right to 16 * u^2 before it is rounded. With K = sqrt(x) in units of its last
// place, K^2 is a multiple of 2^52, and it is less than 32 from the square of a
// half-integer if that error matters. There are fewer than 100 such numbers,
// up to powers of four; with Intel's vrsqrt14, which Intel defines to the bit,
// they come out right (RootTest.cpp tries them). With other estimates, they
// need not.
//
// Numbers so small that x - g^2 underflows are scaled. Zeros and infinity,
// which are their own roots, are put in last.
//===----------------------------------------------------------------------===//

#include "cpu-backend/MathRoot.h"
#include "cpu-backend/MathVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Outside of loops nothing else is computed meanwhile, and products take
/// longer than one root.
static bool isWorthwhile(Operation *op) {
  auto type = dyn_cast<VectorType>(op->getResult(0).getType());
  if (!type || type.isScalable() || type.getRank() != 1 ||
      !op->getParentOfType<scf::ForOp>())
    return false;
  Type element = type.getElementType();
  return (element.isF32() || element.isF64()) &&
         type.getNumElements() * element.getIntOrFloatBitWidth() % 512 == 0;
}

namespace {
class Writer {
public:
  explicit Writer(Operation *op)
      : b(op->getLoc(), op), type(cast<VectorType>(op->getResult(0).getType())),
        cpu(b, type), isDouble(type.getElementType().isF64()) {}

  Value root(Value argument);
  Value reciprocalRoot(Value x);

private:
  Value c(double number) {
    auto attr = b.getFloatAttr(type.getElementType(), number);
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, attr));
  }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  /// x * y + z
  Value mulAdd(Value x, Value y, Value z) {
    return math::FmaOp::create(b, x, y, z);
  }
  /// z - x * y
  Value rest(Value x, Value y, Value z) {
    return mulAdd(arith::NegFOp::create(b, x), y, z);
  }

  ImplicitLocOpBuilder b;
  VectorType type;
  Avx512 cpu;
  bool isDouble;
};
} // namespace

Value Writer::root(Value argument) {
  Value isSmall = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, argument,
                                        c(isDouble ? 0x1p-900 : 0x1p-96));
  auto scaledIfSmall = [&](Value value, double factor) -> Value {
    return arith::SelectOp::create(b, isSmall, mul(value, c(factor)), value);
  };
  Value x = scaledIfSmall(argument, isDouble ? 0x1p200 : 0x1p96);
  Value r = cpu.reciprocalRootEstimate(x), half = c(0.5);
  Value g = mul(x, r), h = mul(r, half);
  for (int round = 0; round < (isDouble ? 2 : 1); ++round) {
    Value e = rest(g, h, half);
    g = mulAdd(g, e, g);
    h = mulAdd(h, e, h);
  }
  Value result = mulAdd(rest(g, g, x), h, g);
  result = scaledIfSmall(result, isDouble ? 0x1p-100 : 0x1p-48);
  return cpu.withSpecial(result, argument, Avx512::Special::Same,
                         Avx512::Special::Same);
}

/// With e = 1 - x * r^2 the result is r * (1 - e)^(-1/2), here to the second
/// power of e: what is left out is below 2^-40. In f64 the result is taken for
/// the estimate once more. x * r is rounded, by which e is wrong by as much,
/// and the result by half of that.
Value Writer::reciprocalRoot(Value x) {
  Value r = cpu.reciprocalRootEstimate(x), half = c(0.5);
  Value e = rest(mul(x, r), r, c(1));
  Value result = mulAdd(mul(r, e), mulAdd(e, c(0.375), half), r);
  if (isDouble) {
    e = rest(mul(x, result), result, c(1));
    result = mulAdd(mul(result, e), half, result);
  }
  return cpu.withSpecial(result, x, Avx512::Special::Infinity,
                         Avx512::Special::Zero);
}

void tilebridge::cpu::expandRoot(math::SqrtOp op) {
  if (!isWorthwhile(op))
    return;
  op.getResult().replaceAllUsesWith(Writer(op).root(op.getOperand()));
  op.erase();
}

bool tilebridge::cpu::expandReciprocalRoot(math::RsqrtOp op) {
  if (!isWorthwhile(op))
    return false;
  op.getResult().replaceAllUsesWith(Writer(op).reciprocalRoot(op.getOperand()));
  op.erase();
  return true;
}
