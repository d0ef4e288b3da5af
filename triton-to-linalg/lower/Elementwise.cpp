//===- Elementwise.cpp - arithmetic on elements ---------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/lower/Patterns.h"

#include "frontend/TTOps.h"
#include "triton-to-linalg/lower/BridgeTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

SmallVector<Value> ttl::mapElements(OpBuilder &builder, Location loc,
                                    TypeRange resultTypes, ValueRange inputs,
                                    ScalarBody body) {
  auto shaped = dyn_cast<RankedTensorType>(resultTypes.front());
  if (!shaped)
    return body(builder, loc, inputs);

  // A constant that is the same everywhere needs no operand.
  SmallVector<Value> operands, constants(inputs.size());
  for (auto [i, input] : llvm::enumerate(inputs)) {
    DenseElementsAttr splat;
    if (matchPattern(input, m_Constant(&splat)) && splat.isSplat())
      constants[i] = arith::ConstantOp::create(
          builder, loc, splat.getSplatValue<TypedAttr>());
    else
      operands.push_back(input);
  }
  SmallVector<Value> inits;
  for (Type type : resultTypes)
    inits.push_back(
        tensor::EmptyOp::create(builder, loc, shaped.getShape(),
                                cast<RankedTensorType>(type).getElementType()));

  SmallVector<AffineMap> maps(operands.size() + inits.size(),
                              builder.getMultiDimIdentityMap(shaped.getRank()));
  SmallVector<utils::IteratorType> iterators(shaped.getRank(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, resultTypes, operands, inits, maps, iterators,
      [&](OpBuilder &nested, Location nestedLoc, ValueRange arguments) {
        SmallVector<Value> scalars;
        size_t next = 0;
        for (Value constant : constants)
          scalars.push_back(constant ? constant : arguments[next++]);
        linalg::YieldOp::create(nested, nestedLoc,
                                body(nested, nestedLoc, scalars));
      });
  return llvm::to_vector_of<Value>(generic.getResults());
}

Value ttl::mapElements(
    OpBuilder &builder, Location loc, Type resultType, ValueRange inputs,
    llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  return mapElements(builder, loc, TypeRange(resultType), inputs,
                     [&](OpBuilder &b, Location l, ValueRange scalars) {
                       return SmallVector<Value>{body(b, l, scalars)};
                     })
      .front();
}

/// The upper half of an unsigned product of 64 bits, from products of halves.
static Value mulHigh64(OpBuilder &b, Location loc, Value x, Value y) {
  Type i64 = b.getI64Type();
  Value half = arith::ConstantIntOp::create(b, loc, i64, 32);
  Value mask = arith::ConstantIntOp::create(b, loc, i64, 0xffffffff);
  auto low = [&](Value v) -> Value {
    return arith::AndIOp::create(b, loc, v, mask);
  };
  auto high = [&](Value v) -> Value {
    return arith::ShRUIOp::create(b, loc, v, half);
  };
  auto times = [&](Value v, Value w) -> Value {
    return arith::MulIOp::create(b, loc, v, w);
  };
  auto plus = [&](Value v, Value w) -> Value {
    return arith::AddIOp::create(b, loc, v, w);
  };
  // Neither sum is too large: (2^32-1)^2 + 2^32-1 is below 2^64.
  Value first = plus(times(high(x), low(y)), high(times(low(x), low(y))));
  Value second = plus(times(low(x), high(y)), low(first));
  return plus(times(high(x), high(y)), plus(high(first), high(second)));
}

Value ttl::mulHighUnsigned(OpBuilder &b, Location loc, Value x, Value y) {
  Type type = x.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 64)
    return mulHigh64(b, loc, x, y);
  Type wide = b.getIntegerType(2 * width);
  Value product =
      arith::MulIOp::create(b, loc, arith::ExtUIOp::create(b, loc, wide, x),
                            arith::ExtUIOp::create(b, loc, wide, y));
  Value distance = arith::ConstantIntOp::create(b, loc, wide, width);
  product = arith::ShRUIOp::create(b, loc, product, distance);
  return arith::TruncIOp::create(b, loc, type, product);
}

