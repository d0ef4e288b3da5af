//===- Extern.cpp - functions of libdevice --------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"
#include "triton-to-linalg/lower/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

namespace {

/// Builds the meaning of a function for scalar operands.
using Builder = Value (*)(OpBuilder &, Location, ValueRange);

struct Function {
  size_t operands;
  Builder build;
};

template <typename Op> Value unary(OpBuilder &b, Location loc, ValueRange in) {
  return Op::create(b, loc, in[0]);
}
template <typename Op> Value binary(OpBuilder &b, Location loc, ValueRange in) {
  return Op::create(b, loc, in[0], in[1]);
}

/// A question about a float: 1 or 0 as an i32.
template <typename Op>
Value question(OpBuilder &b, Location loc, ValueRange in) {
  Value answer = Op::create(b, loc, in[0]);
  return arith::ExtUIOp::create(b, loc, b.getI32Type(), answer);
}

Value constantLike(OpBuilder &b, Location loc, Value like, double number) {
  return arith::ConstantOp::create(b, loc,
                                   b.getFloatAttr(like.getType(), number));
}

Value reciprocal(OpBuilder &b, Location loc, ValueRange in) {
  return arith::DivFOp::create(b, loc, constantLike(b, loc, in[0], 1), in[0]);
}

/// 10^x; pow is exact where exp2(x * log2(10)) loses digits.
Value exp10(OpBuilder &b, Location loc, ValueRange in) {
  return math::PowFOp::create(b, loc, constantLike(b, loc, in[0], 10), in[0]);
}

/// Limits to [0, 1], NaN gives 0.
Value saturate(OpBuilder &b, Location loc, ValueRange in) {
  Value low =
      arith::MaxNumFOp::create(b, loc, in[0], constantLike(b, loc, in[0], 0));
  return arith::MinNumFOp::create(b, loc, low, constantLike(b, loc, in[0], 1));
}

Value fma(OpBuilder &b, Location loc, ValueRange in) {
  return math::FmaOp::create(b, loc, in[0], in[1], in[2]);
}

Value powi(OpBuilder &b, Location loc, ValueRange in) {
  return math::FPowIOp::create(b, loc, in[0], in[1]);
}

/// The sign bit as 1 or 0.
Value signBit(OpBuilder &b, Location loc, ValueRange in) {
  unsigned width = in[0].getType().getIntOrFloatBitWidth();
  Type type = b.getIntegerType(width);
  Value bits = arith::BitcastOp::create(b, loc, type, in[0]);
  Value zero = arith::ConstantIntOp::create(b, loc, type, 0);
  Value negative =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, bits, zero);
  return arith::ExtUIOp::create(b, loc, b.getI32Type(), negative);
}

/// The number of bits set, or of zeros at an end: always an i32.
template <typename Op> Value count(OpBuilder &b, Location loc, ValueRange in) {
  Value bits = Op::create(b, loc, in[0]);
  if (bits.getType().isInteger(64))
    return arith::TruncIOp::create(b, loc, b.getI32Type(), bits);
  return bits;
}

/// The position of the lowest bit set, counted from 1; 0 if there is none.
Value findFirstSet(OpBuilder &b, Location loc, ValueRange in) {
  Type type = in[0].getType();
  Value zero = arith::ConstantIntOp::create(b, loc, type, 0);
  Value one = arith::ConstantIntOp::create(b, loc, type, 1);
  Value place = arith::AddIOp::create(
      b, loc, math::CountTrailingZerosOp::create(b, loc, in[0]), one);
  Value none =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, in[0], zero);
  place = arith::SelectOp::create(b, loc, none, zero, place);
  if (type.isInteger(64))
    return arith::TruncIOp::create(b, loc, b.getI32Type(), place);
  return place;
}

/// The difference where it is positive, else 0; NaN stays.
Value positiveDifference(OpBuilder &b, Location loc, ValueRange in) {
  Value difference = arith::SubFOp::create(b, loc, in[0], in[1]);
  Value small =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLE, in[0], in[1]);
  return arith::SelectOp::create(b, loc, small, constantLike(b, loc, in[0], 0),
                                 difference);
}

Value reciprocalRoot(OpBuilder &b, Location loc, ValueRange in) {
  Value root = math::SqrtOp::create(b, loc, in[0]);
  return reciprocal(b, loc, root);
}

/// A cast to a type of `width` bits: floats, or integers.
template <typename Op, bool isFloat, unsigned width>
Value castTo(OpBuilder &b, Location loc, ValueRange in) {
  Type type = b.getIntegerType(width);
  if (isFloat)
    type = width == 64 ? Type(b.getF64Type()) : b.getF32Type();
  return Op::create(b, loc, type, in[0]);
}

