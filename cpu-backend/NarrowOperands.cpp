//===- NarrowOperands.cpp - tilebridge-cpu-narrow-operands ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Weights of 8 bits are widened in kernels whose other operand is wider:
// `tl.dot(x, w.to(x.dtype))`. The micro-kernel widens what it packs, or what
// few rows are multiplied with where it lies, just as well; so such a block is
// read as it is, and takes no other way than one that need not be widened.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"
#include "triton-to-linalg/bridge/Permute.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUNARROWOPERANDSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// The only operation of `op`, element by element, of its only input.
static Operation *onlyOperation(linalg::GenericOp op) {
  if (!readsOnlyInputs(op) || op.getInputs().size() != 1 ||
      !linalg_ext::keepsOrder(op))
    return nullptr;
  Block &body = *op.getBody();
  Operation *def = body.getTerminator()->getOperand(0).getDefiningOp();
  return def && def == &body.front() && def->getNumOperands() == 1 &&
                 def->getOperand(0) == body.getArgument(0)
             ? def
             : nullptr;
}

namespace {

struct ReadNarrow : public OpRewritePattern<linalg::MatmulOp> {
  ReadNarrow(MLIRContext *context, bool smallFloats)
      : OpRewritePattern(context), smallFloats(smallFloats) {}

  LogicalResult matchAndRewrite(linalg::MatmulOp op,
                                PatternRewriter &rewriter) const override {
    AffineMap map = op.getIndexingMapsArray()[1];
    auto depth =
        cast<AffineDimExpr>(map.getResult(0)).getPosition() == 2 ? 0u : 1u;
    Value narrow = narrowOf(op.getInputs()[1], depth, rewriter);
    if (!narrow)
      return rewriter.notifyMatchFailure(op, "its operand is no wider block");
    auto product = linalg::MatmulOp::create(
        rewriter, op.getLoc(), op->getResultTypes(),
        ValueRange{op.getInputs()[0], narrow}, op.getOutputs());
    product.setIndexingMapsAttr(op.getIndexingMapsAttr());
    product->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, product);
    return success();
  }

private:
  /// What was widened, if the micro-kernel does the same, and it is contiguous
  /// along dimension `depth`.
  Value narrowOf(Value operand, unsigned depth,
                 PatternRewriter &rewriter) const {
    if (!operand.hasOneUse())
      return {};
    if (auto transpose = operand.getDefiningOp<linalg::TransposeOp>()) {
      Value narrow = narrowOf(transpose.getInput(),
                              transpose.getPermutation()[depth], rewriter);
      return narrow ? linalg_ext::transposed(rewriter, transpose.getLoc(),
                                             narrow, transpose.getPermutation())
                    : Value();
    }
    auto generic = operand.getDefiningOp<linalg::GenericOp>();
    Operation *cast = generic ? onlyOperation(generic) : nullptr;
    if (!cast || !isWidened(cast, cast->getOperand(0).getType(),
                            cast->getResult(0).getType()))
      return {};
    Value narrow = generic.getInputs().front();
    return narrow.hasOneUse() && isContiguousAlong(narrow, depth) ? narrow
                                                                  : Value();
  }

  bool isWidened(Operation *cast, Type from, Type to) const {
    // Halves are widened to f32 where nothing multiplies them, and bytes with
    // them.
    if (isa<arith::SIToFPOp>(cast))
      return from.isInteger(8) && (to.isBF16() || to.isF16() || to.isF32());
    if (!isa<arith::ExtFOp>(cast))
      return false;
    if (isa<Float8E4M3FNType, Float8E5M2Type>(from))
      return to.isBF16() && smallFloats;
    return to.isF32() && (from.isBF16() || from.isF16());
  }

  bool smallFloats;
};

struct NarrowOperandsPass
    : public tilebridge::cpu::impl::CpuNarrowOperandsPassBase<
          NarrowOperandsPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ReadNarrow>(&getContext(), smallFloats);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