namespace {

/// Triton's `/` of f32 is right to 2 ulp, which leaves its reciprocal to a
/// backend; tl.div_rn is exact, and so is division of every other type.
Operation *allowReciprocal(Operation *op) {
  auto divide = dyn_cast<arith::DivFOp>(op);
  if (divide && divide.getType().isF32())
    divide.setFastmath(divide.getFastmath() | arith::FastMathFlags::arcp);
  return op;
}

/// arith and math on tensors: the same op on scalars. Comparisons and selects
/// stay what they are: maximum and minimum would treat NaN differently.
struct TensorOpLowering : ConversionPattern {
  TensorOpLowering(Converter converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1,
                          context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
        !OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() == 0)
      return rewriter.notifyMatchFailure(op, "not elementwise arithmetic");
    SmallVector<Type> types;
    if (failed(typeConverter->convertTypes(op->getResultTypes(), types)))
      return rewriter.notifyMatchFailure(op, "type has no bridge type");
    auto result = dyn_cast<RankedTensorType>(types.front());
    if (!result)
      return rewriter.notifyMatchFailure(op, "not on tensors");

    // The condition of a select may be one scalar for all elements.
    SmallVector<Value> inputs(operands);
    for (Value &input : inputs)
      if (!isa<RankedTensorType>(input.getType()))
        input = tensor::SplatOp::create(rewriter, op->getLoc(), input,
                                        result.getShape());
    SmallVector<Type> scalarTypes;
    for (Type type : types)
      scalarTypes.push_back(getElementTypeOrSelf(type));
    rewriter.replaceOp(
        op,
        mapElements(rewriter, op->getLoc(), TypeRange(types), inputs,
                    [&](OpBuilder &builder, Location loc, ValueRange in) {
                      OperationState state(loc, op->getName());
                      state.addOperands(in);
                      state.addTypes(scalarTypes);
                      state.propertiesAttr = op->getPropertiesAsAttribute();
                      return llvm::to_vector_of<Value>(
                          allowReciprocal(builder.create(state))->getResults());
                    }));
    return success();
  }
};

/// Ops of tt with a scalar meaning in arith and math.
template <typename SourceOp>
struct ScalarLowering : OpConversionPattern<SourceOp> {
  using Body = Value (*)(OpBuilder &, Location, SourceOp, ValueRange);
  ScalarLowering(Converter converter, MLIRContext *context, Body body)
      : OpConversionPattern<SourceOp>(converter, context), body(body) {}

  LogicalResult
  matchAndRewrite(SourceOp op, typename SourceOp::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = this->typeConverter->convertType(op.getType());
    rewriter.replaceOp(
        op, mapElements(rewriter, op.getLoc(), type, adaptor.getOperands(),
                        [&](OpBuilder &builder, Location loc, ValueRange in) {
                          return body(builder, loc, op, in);
                        }));
    return success();
  }

private:
  Body body;
};

} // namespace

/// With `none` a NaN in x gives min, as maxnum does; with `all` it stays NaN.
static Value clamp(OpBuilder &b, Location loc, tt::ClampFOp op, ValueRange in) {
  if (op.getPropagateNan() == tt::PropagateNan::ALL)
    return arith::MinimumFOp::create(
        b, loc, arith::MaximumFOp::create(b, loc, in[0], in[1]), in[2]);
  return arith::MinNumFOp::create(
      b, loc, arith::MaxNumFOp::create(b, loc, in[0], in[1]), in[2]);
}

void ttl::populateElementwisePatterns(Converter converter,
                                      RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<TensorOpLowering>(converter, context);
  patterns.add<ScalarLowering<tt::ClampFOp>>(converter, context, clamp);
  patterns.add<ScalarLowering<tt::PreciseSqrtOp>>(
      converter, context,
      +[](OpBuilder &b, Location loc, tt::PreciseSqrtOp, ValueRange in)
          -> Value { return math::SqrtOp::create(b, loc, in[0]); });
  patterns.add<ScalarLowering<tt::PreciseDivFOp>>(
      converter, context,
      +[](OpBuilder &b, Location loc, tt::PreciseDivFOp, ValueRange in)
          -> Value { return arith::DivFOp::create(b, loc, in[0], in[1]); });
  patterns.add<ScalarLowering<tt::ApproxDivFOp>>(
      converter, context,
      +[](OpBuilder &b, Location loc, tt::ApproxDivFOp,
          ValueRange in) -> Value {
        return allowReciprocal(arith::DivFOp::create(b, loc, in[0], in[1]))
            ->getResult(0);
      });
  patterns.add<ScalarLowering<tt::MulhiUIOp>>(
      converter, context,
      +[](OpBuilder &b, Location loc, tt::MulhiUIOp, ValueRange in) -> Value {
        return mulHighUnsigned(b, loc, in[0], in[1]);
      });
}
