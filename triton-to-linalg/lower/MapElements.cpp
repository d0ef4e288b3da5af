//===- MapElements.cpp - scalar code over elements ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"
#include "triton-to-linalg/lower/Patterns.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

namespace {

/// Column `position` of a block of rows of `pack` elements.
struct Column {
  OpFoldResult offsets[2], sizes[2], strides[2];
  Column(OpBuilder &b, int64_t rows, int64_t position)
      : offsets{b.getIndexAttr(0), b.getIndexAttr(position)},
        sizes{b.getIndexAttr(rows), b.getIndexAttr(1)},
        strides{b.getIndexAttr(1), b.getIndexAttr(1)} {}
};

/// The region becomes the body of a linalg.generic. With `pack` elements at a
/// time, row-major neighbours, each is an operand of its own.
struct MapLowering : OpConversionPattern<tt::MapElementwiseOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::MapElementwiseOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    int64_t pack = op.getPackAttr().getInt();
    SmallVector<Value> inputs, inits;
    for (Value source : adaptor.getSrcs())
      llvm::append_range(inputs, apart(rewriter, loc, source, pack));
    auto shape = cast<RankedTensorType>(inputs.front().getType()).getShape();
    SmallVector<Type> types;
    for (Type result : op.getResultTypes()) {
      auto type = typeConverter->convertType<RankedTensorType>(result);
      for (int64_t i = 0; i < pack; ++i) {
        inits.push_back(tensor::EmptyOp::create(rewriter, loc, shape,
                                                type.getElementType()));
        types.push_back(inits.back().getType());
      }
    }
    SmallVector<AffineMap> maps(inputs.size() + inits.size(),
                                rewriter.getMultiDimIdentityMap(shape.size()));
    SmallVector<utils::IteratorType> iterators(shape.size(),
                                               utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(rewriter, loc, types, inputs,
                                             inits, maps, iterators);
    Block *body = &op.getScalarOp().front();
    for (Type type : types)
      body->addArgument(getElementTypeOrSelf(type), loc);
    rewriter.inlineRegionBefore(op.getScalarOp(), generic.getRegion(),
                                generic.getRegion().end());

    SmallVector<Value> results;
    for (auto [i, type] : llvm::enumerate(op.getResultTypes()))
      results.push_back(
          together(rewriter, loc, generic.getResults().slice(i * pack, pack),
                   typeConverter->convertType<RankedTensorType>(type)));
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  static SmallVector<Value> apart(OpBuilder &b, Location loc, Value block,
                                  int64_t pack) {
    if (pack == 1)
      return {block};
    auto type = cast<RankedTensorType>(block.getType());
    int64_t rows = type.getNumElements() / pack;
    Value packs = reshapeBlock(b, loc, block, {rows, pack});
    SmallVector<Value> columns;
    for (int64_t i = 0; i < pack; ++i) {
      Column column(b, rows, i);
      columns.push_back(tensor::ExtractSliceOp::create(
          b, loc, RankedTensorType::get(rows, type.getElementType()), packs,
          column.offsets, column.sizes, column.strides));
    }
    return columns;
  }

  static Value together(OpBuilder &b, Location loc, ValueRange columns,
                        RankedTensorType type) {
    if (columns.size() == 1)
      return columns.front();
    int64_t pack = columns.size(), rows = type.getNumElements() / pack;
    Value packs =
        tensor::EmptyOp::create(b, loc, {rows, pack}, type.getElementType());
    for (auto [i, value] : llvm::enumerate(columns)) {
      Column column(b, rows, i);
      packs = tensor::InsertSliceOp::create(
          b, loc, value, packs, column.offsets, column.sizes, column.strides);
    }
    return reshapeBlock(b, loc, packs, type.getShape());
  }
};

struct MapReturnLowering : OpConversionPattern<tt::MapElementwiseReturnOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::MapElementwiseReturnOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<linalg::YieldOp>(op, adaptor.getOperands());
    return success();
  }
};

} // namespace

void ttl::populateMapPatterns(Converter converter,
                              RewritePatternSet &patterns) {
  patterns.add<MapLowering, MapReturnLowering>(converter,
                                               patterns.getContext());
}
