//===- FloatCasts.cpp - conversions between float types -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/lower/Patterns.h"

#include "frontend/TTOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

/// True if every value of `from` is a value of `to`.
static bool isExact(FloatType from, FloatType to) {
  const llvm::fltSemantics &source = from.getFloatSemantics();
  const llvm::fltSemantics &target = to.getFloatSemantics();
  return llvm::APFloat::semanticsPrecision(source) <=
             llvm::APFloat::semanticsPrecision(target) &&
         llvm::APFloat::semanticsMaxExponent(source) <=
             llvm::APFloat::semanticsMaxExponent(target) &&
         llvm::APFloat::semanticsMinExponent(source) >=
             llvm::APFloat::semanticsMinExponent(target);
}

/// Triton's conversions to 8 bits saturate: what is too large, infinities too,
/// becomes the largest finite value, and NaN stays NaN.
static Value saturate(OpBuilder &builder, Location loc, Value value,
                      FloatType target) {
  auto type = cast<FloatType>(value.getType());
  auto bound = [&](bool negative) -> Value {
    llvm::APFloat limit =
        llvm::APFloat::getLargest(target.getFloatSemantics(), negative);
    bool losesInfo;
    limit.convert(type.getFloatSemantics(), llvm::APFloat::rmTowardZero,
                  &losesInfo);
    return arith::ConstantOp::create(builder, loc, FloatAttr::get(type, limit));
  };
  value = arith::MaximumFOp::create(builder, loc, value, bound(true));
  return arith::MinimumFOp::create(builder, loc, value, bound(false));
}

static Value convertFloat(OpBuilder &builder, Location loc, Value value,
                          FloatType target, bool towardZero) {
  auto source = cast<FloatType>(value.getType());
  if (source == target)
    return value;
  if (source.getWidth() < target.getWidth())
    return arith::ExtFOp::create(builder, loc, target, value);
  // Types of one width (f16 and bf16, two of 8 bits): f32 holds both exactly,
  // so that there is one rounding.
  if (source.getWidth() == target.getWidth()) {
    value = arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
    source = builder.getF32Type();
  }
  if (target.getWidth() == 8 && !isExact(source, target))
    value = saturate(builder, loc, value, target);
  auto cast = arith::TruncFOp::create(builder, loc, target, value);
  if (towardZero)
    cast.setRoundingmode(arith::RoundingMode::toward_zero);
  return cast;
}

namespace {
struct FpToFpLowering : OpConversionPattern<tt::FpToFpOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::FpToFpOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    bool towardZero = op.getRounding() == tt::RoundingMode::RTZ;
    auto target = cast<FloatType>(getElementTypeOrSelf(op.getType()));
    rewriter.replaceOp(
        op, mapElements(rewriter, op.getLoc(), op.getType(), adaptor.getSrc(),
                        [&](OpBuilder &builder, Location loc, ValueRange in) {
                          return convertFloat(builder, loc, in[0], target,
                                              towardZero);
                        }));
    return success();
  }
};
} // namespace

void ttl::populateFloatCastPatterns(Converter converter,
                                    RewritePatternSet &patterns) {
  patterns.add<FpToFpLowering>(converter, patterns.getContext());
}
