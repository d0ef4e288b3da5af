//===- Fuse.cpp - elementwise ops that follow one another -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELFUSEPASS
#include "accel-backend/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;

static bool isOnlyUse(OpOperand *operand) {
  Operation *producer = operand->get().getDefiningOp();
  return producer && producer->hasOneUse();
}

static bool isProduct(Operation *op) {
  auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(op);
  return linalgOp && linalg::isaContractionOpInterface(linalgOp);
}

/// The index of a lane whose dimension was expanded, as arithmetic: nobody
/// behind this pass knows maps of numbers.
static void expand(affine::AffineApplyOp apply) {
  OpBuilder builder(apply);
  std::optional<SmallVector<Value, 8>> index =
      affine::expandAffineMap(builder, apply.getLoc(), apply.getAffineMap(),
                              llvm::to_vector<8>(apply.getMapOperands()));
  if (!index)
    return;
  apply.replaceAllUsesWith(index->front());
  apply.erase();
}

namespace {
struct AccelFusePass : accel::impl::AccelFusePassBase<AccelFusePass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(patterns, isOnlyUse);
    linalg::populateFoldReshapeOpsByExpansionPatterns(
        patterns, [](OpOperand *operand) {
          return isOnlyUse(operand) && !isProduct(operand->getOwner()) &&
                 !isProduct(operand->get().getDefiningOp());
        });
    linalg::populateConstantFoldLinalgOperations(patterns, isOnlyUse);
    affine::AffineApplyOp::getCanonicalizationPatterns(patterns, context);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    context->getLoadedDialect<linalg::LinalgDialect>()
        ->getCanonicalizationPatterns(patterns);
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal();
    // Where it takes more rounds than there are, what was done is done.
    (void)applyPatternsGreedily(getOperation(), std::move(patterns), config);
    getOperation()->walk([](affine::AffineApplyOp apply) { expand(apply); });
  }
};
} // namespace
