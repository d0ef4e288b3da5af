//===- RepeatRows.cpp - tilebridge-cpu-repeat-rows ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What kernels compute from scales and zeros of weights in groups has the shape
// of the weights, though all of its rows are one: zeros of 4 bits are unpacked
// and converted for each weight, at the cost of the weight itself. Computed
// for one row, which is then repeated, they cost next to nothing.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/RepeatedBlocks.h"
#include "cpu-backend/emit/Plan.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUREPEATROWSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;

/// An elementwise op of which all inputs are repeated along the same outer
/// dimensions.
static LogicalResult repeatLater(linalg::GenericOp op,
                                 PatternRewriter &rewriter) {
  if (!cpu::isPlainElementwise(op))
    return rewriter.notifyMatchFailure(op, "no plain elementwise operation");
  linalg::BroadcastOp first;
  for (Value input : op.getInputs()) {
    auto broadcast = input.getDefiningOp<linalg::BroadcastOp>();
    if (cpu::isOneNumberBlock(input))
      continue;
    if (!broadcast ||
        (first && first.getDimensions() != broadcast.getDimensions()))
      return rewriter.notifyMatchFailure(op, "its rows differ");
    first = broadcast;
  }
  if (!first)
    return rewriter.notifyMatchFailure(op, "nothing is repeated");
  ArrayRef<int64_t> dims = first.getDimensions();
  auto row = cast<RankedTensorType>(first.getInput().getType());
  if (row.getRank() == 0 || row.getNumElements() == 1 ||
      llvm::to_vector(dims) !=
          llvm::to_vector(llvm::seq<int64_t>(0, dims.size())))
    return rewriter.notifyMatchFailure(op, "no rows are repeated");
  Location loc = op.getLoc();
  auto typeOf = [&](Value block) {
    return row.clone(getElementTypeOrSelf(block.getType()));
  };
  SmallVector<Value> inputs;
  for (Value input : op.getInputs()) {
    auto broadcast = input.getDefiningOp<linalg::BroadcastOp>();
    inputs.push_back(broadcast ? broadcast.getInput()
                               : cpu::numberAs(rewriter, input, typeOf(input)));
  }
  Value once = cpu::computeAs(rewriter, op, inputs, row.getShape());
  auto block = cast<RankedTensorType>(op->getResult(0).getType());
  Value all = tensor::EmptyOp::create(rewriter, loc, block.getShape(),
                                      block.getElementType());
  rewriter.replaceOp(op,
                     linalg::BroadcastOp::create(rewriter, loc, once, all, dims)
                         ->getResult(0));
  return success();
}

namespace {

struct RepeatRowsPass
    : public tilebridge::cpu::impl::CpuRepeatRowsPassBase<RepeatRowsPass> {
  using Base::Base;

  void runOnOperation() override {
    if (!cpu::anyInside(getOperation(), llvm::IsaPred<linalg::MatmulOp>))
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add(repeatLater);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
