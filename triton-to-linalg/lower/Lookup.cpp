//===- Lookup.cpp - histogram and gather within a block -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/lower/Patterns.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

namespace {

struct HistogramLowering : OpConversionPattern<tt::HistogramOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::HistogramOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<linalg_ext::HistogramOp>(
        op, op.getType(), adaptor.getSrc(), adaptor.getMask());
    return success();
  }
};

struct GatherLowering : OpConversionPattern<tt::GatherOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::GatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    int64_t axis = op.getAxis();
    rewriter.replaceOpWithNewOp<linalg_ext::GatherAlongOp>(
        op, typeConverter->convertType(op.getType()), adaptor.getSrc(),
        adaptor.getIndices(), axis);
    return success();
  }
};

} // namespace

void ttl::populateLookupPatterns(Converter converter,
                                 RewritePatternSet &patterns) {
  patterns.add<HistogramLowering, GatherLowering>(converter,
                                                  patterns.getContext());
}