/// Rounds to an integer; as on a GPU what is too large becomes the nearest
/// integer there is, and NaN becomes 0.
template <typename Round, unsigned width, bool isSigned>
Value toInteger(OpBuilder &b, Location loc, ValueRange in) {
  auto type = cast<FloatType>(in[0].getType());
  Type integer = b.getIntegerType(width);
  Value rounded = Round::create(b, loc, in[0]);
  Value converted =
      isSigned ? Value(arith::FPToSIOp::create(b, loc, integer, rounded))
               : Value(arith::FPToUIOp::create(b, loc, integer, rounded));
  llvm::APInt least = isSigned ? llvm::APInt::getSignedMinValue(width)
                               : llvm::APInt::getZero(width);
  llvm::APInt most = isSigned ? llvm::APInt::getSignedMaxValue(width)
                              : llvm::APInt::getAllOnes(width);
  // One more than the largest is a power of two, and so a float.
  llvm::APFloat high = llvm::scalbn(llvm::APFloat(type.getFloatSemantics(), 1),
                                    width - (isSigned ? 1 : 0),
                                    llvm::APFloat::rmNearestTiesToEven);
  llvm::APFloat low =
      isSigned ? -high : llvm::APFloat::getZero(type.getFloatSemantics());
  auto choose = [&](arith::CmpFPredicate predicate, Value right,
                    const llvm::APInt &number) {
    Value is = arith::CmpFOp::create(b, loc, predicate, rounded, right);
    Value value =
        arith::ConstantOp::create(b, loc, b.getIntegerAttr(integer, number));
    converted = arith::SelectOp::create(b, loc, is, value, converted);
  };
  auto bound = [&](const llvm::APFloat &value) -> Value {
    return arith::ConstantOp::create(b, loc, FloatAttr::get(type, value));
  };
  choose(arith::CmpFPredicate::OGE, bound(high), most);
  choose(arith::CmpFPredicate::OLT, bound(low), least);
  choose(arith::CmpFPredicate::UNO, rounded, llvm::APInt::getZero(width));
  return converted;
}

Value mulHigh(OpBuilder &b, Location loc, ValueRange in) {
  return mulHighUnsigned(b, loc, in[0], in[1]);
}

/// The upper half of a signed product: that of the unsigned one, less the other
/// factor for each that is negative.
Value mulHighSigned(OpBuilder &b, Location loc, ValueRange in) {
  Type type = in[0].getType();
  Value shift = arith::ConstantIntOp::create(b, loc, type,
                                             type.getIntOrFloatBitWidth() - 1);
  Value high = mulHighUnsigned(b, loc, in[0], in[1]);
  for (auto [factor, other] : {std::pair(in[0], in[1]), {in[1], in[0]}}) {
    Value sign = arith::ShRSIOp::create(b, loc, factor, shift);
    Value less = arith::AndIOp::create(b, loc, sign, other);
    high = arith::SubIOp::create(b, loc, high, less);
  }
  return high;
}

