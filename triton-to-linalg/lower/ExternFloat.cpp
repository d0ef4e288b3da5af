//===- ExternFloat.cpp - functions of libdevice with an op of their own ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/lower/ExternFunctions.h"
#include "triton-to-linalg/lower/Number.h"

#include <limits>

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

/// A question about a float: 1 or 0 as an integer.
template <typename Op> static Value question(ExternCall c) {
  Value answer = Op::create(c.b, c.in[0]);
  return arith::ExtUIOp::create(c.b, c.result, answer);
}

/// math.isinf has no lowering to LLVM.
static Value isInfinite(ExternCall c) {
  Number x(c.b, c.in[0]);
  Value answer = abs(x) == std::numeric_limits<double>::infinity();
  return arith::ExtUIOp::create(c.b, c.result, answer);
}

static Value reciprocal(ExternCall c) {
  return (1.0 / Number(c.b, c.in[0])).value();
}

/// 10^x; pow is exact where exp2(x * log2(10)) loses digits.
static Value exp10(ExternCall c) {
  Number x(c.b, c.in[0]);
  return x.constant(10).binary<math::PowFOp>(x).value();
}

/// Limits to [0, 1]; NaN gives 0.
static Value saturate(ExternCall c) {
  Number x(c.b, c.in[0]);
  return x.binary<arith::MaxNumFOp>(x.constant(0))
      .binary<arith::MinNumFOp>(x.constant(1))
      .value();
}

static Value fusedMultiplyAdd(ExternCall c) {
  return math::FmaOp::create(c.b, c.in[0], c.in[1], c.in[2]);
}

/// x^n for an i32, which f64 holds exactly.
static Value powi(ExternCall c) {
  Value exponent = arith::SIToFPOp::create(c.b, c.b.getF64Type(), c.in[1]);
  ExternCall ofBase = {c.b, c.in.take_front(), c.result};
  return inDouble(ofBase, [&](ArrayRef<Number> x) {
    return x[0].binary<math::PowFOp>({c.b, exponent});
  });
}

/// The sign bit as 1 or 0.
static Value signBit(ExternCall c) {
  Type type = c.b.getIntegerType(c.in[0].getType().getIntOrFloatBitWidth());
  Value bits = arith::BitcastOp::create(c.b, type, c.in[0]);
  Value zero = arith::ConstantIntOp::create(c.b, type, 0);
  Value negative =
      arith::CmpIOp::create(c.b, arith::CmpIPredicate::slt, bits, zero);
  return arith::ExtUIOp::create(c.b, c.result, negative);
}

/// The difference where it is positive, else 0; NaN stays.
static Value positiveDifference(ExternCall c) {
  Number x(c.b, c.in[0]), y(c.b, c.in[1]);
  return select(x.is(arith::CmpFPredicate::OLE, y), x.constant(0), x - y)
      .value();
}

/// What must not be fused with what is around it, as __nv_fadd_rn promises.
static Value sum(ExternCall c) {
  return exactlyRoundedSum({c.b, c.in[0]}, {c.b, c.in[1]}).value();
}
static Value difference(ExternCall c) {
  return exactlyRoundedSum({c.b, c.in[0]}, -Number(c.b, c.in[1])).value();
}
static Value product(ExternCall c) {
  return exactlyRoundedProduct({c.b, c.in[0]}, {c.b, c.in[1]}).value();
}

/// 1 / sqrt(x) of f32, rounded once: in f64 and back.
static Value reciprocalRoot(ExternCall c) {
  Value wide = arith::ExtFOp::create(c.b, c.b.getF64Type(), c.in[0]);
  Number root = 1.0 / sqrt(Number(c.b, wide));
  return arith::TruncFOp::create(c.b, c.result, root.value());
}

static void addQuestions(ExternTable &functions) {
  functions["finite"] = {"iF", question<math::IsFiniteOp>};
  functions["isfinite"] = {"iF", question<math::IsFiniteOp>};
  functions["isfinited"] = {"id", question<math::IsFiniteOp>};
  functions["isinf"] = {"iF", isInfinite};
  functions["isinfd"] = {"id", isInfinite};
  functions["isnan"] = {"iF", question<math::IsNaNOp>};
  functions["isnand"] = {"id", question<math::IsNaNOp>};
  functions["signbit"] = {"iF", signBit};
  functions["signbitd"] = {"id", signBit};
}

/// The hardware's estimates on a GPU; here they are the functions themselves.
static void addFast(ExternTable &functions) {
  functions["fast_cos"] = {"ff", externUnary<math::CosOp>};
  functions["fast_exp"] = {"ff", externUnary<math::ExpOp>};
  functions["fast_exp10"] = {"ff", exp10};
  functions["fast_fdivide"] = {"fff", externBinary<arith::DivFOp>};
  functions["fast_fdividef"] = {"fff", externBinary<arith::DivFOp>};
  functions["fast_log"] = {"ff", externUnary<math::LogOp>};
  functions["fast_log10"] = {"ff", externUnary<math::Log10Op>};
  functions["fast_log2"] = {"ff", externUnary<math::Log2Op>};
  functions["fast_pow"] = {"fff", externBinary<math::PowFOp>};
  functions["fast_sin"] = {"ff", externUnary<math::SinOp>};
  functions["fast_tan"] = {"ff", externUnary<math::TanOp>};
  functions["fast_tanh"] = {"ff", externUnary<math::TanhOp>};
}

