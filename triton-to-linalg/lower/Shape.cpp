//===- Shape.cpp - blocks made, reshaped and put together -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"
#include "triton-to-linalg/lower/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

static Value emptyTensor(OpBuilder &builder, Location loc,
                         RankedTensorType type) {
  return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                 type.getElementType());
}

/// Groups the dimensions of two shapes of one size so that each pair of groups
/// has the same number of elements, as small as possible.
static void groupDimensions(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                            SmallVectorImpl<ReassociationIndices> &fromGroups,
                            SmallVectorImpl<ReassociationIndices> &toGroups,
                            SmallVectorImpl<int64_t> &sizes) {
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    ReassociationIndices fromGroup{static_cast<int64_t>(i)};
    ReassociationIndices toGroup{static_cast<int64_t>(j)};
    int64_t left = from[i++], right = to[j++];
    while (left != right) {
      if (left < right) {
        fromGroup.push_back(i);
        left *= from[i++];
      } else {
        toGroup.push_back(j);
        right *= to[j++];
      }
    }
    fromGroups.push_back(fromGroup);
    toGroups.push_back(toGroup);
    sizes.push_back(left);
  }
  // Whatever is left has size 1; for rank 0 there is no group that it could
  // join.
  if (sizes.empty())
    return;
  for (; i < from.size(); ++i)
    fromGroups.back().push_back(i);
  for (; j < to.size(); ++j)
    toGroups.back().push_back(j);
}

Value ttl::reshapeBlock(OpBuilder &builder, Location loc, Value value,
                        ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  SmallVector<ReassociationIndices> fromGroups, toGroups;
  SmallVector<int64_t> sizes;
  groupDimensions(type.getShape(), shape, fromGroups, toGroups, sizes);
  if (sizes.size() != static_cast<size_t>(type.getRank()))
    value = tensor::CollapseShapeOp::create(builder, loc, type.clone(sizes),
                                            value, fromGroups);
  if (sizes.size() != shape.size())
    value = tensor::ExpandShapeOp::create(builder, loc, type.clone(shape),
                                          value, toGroups);
  return value;
}

namespace {

struct SplatLowering : OpConversionPattern<tt::SplatOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::SplatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = typeConverter->convertType<RankedTensorType>(op.getType());
    Value source = adaptor.getSrc();
    if (auto tensor = dyn_cast<RankedTensorType>(source.getType()))
      source = tensor::ExtractOp::create(
          rewriter, op.getLoc(),
          reshapeBlock(rewriter, op.getLoc(), source, {}));
    if (source.getType() != type.getElementType())
      return rewriter.notifyMatchFailure(op, "a splat of a pointer");
    rewriter.replaceOpWithNewOp<tensor::SplatOp>(op, source, type);
    return success();
  }
};

struct UnsplatLowering : OpConversionPattern<tt::UnsplatOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::UnsplatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (isa<tt::PointerType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "gives a pointer");
    Value zero = arith::ConstantIndexOp::create(rewriter, op.getLoc(), 0);
    SmallVector<Value> origin(
        cast<RankedTensorType>(adaptor.getSrc().getType()).getRank(), zero);
    rewriter.replaceOpWithNewOp<tensor::ExtractOp>(op, adaptor.getSrc(),
                                                   origin);
    return success();
  }
};

struct MakeRangeLowering : OpConversionPattern<tt::MakeRangeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::MakeRangeOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    Type element = type.getElementType();
    // The attributes are signed, whatever their getters say.
    int64_t start = static_cast<int32_t>(op.getStart());
    Value first = arith::ConstantOp::create(
        rewriter, loc, rewriter.getIntegerAttr(element, start));
    auto generic = linalg::GenericOp::create(
        rewriter, loc, type, ValueRange{}, emptyTensor(rewriter, loc, type),
        rewriter.getMultiDimIdentityMap(1), utils::IteratorType::parallel,
        [&](OpBuilder &b, Location l, ValueRange) {
          Value index = linalg::IndexOp::create(b, l, 0);
          index = arith::IndexCastOp::create(b, l, element, index);
          if (start != 0)
            index = arith::AddIOp::create(b, l, index, first);
          linalg::YieldOp::create(b, l, index);
        });
    rewriter.replaceOp(op, generic);
    return success();
  }
};

/// expand_dims and reshape. A reshape that may reorder keeps the order.
template <typename SourceOp>
struct ReshapeLowering : OpConversionPattern<SourceOp> {
  using OpConversionPattern<SourceOp>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(SourceOp op, typename SourceOp::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(
        op, reshapeBlock(rewriter, op.getLoc(), adaptor.getSrc(),
                         cast<RankedTensorType>(op.getType()).getShape()));
    return success();
  }
};

