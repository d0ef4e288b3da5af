//===- Reduce.cpp - reductions along one dimension ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/lower/Patterns.h"
#include "triton-to-linalg/lower/WideCombiner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

/// The op of a region that combines its two arguments by one op; null for
/// others.
static Operation *singleCombiner(Block &body) {
  if (body.getNumArguments() != 2 || !llvm::hasNItems(body, 2))
    return nullptr;
  Operation *combiner = &body.front();
  if (combiner->getNumOperands() != 2 || combiner->getNumResults() != 1 ||
      body.back().getOperands() != combiner->getResults())
    return nullptr;
  Value first = combiner->getOperand(0), second = combiner->getOperand(1);
  Value left = body.getArgument(0), right = body.getArgument(1);
  bool isBoth =
      (first == left && second == right) || (first == right && second == left);
  return isBoth ? combiner : nullptr;
}

static TypedAttr integerIdentity(Operation *combiner, IntegerType type) {
  unsigned width = type.getWidth();
  auto value =
      llvm::TypeSwitch<Operation *, std::optional<APInt>>(combiner)
          .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
              [&](auto) { return APInt::getZero(width); })
          .Case<arith::MulIOp>([&](auto) { return APInt(width, 1); })
          // Every bit of it is set: 1 would keep only the lowest.
          .Case<arith::AndIOp, arith::MinUIOp>(
              [&](auto) { return APInt::getAllOnes(width); })
          .Case<arith::MaxSIOp>(
              [&](auto) { return APInt::getSignedMinValue(width); })
          .Case<arith::MinSIOp>(
              [&](auto) { return APInt::getSignedMaxValue(width); })
          .Default([](Operation *) { return std::nullopt; });
  return value ? IntegerAttr::get(type, *value) : TypedAttr();
}

static TypedAttr floatIdentity(Operation *combiner, FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  // Types of 8 bits may lack infinities; nobody reduces them without widening.
  if (type.getWidth() < 16)
    return {};
  auto value =
      llvm::TypeSwitch<Operation *, std::optional<APFloat>>(combiner)
          // -0 and not 0: a sum of nothing but -0 is -0.
          .Case<arith::AddFOp>(
              [&](auto) { return APFloat::getZero(semantics, true); })
          .Case<arith::MulFOp>([&](auto) { return APFloat(semantics, 1); })
          .Case<arith::MaximumFOp>(
              [&](auto) { return APFloat::getInf(semantics, true); })
          .Case<arith::MinimumFOp>(
              [&](auto) { return APFloat::getInf(semantics, false); })
          // These give the operand that is no NaN, so that NaN is their
          // identity: with an infinity a row of NaN would not give NaN.
          .Case<arith::MaxNumFOp, arith::MinNumFOp>(
              [&](auto) { return APFloat::getQNaN(semantics); })
          .Default([](Operation *) { return std::nullopt; });
  return value ? FloatAttr::get(type, *value) : TypedAttr();
}

/// The value that combined with x gives x, if the combiner is known to have
/// one.
static TypedAttr identityOf(Operation *combiner) {
  Type type = combiner->getResult(0).getType();
  if (auto integer = dyn_cast<IntegerType>(type))
    return integerIdentity(combiner, integer);
  if (auto floating = dyn_cast<FloatType>(type))
    return floatIdentity(combiner, floating);
  return {};
}

/// The dimensions of `source` that `axis` of its reshape was made of; none if
/// it was not, or of one.
static SmallVector<int64_t> mergedDimensions(tt::ReshapeOp reshape,
                                             int64_t axis) {
  auto from = cast<RankedTensorType>(reshape.getSrc().getType());
  auto to = cast<RankedTensorType>(reshape.getType());
  auto groups =
      getReassociationIndicesForCollapse(from.getShape(), to.getShape());
  if (!groups || (*groups)[axis].size() < 2)
    return {};
  return llvm::to_vector_of<int64_t>((*groups)[axis]);
}

namespace {

/// What is reduced, and along which dimensions. `tl.sum(x)` of a matrix is the
/// sum of its elements in a row: the row need not be in memory.
struct Reduced {
  SmallVector<Value> sources;
  SmallVector<int64_t> dimensions;

  Reduced(tt::ReduceOp op, ValueRange operands,
          ConversionPatternRewriter &rewriter)
      : sources(operands), dimensions({static_cast<int64_t>(op.getAxis())}) {
    SmallVector<Value> whole;
    SmallVector<int64_t> merged;
    for (Value source : op.getSrcs()) {
      auto reshape = source.getDefiningOp<tt::ReshapeOp>();
      if (!reshape)
        return;
      auto each = mergedDimensions(reshape, op.getAxis());
      if (each.empty() || (!merged.empty() && merged != each) ||
          (!whole.empty() && cast<ShapedType>(whole[0].getType()).getShape() !=
                                 reshape.getSrc().getType().getShape()))
        return;
      Value from = rewriter.getRemappedValue(reshape.getSrc());
      if (!from)
        return;
      merged = each;
      whole.push_back(from);
    }
    sources = whole;
    dimensions = merged;
  }