/// Names without __nv_ and without the f of the version for f32.
const llvm::StringMap<Function> &floatFunctions() {
  static const llvm::StringMap<Function> functions = {
      {"acos", {1, unary<math::AcosOp>}},
      {"acosh", {1, unary<math::AcoshOp>}},
      {"asin", {1, unary<math::AsinOp>}},
      {"asinh", {1, unary<math::AsinhOp>}},
      {"atan", {1, unary<math::AtanOp>}},
      {"atan2", {2, binary<math::Atan2Op>}},
      {"atanh", {1, unary<math::AtanhOp>}},
      {"cbrt", {1, unary<math::CbrtOp>}},
      {"ceil", {1, unary<math::CeilOp>}},
      {"copysign", {2, binary<math::CopySignOp>}},
      {"cos", {1, unary<math::CosOp>}},
      {"cosh", {1, unary<math::CoshOp>}},
      {"erf", {1, unary<math::ErfOp>}},
      {"erfc", {1, unary<math::ErfcOp>}},
      {"exp", {1, unary<math::ExpOp>}},
      {"exp10", {1, exp10}},
      {"exp2", {1, unary<math::Exp2Op>}},
      {"expm1", {1, unary<math::ExpM1Op>}},
      {"fabs", {1, unary<math::AbsFOp>}},
      {"fdim", {2, positiveDifference}},
      {"fast_cos", {1, unary<math::CosOp>}},
      {"fast_exp", {1, unary<math::ExpOp>}},
      {"fast_exp10", {1, exp10}},
      {"fast_fdivide", {2, binary<arith::DivFOp>}},
      {"fast_log", {1, unary<math::LogOp>}},
      {"fast_log10", {1, unary<math::Log10Op>}},
      {"fast_log2", {1, unary<math::Log2Op>}},
      {"fast_pow", {2, binary<math::PowFOp>}},
      {"fast_sin", {1, unary<math::SinOp>}},
      {"fast_tan", {1, unary<math::TanOp>}},
      {"fast_tanh", {1, unary<math::TanhOp>}},
      {"finite", {1, question<math::IsFiniteOp>}},
      {"floor", {1, unary<math::FloorOp>}},
      {"fma", {3, fma}},
      {"fmax", {2, binary<arith::MaxNumFOp>}},
      {"fmin", {2, binary<arith::MinNumFOp>}},
      {"fmod", {2, binary<arith::RemFOp>}},
      {"isfinited", {1, question<math::IsFiniteOp>}},
      {"isinf", {1, question<math::IsInfOp>}},
      {"isinfd", {1, question<math::IsInfOp>}},
      {"isnan", {1, question<math::IsNaNOp>}},
      {"isnand", {1, question<math::IsNaNOp>}},
      {"log", {1, unary<math::LogOp>}},
      {"log10", {1, unary<math::Log10Op>}},
      {"log1p", {1, unary<math::Log1pOp>}},
      {"log2", {1, unary<math::Log2Op>}},
      {"nearbyint", {1, unary<math::RoundEvenOp>}},
      {"pow", {2, binary<math::PowFOp>}},
      {"powi", {2, powi}},
      {"rcbrt",
       {1,
        [](OpBuilder &b, Location loc, ValueRange in) -> Value {
          Value root = math::CbrtOp::create(b, loc, in[0]);
          return reciprocal(b, loc, root);
        }}},
      {"rint", {1, unary<math::RoundEvenOp>}},
      {"round", {1, unary<math::RoundOp>}},
      {"rsqrt", {1, unary<math::RsqrtOp>}},
      {"saturate", {1, saturate}},
      {"signbit", {1, signBit}},
      {"signbitd", {1, signBit}},
      {"sin", {1, unary<math::SinOp>}},
      {"sinh", {1, unary<math::SinhOp>}},
      {"sqrt", {1, unary<math::SqrtOp>}},
      {"tan", {1, unary<math::TanOp>}},
      {"tanh", {1, unary<math::TanhOp>}},
      {"trunc", {1, unary<math::TruncOp>}},
  };
  return functions;
}

/// float2int_rz and its like, for one integer type.
template <unsigned width, bool isSigned>
void addIntegerCasts(llvm::StringMap<Function> &functions, StringRef integer) {
  for (StringRef source : {"float2", "double2"}) {
    std::string name = (source + integer).str();
    functions[name + "_rn"] = {1,
                               toInteger<math::RoundEvenOp, width, isSigned>};
    functions[name + "_rz"] = {1, toInteger<math::TruncOp, width, isSigned>};
    functions[name + "_rd"] = {1, toInteger<math::FloorOp, width, isSigned>};
    functions[name + "_ru"] = {1, toInteger<math::CeilOp, width, isSigned>};
  }
}

