//===- Dot.cpp - products of matrices -------------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"
#include "triton-to-linalg/lower/Patterns.h"
#include "triton-to-linalg/lower/WideCombiner.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

namespace {
/// The operands may be narrower than the accumulator: the bodies of matmul and
/// batch_matmul widen them, integers as signed. A precision below the operands'
/// own (tf32, maxNumImpreciseAcc) is allowed, not asked for, and not used.
struct DotLowering : OpConversionPattern<tt::DotOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::DotOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ValueRange inputs = adaptor.getOperands().take_front(2);
    Value sum = adaptor.getC();
    bool isWide = isNarrowFloat(sum.getType());
    if (isWide)
      sum = widenBlocks(rewriter, loc, sum)[0];
    Operation *product;
    if (cast<RankedTensorType>(op.getType()).getRank() == 3)
      product = linalg::BatchMatmulOp::create(rewriter, loc, sum.getType(),
                                              inputs, sum);
    else
      product =
          linalg::MatmulOp::create(rewriter, loc, sum.getType(), inputs, sum);
    SmallVector<Value> results(product->getResults());
    if (isWide)
      results = narrowBlocks(rewriter, loc, results, op->getResultTypes());
    rewriter.replaceOp(op, results);
    return success();
  }
};
} // namespace

void ttl::populateDotPatterns(Converter converter,
                              RewritePatternSet &patterns) {
  patterns.add<DotLowering>(converter, patterns.getContext());
}
