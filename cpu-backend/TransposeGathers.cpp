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
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"
#include "triton-to-linalg/bridge/Permute.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUTRANSPOSEGATHERSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

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

/// Products, by what is computed element by element, are all that uses it.
static bool isOnlyMultiplied(Value block) {
  return llvm::all_of(block.getUses(), [](OpOperand &use) {
    auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return user && user.isDpsInput(&use) &&
           (linalg::isaContractionOpInterface(user) ||
            (readsOnlyInputs(user) && isOnlyMultiplied(user->getResult(0))));
  });
}

/// A transpose of rows that are gathered, or of what is computed from them.
static linalg::TransposeOp transposeOfRows(Value block) {
  auto transpose = block.getDefiningOp<linalg::TransposeOp>();
  Operation *from = transpose ? transpose.getInput().getDefiningOp() : nullptr;
  return isa_and_present<linalg_ext::GatherRowsOp>(from) ||
                 readsOnlyInputs(from)
             ? transpose
             : linalg::TransposeOp();
}

/// `input` is transposed by `permutation`, or is easily had before that: more
/// than one dimension of what is broadcast would have to be moved.
static bool canTurn(Value input, ArrayRef<int64_t> permutation) {
  Operation *op = input.getDefiningOp();
  if (auto transpose = dyn_cast_or_null<linalg::TransposeOp>(op))
    return transpose.getPermutation() == permutation;
  if (auto broadcast = dyn_cast_or_null<linalg::BroadcastOp>(op))
    return cast<RankedTensorType>(broadcast.getInput().getType()).getRank() < 2;
  DenseElementsAttr splat;
  return isa_and_present<tensor::SplatOp>(op) ||
         (matchPattern(input, m_Constant(&splat)) && splat.isSplat());
}

static Value turnedBefore(Value input, ArrayRef<int64_t> permutation,
                          PatternRewriter &rewriter) {
  auto type = cast<RankedTensorType>(input.getType());
  auto before = type.clone(
      applyPermutation(type.getShape(), invertPermutationVector(permutation)));
  Operation *op = input.getDefiningOp();
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
    return transpose.getInput();
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return tensor::SplatOp::create(rewriter, op->getLoc(), splat.getInput(),
                                   before);
  auto broadcast = dyn_cast<linalg::BroadcastOp>(op);
  if (!broadcast) {
    DenseElementsAttr splat;
    matchPattern(input, m_Constant(&splat));
    return arith::ConstantOp::create(rewriter, op->getLoc(),
                                     splat.resizeSplat(before));
  }
  auto dims = llvm::map_to_vector(broadcast.getDimensions(),
                                  [&](int64_t d) { return permutation[d]; });
  llvm::sort(dims);
  Value init = tensor::EmptyOp::create(
      rewriter, op->getLoc(), before.getShape(), before.getElementType());
  return linalg::BroadcastOp::create(rewriter, op->getLoc(),
                                     broadcast.getInput(), init, dims)
      ->getResult(0);
}

/// What is computed from gathered rows, such as keys of 8 bits that are widened
/// and scaled, is computed before they are transposed.
static LogicalResult turnLater(linalg::GenericOp op,
                               PatternRewriter &rewriter) {
  linalg::TransposeOp transpose;
  for (Value input : op.getInputs())
    if (auto found = transposeOfRows(input))
      transpose = found;
  if (!transpose || !readsOnlyInputs(op) ||
      !op.getBody()->getOps<linalg::IndexOp>().empty() ||
      !linalg_ext::keepsOrder(op) || !isOnlyMultiplied(op.getResult(0)))
    return rewriter.notifyMatchFailure(op, "not of transposed rows alone");
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  if (!llvm::all_of(op.getInputs(),
                    [&](Value input) { return canTurn(input, permutation); }))
    return rewriter.notifyMatchFailure(op, "another order of dimensions");
  auto inputs = llvm::map_to_vector(op.getInputs(), [&](Value input) {
    return turnedBefore(input, permutation, rewriter);
  });
  Location loc = op.getLoc();
  auto rows = cast<RankedTensorType>(transpose.getInput().getType());
  Value init =
      tensor::EmptyOp::create(rewriter, loc, rows.getShape(),
                              getElementTypeOrSelf(op.getResult(0).getType()));
  auto turned = linalg::GenericOp::create(rewriter, loc, init.getType(), inputs,
                                          init, op.getIndexingMapsArray(),
                                          op.getIteratorTypesArray());
  rewriter.inlineRegionBefore(op.getRegion(), turned.getRegion(),
                              turned.getRegion().begin());
  rewriter.replaceOp(op, linalg_ext::transposed(
                             rewriter, loc, turned.getResult(0), permutation));
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
    patterns.add(turnLater);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