  /// The shape that is left.
  SmallVector<int64_t> shape() const {
    SmallVector<int64_t> result(
        cast<ShapedType>(sources.front().getType()).getShape());
    for (int64_t d : llvm::reverse(dimensions))
      result.erase(result.begin() + d);
    return result;
  }
};

struct ReduceLowering : OpConversionPattern<tt::ReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tt::ReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Block &body = op.getCombineOp().front();
    Operation *combiner = singleCombiner(body);
    TypedAttr identity = combiner ? identityOf(combiner) : TypedAttr();
    bool isWide = identity && isa<arith::AddFOp, arith::MulFOp>(combiner) &&
                  isNarrowFloat(combiner->getResult(0).getType());
    Reduced reduced(op, adaptor.getSrcs(), rewriter);
    SmallVector<Value> results =
        identity ? reduceFrom(identity, combiner, isWide, op, reduced, rewriter)
                 : reduceElements(op, reduced, rewriter);
    for (auto [i, result] : llvm::enumerate(results)) {
      Type type = op->getResult(i).getType();
      bool isBlock = isa<RankedTensorType>(type);
      // A reduction of all dimensions gives scalars.
      if (!isBlock)
        result = tensor::ExtractOp::create(rewriter, op.getLoc(), result,
                                           ValueRange{});
      if (isWide)
        result = isBlock ? narrowBlocks(rewriter, op.getLoc(), result, type)[0]
                         : arith::TruncFOp::create(rewriter, op.getLoc(), type,
                                                   result)
                               .getResult();
    }
    rewriter.replaceOp(op, results);
    return success();
  }

  static SmallVector<Value> reduceFrom(TypedAttr identity, Operation *combiner,
                                       bool isWide, tt::ReduceOp op,
                                       const Reduced &reduced,
                                       ConversionPatternRewriter &rewriter) {
    Value source = reduced.sources.front();
    if (isWide) {
      source = widenBlocks(rewriter, op.getLoc(), source)[0];
      identity = rewriter.getF32FloatAttr(
          cast<FloatAttr>(identity).getValueAsDouble());
    }
    auto type = cast<RankedTensorType>(source.getType());
    Value start = arith::ConstantOp::create(rewriter, op.getLoc(), identity);
    Value init = tensor::SplatOp::create(rewriter, op.getLoc(), start,
                                         type.clone(reduced.shape()));
    auto reduce = linalg::ReduceOp::create(
        rewriter, op.getLoc(), source, init, reduced.dimensions,
        [&](OpBuilder &builder, Location loc, ValueRange in) {
          IRMapping mapping;
          Block *region = combiner->getBlock();
          mapping.map(region->getArgument(0), in[1]);
          mapping.map(region->getArgument(1), in[0]);
          Operation *clone = builder.clone(*combiner, mapping);
          clone->getResult(0).setType(type.getElementType());
          linalg::YieldOp::create(builder, loc, clone->getResults());
        });
    return llvm::to_vector_of<Value>(reduce->getResults());
  }

  /// Along one dimension after the other, the last one first: neighbours are
  /// combined in their order.
  static SmallVector<Value>
  reduceElements(tt::ReduceOp op, const Reduced &reduced,
                 ConversionPatternRewriter &rewriter) {
    SmallVector<Value> values = reduced.sources;
    for (int64_t axis : llvm::reverse(reduced.dimensions)) {
      SmallVector<Type> types;
      for (Value source : values) {
        auto type = cast<RankedTensorType>(source.getType());
        SmallVector<int64_t> shape(type.getShape());
        shape.erase(shape.begin() + axis);
        types.push_back(type.clone(shape));
      }
      auto reduce = linalg_ext::ReduceOp::create(rewriter, op.getLoc(), types,
                                                 values, axis);
      Region &combiner = reduce.getCombiner();
      if (axis == reduced.dimensions.front())
        rewriter.inlineRegionBefore(op.getCombineOp(), combiner,
                                    combiner.end());
      else
        rewriter.cloneRegionBefore(op.getCombineOp(), combiner, combiner.end());
      values = llvm::to_vector_of<Value>(reduce.getResults());
    }
    return values;
  }
};

struct ScanLowering : OpConversionPattern<tt::ScanOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::ScanOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    int64_t axis = op.getAxis();
    Block &body = op.getCombineOp().front();
    bool isWide = canCombineInF32(body);
    SmallVector<Value> sources(adaptor.getSrcs());
    if (isWide)
      sources = widenBlocks(rewriter, op.getLoc(), sources);
    auto scan = linalg_ext::ScanOp::create(rewriter, op.getLoc(),
                                           TypeRange(ValueRange(sources)),
                                           sources, axis, op.getReverse());
    if (!isWide) {
      rewriter.inlineRegionBefore(op.getCombineOp(), scan.getCombiner(),
                                  scan.getCombiner().end());
      rewriter.replaceOp(op, scan.getResults());
      return success();
    }
    {
      OpBuilder::InsertionGuard guard(rewriter);
      SmallVector<Value> sums = cloneInF32(rewriter, body, scan.getCombiner());
      linalg_ext::YieldOp::create(rewriter, body.getTerminator()->getLoc(),
                                  sums);
    }
    rewriter.replaceOp(op,
                       narrowBlocks(rewriter, op.getLoc(), scan.getResults(),
                                    op->getResultTypes()));
    return success();
  }
};

/// The end of a region that moved into an op of linalg_ext.
template <typename SourceOp>
struct ReturnLowering : OpConversionPattern<SourceOp> {
  using OpConversionPattern<SourceOp>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(SourceOp op, typename SourceOp::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<linalg_ext::YieldOp>(op, adaptor.getOperands());
    return success();
  }
};

} // namespace

void ttl::populateReducePatterns(Converter converter,
                                 RewritePatternSet &patterns) {
  patterns.add<ReduceLowering, ReturnLowering<tt::ReduceReturnOp>>(
      converter, patterns.getContext());
}

void ttl::populateScanPatterns(Converter converter,
                               RewritePatternSet &patterns) {
  patterns.add<ScanLowering, ReturnLowering<tt::ScanReturnOp>>(
      converter, patterns.getContext());
}
