//===- Views.cpp - descriptors and block pointers made and moved ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"
#include "triton-to-linalg/lower/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

/// Sizes, strides and offsets are signed, whatever their width.
static SmallVector<Value> asIndices(OpBuilder &builder, Location loc,
                                    ValueRange values) {
  SmallVector<Value> indices;
  for (Value value : values)
    indices.push_back(arith::IndexCastOp::create(
        builder, loc, builder.getIndexType(), value));
  return indices;
}

/// The whole tensor that a pointer is the begin of.
static Value wholeTensor(OpBuilder &builder, Location loc, MemRefType type,
                         Value base, ValueRange shape, ValueRange strides) {
  auto meta = memref::ExtractStridedMetadataOp::create(builder, loc, base);
  return memref::ReinterpretCastOp::create(
      builder, loc, type, meta.getBaseBuffer(), meta.getOffset(),
      asIndices(builder, loc, shape), asIndices(builder, loc, strides));
}

namespace {

struct MakeDescriptorLowering
    : OpConversionPattern<tt::MakeTensorDescriptorOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::MakeTensorDescriptorOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(typeConverter->convertType(op.getType(), types)))
      return rewriter.notifyMatchFailure(op, "type has no bridge type");
    Value whole = wholeTensor(rewriter, op.getLoc(), cast<MemRefType>(types[0]),
                              adaptor.getBase(), adaptor.getShape(),
                              adaptor.getStrides());
    Value isNan = arith::ConstantOp::create(
        rewriter, op.getLoc(),
        rewriter.getBoolAttr(op.getPadding() == tt::PaddingOption::PAD_NAN));
    rewriter.replaceOpWithMultiple(
        op, SmallVector<SmallVector<Value>>{{whole, isNan}});
    return success();
  }
};

/// `order` is a hint for layouts of other machines.
struct MakeBlockPointerLowering : OpConversionPattern<tt::MakeTensorPtrOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::MakeTensorPtrOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(typeConverter->convertType(op.getType(), types)))
      return rewriter.notifyMatchFailure(op, "type has no bridge type");
    SmallVector<Value> parts = {wholeTensor(
        rewriter, op.getLoc(), cast<MemRefType>(types[0]), adaptor.getBase(),
        adaptor.getShape(), adaptor.getStrides())};
    llvm::append_range(parts,
                       asIndices(rewriter, op.getLoc(), adaptor.getOffsets()));
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{parts});
    return success();
  }
};

/// Hazard 15: the block's offsets are values like others, so that each advance
/// has the effect that the program's order gives it.
struct AdvanceLowering : OpConversionPattern<tt::AdvanceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::AdvanceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts(adaptor.getPtr());
    for (auto [i, range] : llvm::enumerate(adaptor.getOffsets())) {
      Value distance = asIndices(rewriter, op.getLoc(), range).front();
      parts[i + 1] =
          arith::AddIOp::create(rewriter, op.getLoc(), parts[i + 1], distance);
    }
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{parts});
    return success();
  }
};

} // namespace

void ttl::populateViewPatterns(Converter converter,
                               RewritePatternSet &patterns) {
  patterns
      .add<MakeDescriptorLowering, MakeBlockPointerLowering, AdvanceLowering>(
          converter, patterns.getContext());
}
