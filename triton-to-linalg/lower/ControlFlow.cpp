//===- ControlFlow.cpp - the types of values that flow --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/lower/BridgeTypes.h"
#include "triton-to-linalg/lower/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

namespace {

/// A select between pointers, descriptors or block pointers: one for each part.
/// On tensors of addresses it is a select of elements like any other.
struct SelectLowering : OpConversionPattern<arith::SelectOp> {
  SelectLowering(Converter converter, MLIRContext *context)
      : OpConversionPattern(converter, context, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(arith::SelectOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (isa<RankedTensorType>(op.getType()) ||
        typeConverter->isLegal(op.getType()))
      return rewriter.notifyMatchFailure(op, "selects no pointer");
    Value condition = adaptor.getCondition().front();
    SmallVector<Value> parts;
    for (auto [yes, no] :
         llvm::zip_equal(adaptor.getTrueValue(), adaptor.getFalseValue()))
      parts.push_back(
          arith::SelectOp::create(rewriter, op.getLoc(), condition, yes, no));
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{parts});
    return success();
  }
};

/// A poison pointer: each part of it is poison.
struct PoisonLowering : OpConversionPattern<ub::PoisonOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ub::PoisonOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(typeConverter->convertType(op.getType(), types)))
      return rewriter.notifyMatchFailure(op, "type has no bridge type");
    SmallVector<Value> parts;
    for (Type type : types)
      parts.push_back(ub::PoisonOp::create(rewriter, op.getLoc(), type));
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{parts});
    return success();
  }
};

/// Upstream has no pattern for switches.
struct IndexSwitchLowering : OpConversionPattern<scf::IndexSwitchOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(scf::IndexSwitchOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FailureOr<BridgeTypesOf> results =
        BridgeTypesOf::get(*typeConverter, op.getResultTypes());
    if (failed(results))
      return rewriter.notifyMatchFailure(op, "type has no bridge type");
    auto converted = scf::IndexSwitchOp::create(
        rewriter, op.getLoc(), results->types, adaptor.getArg().front(),
        op.getCases(), op.getNumCases());
    for (auto [from, to] :
         llvm::zip_equal(op->getRegions(), converted->getRegions()))
      rewriter.inlineRegionBefore(from, to, to.end());
    rewriter.replaceOpWithMultiple(op, results->group(converted.getResults()));
    return success();
  }
};

} // namespace

void ttl::populateControlFlowPatterns(Converter converter,
                                      RewritePatternSet &patterns,
                                      ConversionTarget &target) {
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  target.addDynamicallyLegalOp<scf::IndexSwitchOp>(
      [&](Operation *op) { return converter.isLegal(op->getResultTypes()); });
  patterns.add<SelectLowering, PoisonLowering, IndexSwitchLowering>(
      converter, patterns.getContext());
}