/// Rounded to the nearest: what other operations do anyway.
static void addNearest(ExternTable &functions) {
  functions["fadd_rn"] = {"fff", sum};
  functions["dadd_rn"] = {"ddd", sum};
  functions["fsub_rn"] = {"fff", difference};
  functions["dsub_rn"] = {"ddd", difference};
  functions["fmul_rn"] = {"fff", product};
  functions["dmul_rn"] = {"ddd", product};
  functions["fdiv_rn"] = {"fff", externBinary<arith::DivFOp>};
  functions["ddiv_rn"] = {"ddd", externBinary<arith::DivFOp>};
  functions["fsqrt_rn"] = {"ff", externUnary<math::SqrtOp>};
  functions["dsqrt_rn"] = {"dd", externUnary<math::SqrtOp>};
  functions["frcp_rn"] = {"ff", reciprocal};
  functions["drcp_rn"] = {"dd", reciprocal};
  functions["fmaf_rn"] = {"ffff", fusedMultiplyAdd};
  functions["fma_rn"] = {"dddd", fusedMultiplyAdd};
  functions["frsqrt_rn"] = {"ff", reciprocalRoot};
}

void ttl::addFloatExterns(ExternTable &functions) {
  functions["acos"] = {"FF", externUnary<math::AcosOp>};
  functions["acosh"] = {"FF", externUnary<math::AcoshOp>};
  functions["asin"] = {"FF", externUnary<math::AsinOp>};
  functions["asinh"] = {"FF", externUnary<math::AsinhOp>};
  functions["atan"] = {"FF", externUnary<math::AtanOp>};
  functions["atan2"] = {"FFF", externBinary<math::Atan2Op>};
  functions["atanh"] = {"FF", externUnary<math::AtanhOp>};
  functions["cbrt"] = {"FF", externUnary<math::CbrtOp>};
  functions["ceil"] = {"FF", externUnary<math::CeilOp>};
  functions["copysign"] = {"FFF", externBinary<math::CopySignOp>};
  functions["cos"] = {"FF", externUnary<math::CosOp>};
  functions["cosh"] = {"FF", externUnary<math::CoshOp>};
  functions["erf"] = {"FF", externUnary<math::ErfOp>};
  functions["erfc"] = {"FF", externUnary<math::ErfcOp>};
  functions["exp"] = {"FF", externUnary<math::ExpOp>};
  functions["exp10"] = {"FF", exp10};
  functions["exp2"] = {"FF", externUnary<math::Exp2Op>};
  functions["expm1"] = {"FF", externUnary<math::ExpM1Op>};
  functions["fabs"] = {"FF", externUnary<math::AbsFOp>};
  functions["fdim"] = {"FFF", positiveDifference};
  functions["floor"] = {"FF", externUnary<math::FloorOp>};
  functions["fma"] = {"FFFF", fusedMultiplyAdd};
  functions["fmax"] = {"FFF", externBinary<arith::MaxNumFOp>};
  functions["fmin"] = {"FFF", externBinary<arith::MinNumFOp>};
  functions["fmod"] = {"FFF", externBinary<arith::RemFOp>};
  functions["log"] = {"FF", externUnary<math::LogOp>};
  functions["log10"] = {"FF", externUnary<math::Log10Op>};
  functions["log1p"] = {"FF", externUnary<math::Log1pOp>};
  functions["log2"] = {"FF", externUnary<math::Log2Op>};
  functions["nearbyint"] = {"FF", externUnary<math::RoundEvenOp>};
  functions["pow"] = {"FFF", externBinary<math::PowFOp>};
  functions["powi"] = {"FFi", powi};
  functions["rint"] = {"FF", externUnary<math::RoundEvenOp>};
  functions["round"] = {"FF", externUnary<math::RoundOp>};
  functions["rsqrt"] = {"FF", externUnary<math::RsqrtOp>};
  functions["saturate"] = {"FF", saturate};
  functions["sin"] = {"FF", externUnary<math::SinOp>};
  functions["sinh"] = {"FF", externUnary<math::SinhOp>};
  functions["sqrt"] = {"FF", externUnary<math::SqrtOp>};
  functions["tan"] = {"FF", externUnary<math::TanOp>};
  functions["tanh"] = {"FF", externUnary<math::TanhOp>};
  functions["trunc"] = {"FF", externUnary<math::TruncOp>};
  addQuestions(functions);
  addFast(functions);
  addNearest(functions);
}
