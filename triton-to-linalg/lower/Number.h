//===- Number.h - scalar formulas as C++ expressions ----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "triton-to-linalg/lower/ExternFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilebridge::ttl {

/// A scalar float in a formula that is being written as ops of arith and math.
/// Numbers of C++ in a formula are constants of the same type.
class Number {
public:
  Number(mlir::ImplicitLocOpBuilder &builder, mlir::Value value)
      : b(&builder), v(value) {}

  mlir::Value value() const { return v; }
  mlir::ImplicitLocOpBuilder &builder() const { return *b; }

  Number constant(double number) const {
    return {*b, mlir::arith::ConstantOp::create(
                    *b, b->getFloatAttr(v.getType(), number))};
  }

  template <typename Op> Number unary() const {
    return {*b, Op::create(*b, v)};
  }
  template <typename Op> Number binary(Number other) const {
    return {*b, Op::create(*b, v, other.v)};
  }

  friend Number operator+(Number x, Number y) {
    return x.binary<mlir::arith::AddFOp>(y);
  }
  friend Number operator-(Number x, Number y) {
    return x.binary<mlir::arith::SubFOp>(y);
  }
  friend Number operator*(Number x, Number y) {
    return x.binary<mlir::arith::MulFOp>(y);
  }
  friend Number operator/(Number x, Number y) {
    return x.binary<mlir::arith::DivFOp>(y);
  }
  friend Number operator+(Number x, double y) { return x + x.constant(y); }
  friend Number operator-(Number x, double y) { return x - x.constant(y); }
  friend Number operator-(double x, Number y) { return y.constant(x) - y; }
  friend Number operator*(Number x, double y) { return x * x.constant(y); }
  friend Number operator/(double x, Number y) { return y.constant(x) / y; }
  Number operator-() const { return unary<mlir::arith::NegFOp>(); }

  /// A comparison, as an i1.
  mlir::Value is(mlir::arith::CmpFPredicate predicate, Number other) const {
    return mlir::arith::CmpFOp::create(*b, predicate, v, other.v);
  }
  friend mlir::Value operator<(Number x, Number y) {
    return x.is(mlir::arith::CmpFPredicate::OLT, y);
  }
  friend mlir::Value operator<(Number x, double y) { return x < x.constant(y); }
  friend mlir::Value operator>(Number x, double y) { return x.constant(y) < x; }
  friend mlir::Value operator==(Number x, double y) {
    return x.is(mlir::arith::CmpFPredicate::OEQ, x.constant(y));
  }

private:
  mlir::ImplicitLocOpBuilder *b;
  mlir::Value v;
};

/// The first where `condition` holds, else the second.
inline Number select(mlir::Value condition, Number yes, Number no) {
  return {yes.builder(),
          mlir::arith::SelectOp::create(yes.builder(), condition, yes.value(),
                                        no.value())};
}

/// x * y + z, rounded once, on every CPU.
inline Number fma(Number x, Number y, Number z) {
  return {x.builder(), mlir::math::FmaOp::create(x.builder(), x.value(),
                                                 y.value(), z.value())};
}

/// x * y and x + y, rounded, which are never fused with what is around them:
/// what computes the error of a rounding relies on that.
inline Number exactlyRoundedProduct(Number x, Number y) {
  return fma(x, y, x.constant(-0.0));
}
inline Number exactlyRoundedSum(Number x, Number y) {
  return fma(x, x.constant(1), y);
}

inline Number abs(Number x) { return x.unary<mlir::math::AbsFOp>(); }
inline Number exp(Number x) { return x.unary<mlir::math::ExpOp>(); }
inline Number log(Number x) { return x.unary<mlir::math::LogOp>(); }
inline Number sqrt(Number x) { return x.unary<mlir::math::SqrtOp>(); }
inline Number erf(Number x) { return x.unary<mlir::math::ErfOp>(); }
inline Number erfc(Number x) { return x.unary<mlir::math::ErfcOp>(); }
inline Number floor(Number x) { return x.unary<mlir::math::FloorOp>(); }
inline Number copySign(Number x, Number sign) {
  return x.binary<mlir::math::CopySignOp>(sign);
}

/// The polynomial with these coefficients, lowest first.
Number polynomial(Number x, llvm::ArrayRef<double> lowToHigh);

/// The function `formula` of f64, for operands and a result of f32 or f64.
mlir::Value
inDouble(ExternCall call,
         llvm::function_ref<Number(llvm::ArrayRef<Number>)> formula);

} // namespace tilebridge::ttl
