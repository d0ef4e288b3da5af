//===- MathWhole.cpp - powers of two of whole numbers ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A power of two is its exponent, with the bias, in place. From the least
// normal one down the exponent stays, and what is left of it shifts the bits
// that one has: those are then the denormal number's. The range is clamped to
// one more at either end, of which the powers are infinity and 0. All of that
// LLVM leaves out where it knows the range, such as that of a short loop's
// index.
//===----------------------------------------------------------------------===//

#include "cpu-backend/MathWhole.h"
#include "cpu-backend/MathVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tilebridge::cpu;

Value tilebridge::cpu::wholeInteger(Value x) {
  Operation *op = x.getDefiningOp();
  return isa_and_present<arith::SIToFPOp, arith::UIToFPOp>(op)
             ? op->getOperand(0)
             : Value();
}

namespace {
class WholePower {
public:
  WholePower(ImplicitLocOpBuilder &b, Type type, bool shifts)
      : b(b), type(type), shifts(shifts) {
    const auto &format =
        cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics();
    mantissa = APFloat::semanticsPrecision(format) - 1;
    least = APFloat::semanticsMinExponent(format);
    bias = APFloat::semanticsMaxExponent(format);
    infinity = bias + 1;
    zero = least - mantissa - 1;
  }

  Value ofInteger(Value n, bool isUnsigned) {
    return ofExponent(inRange(n, isUnsigned));
  }

  /// No conversion of NaN, whose result is undefined.
  Value ofFloat(Value x) {
    auto clamp = [&](arith::CmpFPredicate predicate, Value y, Value limit) {
      Value isInside = arith::CmpFOp::create(b, predicate, y, limit);
      return arith::SelectOp::create(b, isInside, y, limit).getResult();
    };
    // The first comparison is false for NaN, too.
    Value number = clamp(arith::CmpFPredicate::OGT, x, c(zero));
    number = clamp(arith::CmpFPredicate::OLT, number, c(infinity));
    Value power = ofExponent(
        arith::FPToSIOp::create(b, withElement(type, b.getI32Type()), number));
    Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
    return arith::SelectOp::create(b, isNan, arith::AddFOp::create(b, x, x),
                                   power);
  }

private:
  Value c(int64_t number) {
    Type element = getElementTypeOrSelf(type);
    return splat(type, b.getFloatAttr(element, double(number)));
  }
  Value ci(Type integers, int64_t number) {
    return splat(integers,
                 b.getIntegerAttr(getElementTypeOrSelf(integers), number));
  }
  Value splat(Type of, TypedAttr attr) {
    if (auto shaped = dyn_cast<ShapedType>(of))
      attr = DenseElementsAttr::get(shaped, Attribute(attr));
    return arith::ConstantOp::create(b, attr);
  }

  /// As an i32 from `zero` to `infinity`.
  Value inRange(Value n, bool isUnsigned) {
    Type given = n.getType(), ints = withElement(type, b.getI32Type());
    unsigned width = getElementTypeOrSelf(given).getIntOrFloatBitWidth();
    bool isNarrow = width < 32;
    if (isNarrow && isUnsigned)
      n = arith::ExtUIOp::create(b, ints, n);
    else if (isNarrow)
      n = arith::ExtSIOp::create(b, ints, n);
    Value last = ci(n.getType(), infinity);
    if (isUnsigned)
      n = arith::MinUIOp::create(b, n, last);
    else
      n = arith::MaxSIOp::create(b, arith::MinSIOp::create(b, n, last),
                                 ci(n.getType(), zero));
    return width > 32 ? arith::TruncIOp::create(b, ints, n).getResult() : n;
  }

  /// The float whose exponent is `n`, from `least` to `infinity`.
  Value bitsOf(Value n) {
    Type element = getElementTypeOrSelf(type);
    Type bits =
        withElement(type, b.getIntegerType(element.getIntOrFloatBitWidth()));
    Value biased = arith::AddIOp::create(b, n, ci(n.getType(), bias));
    if (bits != n.getType())
      biased = arith::ExtUIOp::create(b, bits, biased);
    return arith::ShLIOp::create(b, biased, ci(bits, mantissa));
  }

  Value ofExponent(Value n) {
    Value normal = arith::MaxSIOp::create(b, n, ci(n.getType(), least));
    Value bits = bitsOf(normal);
    if (!shifts && isa<ShapedType>(type)) {
      // Of two normal factors at most one is not 1.
      Value rest = arith::SubIOp::create(b, n, normal);
      return arith::MulFOp::create(b, toFloat(bits), toFloat(bitsOf(rest)));
    }
    Value below = arith::SubIOp::create(b, normal, n);
    if (bits.getType() != below.getType())
      below = arith::ExtUIOp::create(b, bits.getType(), below);
    return toFloat(arith::ShRUIOp::create(b, bits, below));
  }

  Value toFloat(Value bits) { return arith::BitcastOp::create(b, type, bits); }

  ImplicitLocOpBuilder &b;
  Type type;
  bool shifts;
  int64_t mantissa, least, bias, infinity, zero;
};
} // namespace

Value tilebridge::cpu::powerOfWhole(ImplicitLocOpBuilder &b, Value x,
                                    bool shifts) {
  WholePower power(b, x.getType(), shifts);
  if (Value n = wholeInteger(x))
    return power.ofInteger(n, isa<arith::UIToFPOp>(x.getDefiningOp()));
  return power.ofFloat(x);
}