struct BroadcastLowering : OpConversionPattern<tt::BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::BroadcastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto source = cast<RankedTensorType>(adaptor.getSrc().getType());
    auto target = typeConverter->convertType<RankedTensorType>(op.getType());
    SmallVector<int64_t> added, kept;
    for (int64_t i = 0; i < source.getRank(); ++i)
      if (source.getDimSize(i) != target.getDimSize(i))
        added.push_back(i);
      else
        kept.push_back(source.getDimSize(i));
    if (added.empty()) {
      rewriter.replaceOp(op, adaptor.getSrc());
      return success();
    }
    // linalg.broadcast adds dimensions: those of size 1 go first.
    Value narrow = dropUnits(rewriter, loc, adaptor.getSrc(), added, kept);
    auto broadcast = linalg::BroadcastOp::create(
        rewriter, loc, narrow, emptyTensor(rewriter, loc, target), added);
    rewriter.replaceOp(op, broadcast->getResults());
    return success();
  }

  /// Removes the dimensions `units`, all of size 1: each joins a neighbour.
  static Value dropUnits(OpBuilder &builder, Location loc, Value value,
                         ArrayRef<int64_t> units, ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<ReassociationIndices> groups(shape.size());
    size_t group = 0;
    for (int64_t i = 0; i < type.getRank() && !groups.empty(); ++i) {
      bool isUnit = llvm::is_contained(units, i);
      // A unit before the first kept dimension joins it, others the one before.
      if (isUnit)
        groups[group == 0 ? 0 : group - 1].push_back(i);
      else
        groups[group++].push_back(i);
    }
    return tensor::CollapseShapeOp::create(builder, loc, type.clone(shape),
                                           value, groups);
  }
};

struct TransLowering : OpConversionPattern<tt::TransOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::TransOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = typeConverter->convertType<RankedTensorType>(op.getType());
    SmallVector<int64_t> order(op.getOrder().begin(), op.getOrder().end());
    auto transpose = linalg::TransposeOp::create(
        rewriter, op.getLoc(), adaptor.getSrc(),
        emptyTensor(rewriter, op.getLoc(), type), order);
    rewriter.replaceOp(op, transpose->getResults());
    return success();
  }
};

/// The slice of size 1 at `position` of the last dimension.
struct LastSlice {
  SmallVector<OpFoldResult> offsets, sizes, strides;
  LastSlice(OpBuilder &builder, ArrayRef<int64_t> shape, int64_t position)
      : offsets(shape.size(), builder.getIndexAttr(0)),
        sizes(getAsIndexOpFoldResult(builder.getContext(), shape)),
        strides(shape.size(), builder.getIndexAttr(1)) {
    offsets.back() = builder.getIndexAttr(position);
    sizes.back() = builder.getIndexAttr(1);
  }
};

struct JoinLowering : OpConversionPattern<tt::JoinOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::JoinOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = typeConverter->convertType<RankedTensorType>(op.getType());
    Value joined = emptyTensor(rewriter, op.getLoc(), type);
    for (auto [i, part] : llvm::enumerate(adaptor.getOperands())) {
      LastSlice slice(rewriter, type.getShape(), i);
      joined = tensor::InsertSliceOp::create(rewriter, op.getLoc(), part,
                                             joined, slice.offsets, slice.sizes,
                                             slice.strides);
    }
    rewriter.replaceOp(op, joined);
    return success();
  }
};

struct SplitLowering : OpConversionPattern<tt::SplitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::SplitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto source = cast<RankedTensorType>(adaptor.getSrc().getType());
    auto half = RankedTensorType::get(source.getShape().drop_back(),
                                      source.getElementType());
    SmallVector<Value> parts;
    for (int64_t i = 0; i < 2; ++i) {
      LastSlice slice(rewriter, source.getShape(), i);
      parts.push_back(tensor::ExtractSliceOp::create(
          rewriter, op.getLoc(), half, adaptor.getSrc(), slice.offsets,
          slice.sizes, slice.strides));
    }
    rewriter.replaceOp(op, parts);
    return success();
  }
};

/// One after the other along the first dimension: cat may reorder, but need
/// not.
struct CatLowering : OpConversionPattern<tt::CatOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::CatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = typeConverter->convertType<RankedTensorType>(op.getType());
    Value whole = emptyTensor(rewriter, op.getLoc(), type);
    int64_t position = 0;
    for (Value part : adaptor.getOperands()) {
      ArrayRef<int64_t> shape =
          cast<RankedTensorType>(part.getType()).getShape();
      SmallVector<OpFoldResult> offsets(shape.size(), rewriter.getIndexAttr(0));
      SmallVector<OpFoldResult> strides(shape.size(), rewriter.getIndexAttr(1));
      offsets.front() = rewriter.getIndexAttr(position);
      whole = tensor::InsertSliceOp::create(
          rewriter, op.getLoc(), part, whole, offsets,
          getAsIndexOpFoldResult(rewriter.getContext(), shape), strides);
      position += shape.front();
    }
    rewriter.replaceOp(op, whole);
    return success();
  }
};

} // namespace

void ttl::populateShapePatterns(Converter converter,
                                RewritePatternSet &patterns) {
  patterns.add<SplatLowering, UnsplatLowering, MakeRangeLowering,
               ReshapeLowering<tt::ExpandDimsOp>,
               ReshapeLowering<tt::ReshapeOp>, BroadcastLowering, TransLowering,
               JoinLowering, SplitLowering, CatLowering>(converter,
                                                         patterns.getContext());
}
