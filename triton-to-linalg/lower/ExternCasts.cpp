//===- ExternCasts.cpp - libdevice's casts --------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/lower/ExternFunctions.h"
#include "triton-to-linalg/lower/Number.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

template <typename Op> static Value castToResult(ExternCall c) {
  return Op::create(c.b, c.result, c.in[0]);
}

/// Rounds to an integer; as on a GPU what is too large becomes the nearest
/// integer there is, and NaN becomes 0.
template <typename Round, bool isSigned> static Value toInteger(ExternCall c) {
  auto type = cast<FloatType>(c.in[0].getType());
  unsigned width = c.result.getIntOrFloatBitWidth();
  Value rounded = Round::create(c.b, c.in[0]);
  Value converted =
      isSigned ? Value(arith::FPToSIOp::create(c.b, c.result, rounded))
               : Value(arith::FPToUIOp::create(c.b, c.result, rounded));
  APInt least = isSigned ? APInt::getSignedMinValue(width) : APInt(width, 0);
  APInt most =
      isSigned ? APInt::getSignedMaxValue(width) : APInt::getAllOnes(width);
  // One more than the largest is a power of two, and so a float.
  APFloat high =
      scalbn(APFloat(type.getFloatSemantics(), 1), width - (isSigned ? 1 : 0),
             APFloat::rmNearestTiesToEven);
  APFloat low = isSigned ? -high : APFloat::getZero(type.getFloatSemantics());
  auto choose = [&](arith::CmpFPredicate predicate, Value right,
                    const APInt &number) {
    Value is = arith::CmpFOp::create(c.b, predicate, rounded, right);
    Value value =
        arith::ConstantOp::create(c.b, c.b.getIntegerAttr(c.result, number));
    converted = arith::SelectOp::create(c.b, is, value, converted);
  };
  auto bound = [&](const APFloat &value) -> Value {
    return arith::ConstantOp::create(c.b, FloatAttr::get(type, value));
  };
  choose(arith::CmpFPredicate::OGE, bound(high), most);
  choose(arith::CmpFPredicate::OLT, bound(low), least);
  choose(arith::CmpFPredicate::UNO, rounded, APInt(width, 0));
  return converted;
}

/// The lower or upper 32 bits of an f64.
template <int64_t shift> static Value halfOfDouble(ExternCall c) {
  Type i64 = c.b.getI64Type();
  Value bits = arith::BitcastOp::create(c.b, i64, c.in[0]);
  bits = arith::ShRUIOp::create(c.b, bits,
                                arith::ConstantIntOp::create(c.b, i64, shift));
  return arith::TruncIOp::create(c.b, c.result, bits);
}

static Value doubleOfHalves(ExternCall c) {
  Type i64 = c.b.getI64Type();
  Value high = arith::ExtUIOp::create(c.b, i64, c.in[0]);
  Value low = arith::ExtUIOp::create(c.b, i64, c.in[1]);
  high = arith::ShLIOp::create(c.b, high,
                               arith::ConstantIntOp::create(c.b, i64, 32));
  Value bits = arith::OrIOp::create(c.b, high, low);
  return arith::BitcastOp::create(c.b, c.result, bits);
}

/// An f16 is an i16 to libdevice.
static Value toHalf(ExternCall c) {
  Value half = arith::TruncFOp::create(c.b, c.b.getF16Type(), c.in[0]);
  return arith::BitcastOp::create(c.b, c.result, half);
}
static Value fromHalf(ExternCall c) {
  Value half = arith::BitcastOp::create(c.b, c.b.getF16Type(), c.in[0]);
  return arith::ExtFOp::create(c.b, c.result, half);
}

/// The upper half of 1/x, the lower one zeros: what the GPU's estimate gives.
static Value reciprocalHighHalf(ExternCall c) {
  Type i64 = c.b.getI64Type();
  Number inverse = 1.0 / Number(c.b, c.in[0]);
  Value bits = arith::BitcastOp::create(c.b, i64, inverse.value());
  Value mask = arith::ConstantIntOp::create(
      c.b, i64, static_cast<int64_t>(0xffffffff00000000));
  bits = arith::AndIOp::create(c.b, bits, mask);
  return arith::BitcastOp::create(c.b, c.result, bits);
}

/// float2int_rz and its like, for one integer type.
template <bool isSigned>
static void addToInteger(ExternTable &functions, StringRef integer,
                         const char *ofFloat, const char *ofDouble) {
  for (auto [source, types] :
       {std::pair("float2", ofFloat), {"double2", ofDouble}}) {
    std::string name = (source + integer).str();
    functions[name + "_rn"] = {types, toInteger<math::RoundEvenOp, isSigned>};
    functions[name + "_rz"] = {types, toInteger<math::TruncOp, isSigned>};
    functions[name + "_rd"] = {types, toInteger<math::FloorOp, isSigned>};
    functions[name + "_ru"] = {types, toInteger<math::CeilOp, isSigned>};
  }
}

void ttl::addCastExterns(ExternTable &functions) {
  addToInteger<true>(functions, "int", "if", "id");
  addToInteger<false>(functions, "uint", "if", "id");
  addToInteger<true>(functions, "ll", "lf", "ld");
  addToInteger<false>(functions, "ull", "lf", "ld");
  functions["llrint"] = {"lF", toInteger<math::RoundEvenOp, true>};
  functions["llround"] = {"lF", toInteger<math::RoundOp, true>};
  functions["float_as_int"] = {"if", castToResult<arith::BitcastOp>};
  functions["float_as_uint"] = {"if", castToResult<arith::BitcastOp>};
  functions["int_as_float"] = {"fi", castToResult<arith::BitcastOp>};
  functions["uint_as_float"] = {"fi", castToResult<arith::BitcastOp>};
  functions["double_as_longlong"] = {"ld", castToResult<arith::BitcastOp>};
  functions["longlong_as_double"] = {"dl", castToResult<arith::BitcastOp>};
  functions["double2float_rn"] = {"fd", castToResult<arith::TruncFOp>};
  functions["int2float_rn"] = {"fi", castToResult<arith::SIToFPOp>};
  functions["int2double_rn"] = {"di", castToResult<arith::SIToFPOp>};
  functions["ll2float_rn"] = {"fl", castToResult<arith::SIToFPOp>};
  functions["ll2double_rn"] = {"dl", castToResult<arith::SIToFPOp>};
  functions["uint2float_rn"] = {"fi", castToResult<arith::UIToFPOp>};
  functions["uint2double_rn"] = {"di", castToResult<arith::UIToFPOp>};
  functions["ull2float_rn"] = {"fl", castToResult<arith::UIToFPOp>};
  functions["ull2double_rn"] = {"dl", castToResult<arith::UIToFPOp>};
  functions["double2loint"] = {"id", halfOfDouble<0>};
  functions["double2hiint"] = {"id", halfOfDouble<32>};
  functions["hiloint2double"] = {"dii", doubleOfHalves};
  functions["float2half_rn"] = {"sf", toHalf};
  functions["half2float"] = {"fs", fromHalf};
  functions["rcp64h"] = {"dd", reciprocalHighHalf};
}
