//===- FoldViews.cpp - accesses see all that is known of memory -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/bridge/LinalgExtDialect.h"
#include "triton-to-linalg/bridge/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tilebridge::linalg_ext {
#define GEN_PASS_DEF_FOLDVIEWSPASS
#include "triton-to-linalg/bridge/Passes.h.inc"
} // namespace tilebridge::linalg_ext

using namespace mlir;
using namespace tilebridge;

namespace {

/// An access through a cast of the layout alone.
struct AccessOfCast : RewritePattern {
  AccessOfCast(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa<bufferization::ToTensorOp,
             bufferization::MaterializeInDestinationOp>(op) &&
        !isa<linalg_ext::LinalgExtDialect>(op->getDialect()))
      return rewriter.notifyMatchFailure(op, "is no access of the bridge");
    bool changed = false;
    for (OpOperand &operand : op->getOpOperands()) {
      auto cast = operand.get().getDefiningOp<memref::CastOp>();
      auto type = cast ? dyn_cast<MemRefType>(cast.getSource().getType())
                       : MemRefType();
      if (!type ||
          type.getShape() != ::cast<MemRefType>(cast.getType()).getShape())
        continue;
      rewriter.modifyOpInPlace(op, [&] { operand.set(cast.getSource()); });
      changed = true;
    }
    return success(changed);
  }
};

/// The view before a cast that only forgets sizes; nothing if `memref` is none.
static Value withSizes(Value memref) {
  auto cast = memref.getDefiningOp<memref::CastOp>();
  auto from = cast ? dyn_cast<MemRefType>(cast.getSource().getType()) : nullptr;
  if (!from || from.getShape() == ::cast<MemRefType>(cast.getType()).getShape())
    return {};
  for (auto [known, size] : llvm::zip_equal(
           from.getShape(), ::cast<MemRefType>(cast.getType()).getShape()))
    if (known != size && !ShapedType::isDynamic(size))
      return {};
  return cast.getSource();
}

/// The tensor type of the elements of `memref`.
static RankedTensorType tensorOf(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

/// The tensor that a cast of the size hides has that size.
struct ReadOfSizeCast : OpRewritePattern<bufferization::ToTensorOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(bufferization::ToTensorOp op,
                                PatternRewriter &rewriter) const override {
    Value view = withSizes(op.getBuffer());
    if (!view)
      return rewriter.notifyMatchFailure(op, "no size is hidden by a cast");
    Value read = bufferization::ToTensorOp::create(
        rewriter, op.getLoc(), tensorOf(view), view, op.getRestrict(),
        op.getWritable());
    rewriter.replaceOpWithNewOp<tensor::CastOp>(op, op.getType(), read);
    return success();
  }
};

struct WriteOfSizeCast
    : OpRewritePattern<bufferization::MaterializeInDestinationOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(bufferization::MaterializeInDestinationOp op,
                                PatternRewriter &rewriter) const override {
    Value view = withSizes(op.getDest());
    if (!view)
      return rewriter.notifyMatchFailure(op, "no size is hidden by a cast");
    Value source = tensor::CastOp::create(rewriter, op.getLoc(), tensorOf(view),
                                          op.getSource());
    rewriter.modifyOpInPlace(op, [&] {
      op.getSourceMutable().assign(source);
      op.getDestMutable().assign(view);
    });
    return success();
  }
};

struct DimOfReinterpretCast : OpRewritePattern<memref::DimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(memref::DimOp op,
                                PatternRewriter &rewriter) const override {
    auto view = op.getSource().getDefiningOp<memref::ReinterpretCastOp>();
    std::optional<int64_t> index = op.getConstantIndex();
    if (!view || !index || *index < 0 || *index >= view.getType().getRank())
      return rewriter.notifyMatchFailure(op, "no known size of a view");
    rewriter.replaceOp(
        op, getValueOrCreateConstantIndexOp(rewriter, op.getLoc(),
                                            view.getMixedSizes()[*index]));
    return success();
  }
};

struct MetadataOfReinterpretCast
    : OpRewritePattern<memref::ExtractStridedMetadataOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(memref::ExtractStridedMetadataOp op,
                                PatternRewriter &rewriter) const override {
    auto view = op.getSource().getDefiningOp<memref::ReinterpretCastOp>();
    if (!view || !isa<MemRefType>(view.getSource().getType()))
      return rewriter.notifyMatchFailure(op, "no metadata of a view");
    Location loc = op.getLoc();
    SmallVector<Value> results = {memref::ExtractStridedMetadataOp::create(
                                      rewriter, loc, view.getSource())
                                      .getBaseBuffer()};
    auto append = [&](ArrayRef<OpFoldResult> values) {
      for (OpFoldResult value : values)
        results.push_back(
            getValueOrCreateConstantIndexOp(rewriter, loc, value));
    };
    append(view.getMixedOffsets());
    append(view.getMixedSizes());
    append(view.getMixedStrides());
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// A part of unknown size that is stored as it was read: folding found that the
/// rest of the block (another block, by `other=`) is never stored. Values of
/// the bridge have the shape of a block, so zeros take that place.
struct CopyOfPart
    : OpRewritePattern<bufferization::MaterializeInDestinationOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(bufferization::MaterializeInDestinationOp op,
                                PatternRewriter &rewriter) const override {
    auto read = op.getSource().getDefiningOp<bufferization::ToTensorOp>();
    auto part = read ? read.getBuffer().getDefiningOp<memref::SubViewOp>()
                     : memref::SubViewOp();
    auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
    if (!part || !type || type.hasStaticShape() ||
        !part.getSourceType().hasStaticShape() ||
        part.getSourceType().getRank() != type.getRank())
      return rewriter.notifyMatchFailure(op, "stores no part of a block");
    Location loc = op.getLoc();
    ArrayRef<int64_t> block = part.getSourceType().getShape();
    SmallVector<OpFoldResult> sizes = part.getMixedSizes();
    OpFoldResult zero = rewriter.getIndexAttr(0),
                 one = rewriter.getIndexAttr(1);
    SmallVector<OpFoldResult> lows(block.size(), zero), ones(block.size(), one);
    SmallVector<OpFoldResult> highs;
    for (auto [all, size] : llvm::zip_equal(block, sizes)) {
      Value rest = arith::ConstantIndexOp::create(rewriter, loc, all);
      highs.push_back(getAsOpFoldResult(rewriter.createOrFold<arith::SubIOp>(
          loc, rest, getValueOrCreateConstantIndexOp(rewriter, loc, size))));
    }
    Value none = arith::ConstantOp::create(
        rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
    auto whole = tensor::PadOp::create(
        rewriter, loc, RankedTensorType::get(block, type.getElementType()),
        read, lows, highs, none);
    Value stored = tensor::ExtractSliceOp::create(rewriter, loc, type, whole,
                                                  lows, sizes, ones);
    rewriter.modifyOpInPlace(op, [&] { op.getSourceMutable().assign(stored); });
    return success();
  }
};

struct FoldViews : linalg_ext::impl::FoldViewsPassBase<FoldViews> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<AccessOfCast, ReadOfSizeCast, WriteOfSizeCast, CopyOfPart,
                 DimOfReinterpretCast, MetadataOfReinterpretCast>(
        &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
