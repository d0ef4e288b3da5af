//===- TransposeGathers.cpp - tilebridge-cpu-transpose-gathers ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Keys that a table chooses are often written as columns of a block, as a
// product wants them: `K + table[None, :] * stride + d[:, None]`. A column is
// contiguous in memory. Read as rows and transposed, they are copied as rows
// are, and the product takes the transposed operand as any other.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"
#include "triton-to-linalg/bridge/Permute.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUTRANSPOSEGATHERSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;

/// The order of dimensions in which the contiguous one comes last; empty where
/// it does, or is that of the rows, or there is none.
static SmallVector<int64_t> contiguousLast(MemRefType view, int64_t rowDim) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(view.getStridesAndOffset(strides, offset)))
    return {};
  int64_t inner = -1;
  for (auto [d, stride, size] : llvm::enumerate(strides, view.getShape()))
    if (stride == 1 && size != 1 && static_cast<int64_t>(d) != rowDim)
      inner = d;
  if (inner < 0 || inner > rowDim)
    return {};
  auto order = llvm::to_vector(llvm::seq<int64_t>(view.getRank()));
  order.erase(order.begin() + inner);
  order.push_back(inner);
  return order;
}

static LogicalResult turnGather(linalg_ext::GatherRowsOp op,
                                PatternRewriter &rewriter) {
  auto view = cast<MemRefType>(op.getView().getType());
  auto order = contiguousLast(view, op.getDim());
  Value turned = order.empty()
                     ? Value()
                     : linalg_ext::permuteView(rewriter, op.getView(), order);
  if (!turned)
    return rewriter.notifyMatchFailure(op, "rows are as contiguous as can be");
  Location loc = op.getLoc();
  // The rows' dimension is dynamic again.
  auto known = cast<MemRefType>(turned.getType());
  turned = memref::CastOp::create(
      rewriter, loc,
      MemRefType::get(applyPermutation(view.getShape(), order),
                      known.getElementType(), known.getLayout(),
                      known.getMemorySpace()),
      turned);
  auto type = cast<RankedTensorType>(op.getType());
  SmallVector<int64_t> back = invertPermutationVector(order);
  Value rows = linalg_ext::GatherRowsOp::create(
      rewriter, loc, type.clone(applyPermutation(type.getShape(), order)),
      turned, op.getRows(), rewriter.getI64IntegerAttr(back[op.getDim()]),
      op.getRowmask(), op.getOther());
  rewriter.replaceOp(op, linalg_ext::transposed(rewriter, loc, rows, back));
  return success();
}

namespace {

struct TransposeGathersPass
    : public tilebridge::cpu::impl::CpuTransposeGathersPassBase<
          TransposeGathersPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(turnGather);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