llvm::StringMap<Function> makeOtherFunctions() {
  llvm::StringMap<Function> functions = {
      {"abs", {1, unary<math::AbsIOp>}},
      {"llabs", {1, unary<math::AbsIOp>}},
      {"min", {2, binary<arith::MinSIOp>}},
      {"llmin", {2, binary<arith::MinSIOp>}},
      {"umin", {2, binary<arith::MinUIOp>}},
      {"ullmin", {2, binary<arith::MinUIOp>}},
      {"max", {2, binary<arith::MaxSIOp>}},
      {"llmax", {2, binary<arith::MaxSIOp>}},
      {"umax", {2, binary<arith::MaxUIOp>}},
      {"ullmax", {2, binary<arith::MaxUIOp>}},
      {"clz", {1, count<math::CountLeadingZerosOp>}},
      {"clzll", {1, count<math::CountLeadingZerosOp>}},
      {"popc", {1, count<math::CtPopOp>}},
      {"popcll", {1, count<math::CtPopOp>}},
      {"mulhi", {2, mulHighSigned}},
      {"mul64hi", {2, mulHighSigned}},
      {"umulhi", {2, mulHigh}},
      {"umul64hi", {2, mulHigh}},
      {"fadd_rn", {2, binary<arith::AddFOp>}},
      {"dadd_rn", {2, binary<arith::AddFOp>}},
      {"fmul_rn", {2, binary<arith::MulFOp>}},
      {"dmul_rn", {2, binary<arith::MulFOp>}},
      {"fdiv_rn", {2, binary<arith::DivFOp>}},
      {"ddiv_rn", {2, binary<arith::DivFOp>}},
      {"fsqrt_rn", {1, unary<math::SqrtOp>}},
      {"dsqrt_rn", {1, unary<math::SqrtOp>}},
      {"frcp_rn", {1, reciprocal}},
      {"drcp_rn", {1, reciprocal}},
      {"fmaf_rn", {3, fma}},
      {"fma_rn", {3, fma}},
      {"ffs", {1, findFirstSet}},
      {"ffsll", {1, findFirstSet}},
      {"fsub_rn", {2, binary<arith::SubFOp>}},
      {"dsub_rn", {2, binary<arith::SubFOp>}},
      {"frsqrt_rn", {1, reciprocalRoot}},
      {"float_as_int", {1, castTo<arith::BitcastOp, false, 32>}},
      {"float_as_uint", {1, castTo<arith::BitcastOp, false, 32>}},
      {"int_as_float", {1, castTo<arith::BitcastOp, true, 32>}},
      {"uint_as_float", {1, castTo<arith::BitcastOp, true, 32>}},
      {"double_as_longlong", {1, castTo<arith::BitcastOp, false, 64>}},
      {"longlong_as_double", {1, castTo<arith::BitcastOp, true, 64>}},
      {"double2float_rn", {1, castTo<arith::TruncFOp, true, 32>}},
      {"int2float_rn", {1, castTo<arith::SIToFPOp, true, 32>}},
      {"int2double_rn", {1, castTo<arith::SIToFPOp, true, 64>}},
      {"ll2float_rn", {1, castTo<arith::SIToFPOp, true, 32>}},
      {"ll2double_rn", {1, castTo<arith::SIToFPOp, true, 64>}},
      {"uint2float_rn", {1, castTo<arith::UIToFPOp, true, 32>}},
      {"uint2double_rn", {1, castTo<arith::UIToFPOp, true, 64>}},
      {"ull2float_rn", {1, castTo<arith::UIToFPOp, true, 32>}},
      {"ull2double_rn", {1, castTo<arith::UIToFPOp, true, 64>}},
  };
  addIntegerCasts<32, true>(functions, "int");
  addIntegerCasts<32, false>(functions, "uint");
  addIntegerCasts<64, true>(functions, "ll");
  addIntegerCasts<64, false>(functions, "ull");
  return functions;
}

/// Names without __nv_, whole: those of integers, of casts, and of one way to
/// round.
const llvm::StringMap<Function> &otherFunctions() {
  static const llvm::StringMap<Function> functions = makeOtherFunctions();
  return functions;
}

/// The function that libdevice calls `symbol`; null if it is not one of ours.
const Function *findExtern(StringRef symbol, size_t operands) {
  if (!symbol.consume_front("__nv_"))
    return nullptr;
  auto lookUp = [&](const llvm::StringMap<Function> &functions,
                    StringRef name) -> const Function * {
    auto it = functions.find(name);
    bool fits = it != functions.end() && it->second.operands == operands;
    return fits ? &it->second : nullptr;
  };
  if (const Function *function = lookUp(otherFunctions(), symbol))
    return function;
  if (const Function *function = lookUp(floatFunctions(), symbol))
    return function;
  return symbol.consume_back("f") ? lookUp(floatFunctions(), symbol) : nullptr;
}

struct ExternLowering : OpConversionPattern<tt::ExternElementwiseOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::ExternElementwiseOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const Function *function =
        findExtern(op.getSymbol(), adaptor.getOperands().size());
    if (!function)
      return rewriter.notifyMatchFailure(op, "function is not known");
    rewriter.replaceOp(
        op,
        mapElements(rewriter, op.getLoc(), op.getType(), adaptor.getOperands(),
                    [&](OpBuilder &b, Location loc, ValueRange in) {
                      return function->build(b, loc, in);
                    }));
    return success();
  }
};

} // namespace

bool ttl::isKnownExtern(StringRef symbol, size_t operands) {
  return findExtern(symbol, operands) != nullptr;
}

void ttl::populateExternPatterns(Converter converter,
                                 RewritePatternSet &patterns) {
  patterns.add<ExternLowering>(converter, patterns.getContext());
}
