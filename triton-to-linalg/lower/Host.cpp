//===- Host.cpp - print, assert, and what one thread does not need --------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/lower/Patterns.h"
#include "triton-to-linalg/lower/PointerMath.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

namespace {

struct PrintLowering : OpConversionPattern<tt::PrintOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::PrintOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> values;
    for (Value value : adaptor.getArgs())
      values.push_back(isa<MemRefType>(value.getType())
                           ? addressOf(rewriter, op.getLoc(), value)
                           : value);
    SmallVector<bool> isSigned;
    for (int32_t flag : op.getIsSigned())
      isSigned.push_back(flag != 0);
    ValueRange ids = programIdsOf(op);
    rewriter.replaceOpWithNewOp<linalg_ext::PrintOp>(op, op.getPrefix(), ids[0],
                                                     ids[1], ids[2], values,
                                                     isSigned, op.getHex());
    return success();
  }
};

struct AssertLowering : OpConversionPattern<tt::AssertOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::AssertOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<linalg_ext::AssertOp>(
        op, adaptor.getCondition(), op.getMessage());
    return success();
  }
};

/// A program is one thread of a launch that runs alone: there is nobody to wait
/// for, and an assumption has served the analyses that ran before.
template <typename SourceOp> struct Drop : OpConversionPattern<SourceOp> {
  using OpConversionPattern<SourceOp>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(SourceOp op, typename SourceOp::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void ttl::populateHostPatterns(Converter converter,
                               RewritePatternSet &patterns) {
  patterns.add<PrintLowering, AssertLowering, Drop<tt::GridDependencyWaitOp>,
               Drop<tt::GridDependencyLaunchDependentsOp>, Drop<tt::BarrierOp>,
               Drop<LLVM::AssumeOp>>(converter, patterns.getContext());
}
