//===- FoldEmpty.cpp - boxes that are known to be empty -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUFOLDEMPTYPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;

/// Whether a tensor has a dimension of size 0.
static bool isEmpty(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && llvm::is_contained(type.getShape(), 0);
}

/// The padding is all there is.
static LogicalResult foldPad(tensor::PadOp op, PatternRewriter &rewriter) {
  if (!isEmpty(op.getSource()))
    return rewriter.notifyMatchFailure(op, "the source is not empty");
  Value value = op.getConstantPaddingValue();
  if (!value || !op.getResultType().hasStaticShape())
    return rewriter.notifyMatchFailure(op, "the padding is not one value");
  if (value.getParentRegion() == &op.getRegion()) {
    // A constant in the body, which goes away with it.
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    value = rewriter.clone(*constant)->getResult(0);
  }
  rewriter.replaceOpWithNewOp<tensor::SplatOp>(op, value, op.getResultType());
  return success();
}

static LogicalResult foldInsert(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) {
  if (!isEmpty(op.getSource()))
    return rewriter.notifyMatchFailure(op, "the source is not empty");
  rewriter.replaceOp(op, op.getDest());
  return success();
}

static LogicalResult eraseStore(bufferization::MaterializeInDestinationOp op,
                                PatternRewriter &rewriter) {
  if (!isEmpty(op.getSource()))
    return rewriter.notifyMatchFailure(op, "the source is not empty");
  rewriter.eraseOp(op);
  return success();
}

namespace {

struct FoldEmptyPass
    : public tilebridge::cpu::impl::CpuFoldEmptyPassBase<FoldEmptyPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(foldPad);
    patterns.add(foldInsert);
    patterns.add(eraseStore);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
