//===- FoldReversals.cpp - a block in the opposite order, as one op -------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Triton's library has no op that reverses a block: it takes a dimension apart
// into dimensions of size 2, and exchanges the halves of each one by exclusive
// or with the exclusive or of both.
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/bridge/Exchange.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"
#include "triton-to-linalg/bridge/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include "llvm/ADT/SmallBitVector.h"

namespace tilebridge::linalg_ext {
#define GEN_PASS_DEF_FOLDREVERSALSPASS
#include "triton-to-linalg/bridge/Passes.h.inc"
} // namespace tilebridge::linalg_ext

using namespace mlir;
using namespace tilebridge::linalg_ext;

namespace {

/// Neighbours that are all exchanged are one dimension that is reversed.
struct FoldSwaps : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType(0));
    if (!type || !matchSwap(op.getResult(0)))
      return failure();
    // Of a chain, the last one is folded.
    auto isNext = [&](Operation *user) {
      auto next = dyn_cast<linalg::GenericOp>(user);
      auto swap = next ? matchSwap(next.getResult(0)) : std::nullopt;
      return swap && swap->source == op.getResult(0);
    };
    if (llvm::any_of(op->getUsers(), isNext) &&
        llvm::all_of(op->getUsers(), [&](Operation *user) {
          return isa<linalg::ReduceOp>(user) || isNext(user);
        }))
      return rewriter.notifyMatchFailure(op, "is not the last of a chain");
    llvm::SmallBitVector reversed(type.getRank());
    Value source = op.getResult(0);
    while (auto swap = matchSwap(source)) {
      reversed.flip(swap->dim);
      source = swap->source;
    }
    // One exchange in a cube is a step of a sort, whose steps share no indices.
    bool isCube =
        llvm::all_of(type.getShape(), [](int64_t size) { return size <= 2; });
    if (isCube && reversed.count() == 1)
      return rewriter.notifyMatchFailure(op, "is a single exchange in a cube");
    rewriter.replaceOp(op, reverse(rewriter, op.getLoc(), source, reversed));
    return success();
  }

private:
  static Value reverse(OpBuilder &b, Location loc, Value source,
                       const llvm::SmallBitVector &reversed) {
    auto type = cast<RankedTensorType>(source.getType());
    if (reversed.none())
      return source;
    SmallVector<ReassociationIndices> groups;
    SmallVector<int64_t> dims;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (d > 0 && reversed.test(d) && reversed.test(d - 1)) {
        groups.back().push_back(d);
        continue;
      }
      if (reversed.test(d))
        dims.push_back(groups.size());
      groups.push_back({d});
    }
    bool merges = groups.size() < static_cast<size_t>(type.getRank());
    Value value = source;
    if (merges)
      value = tensor::CollapseShapeOp::create(b, loc, source, groups);
    for (int64_t dim : dims)
      value = reversedAlong(b, loc, value, dim);
    if (merges)
      value = tensor::ExpandShapeOp::create(b, loc, type, value, groups);
    return value;
  }
};

/// What is only named otherwise is reversed under its first name: a backend may
/// then read it from memory in the opposite order.
struct ReverseBeforeBitcast : OpRewritePattern<GatherAlongOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GatherAlongOp op,
                                PatternRewriter &rewriter) const override {
    auto generic = op.getSource().getDefiningOp<linalg::GenericOp>();
    if (!op.isReversal() || !generic || !isOnly<arith::BitcastOp>(generic))
      return failure();
    Value source = generic.getInputs()[0];
    Value before =
        GatherAlongOp::create(rewriter, op.getLoc(), source.getType(), source,
                              op.getIndices(), op.getDimension());
    rewriter.setInsertionPoint(op);
    IRMapping map;
    map.map(source, before);
    rewriter.replaceOp(op, rewriter.clone(*generic, map)->getResults());
    return success();
  }
};

/// Reshapes of a reversal that undo each other, step by step, are two at most.
struct ShortenReshapes : RewritePattern {
  ShortenReshapes(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isReshape(op) || llvm::any_of(op->getUsers(), isReshape))
      return failure();
    Value root = op->getResult(0);
    int64_t steps = 0;
    for (; root.getDefiningOp() && isReshape(root.getDefiningOp()); ++steps)
      root = root.getDefiningOp()->getOperand(0);
    auto from = dyn_cast<RankedTensorType>(root.getType());
    auto to = cast<RankedTensorType>(op->getResult(0).getType());
    auto gather = root.getDefiningOp<GatherAlongOp>();
    if (!gather || !gather.isReversal() || !to.hasStaticShape())
      return failure();
    if (from == to) {
      rewriter.replaceOp(op, root);
      return success();
    }
    if (steps < 3)
      return failure();
    Location loc = op->getLoc();
    auto all = [](RankedTensorType type) {
      ReassociationIndices group;
      llvm::append_range(group, llvm::seq<int64_t>(0, type.getRank()));
      return SmallVector<ReassociationIndices>{group};
    };
    Value flat = root;
    if (from.getRank() > 1)
      flat = tensor::CollapseShapeOp::create(rewriter, loc, flat, all(from));
    if (to.getRank() > 1)
      flat = tensor::ExpandShapeOp::create(rewriter, loc, to, flat, all(to));
    rewriter.replaceOp(op, flat);
    return success();
  }

private:
  static bool isReshape(Operation *op) {
    return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) &&
           cast<RankedTensorType>(op->getResult(0).getType()).getRank() > 0 &&
           cast<RankedTensorType>(op->getOperand(0).getType()).getRank() > 0;
  }
};

struct FoldReversalsPass
    : public tilebridge::linalg_ext::impl::FoldReversalsPassBase<
          FoldReversalsPass> {
  using Base::Base;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<FoldSwaps, ReverseBeforeBitcast, ShortenReshapes>(context);
    // A dimension that was taken apart for the exchanges is whole again.
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
