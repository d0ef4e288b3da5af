//===- RepeatLoads.cpp - tilebridge-cpu-repeat-loads ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Scales and zeros of weights in groups are often read as blocks of the
// weights' shape, by `(k // group)[:, None] * stride + n[None, :] * step`. All
// rows of such a block are one row where a group is no shorter than the block:
// its strides along them are zero. Read as one row that is repeated, elements
// that lie apart are gathered once, not for each row; also where the array ends
// within the block.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUREPEATLOADSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;

/// The dimensions along which the view is one element; empty where reading
/// them again costs nothing to speak of: what is contiguous is read as vectors,
/// and what is the same for all lanes as one element.
static SmallVector<int64_t> repeatedDims(MemRefType view) {
  SmallVector<int64_t> strides, repeated;
  int64_t offset;
  if (!view.hasStaticShape() ||
      failed(view.getStridesAndOffset(strides, offset)))
    return {};
  int64_t first = view.getRank(), last = -1;
  for (auto [d, stride, size] : llvm::enumerate(strides, view.getShape())) {
    int64_t dim = d;
    if (size == 1)
      continue;
    if (stride != 0) {
      last = dim;
      continue;
    }
    repeated.push_back(dim);
    first = std::min(first, dim);
  }
  // Elements that are repeated beside each other are spread over lanes.
  if (last < first || (strides[last] == 1 && repeated.back() < last))
    return {};
  return repeated;
}

template <typename T>
static SmallVector<T> without(ArrayRef<T> all, ArrayRef<int64_t> dims) {
  SmallVector<T> kept;
  for (auto [d, value] : llvm::enumerate(all))
    if (!llvm::is_contained(dims, static_cast<int64_t>(d)))
      kept.push_back(value);
  return kept;
}

static Value repeat(OpBuilder &b, Location loc, Value value,
                    RankedTensorType type, ArrayRef<int64_t> dims) {
  Value init =
      tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  return linalg::BroadcastOp::create(b, loc, value, init, dims)->getResult(0);
}

/// `view` without such dimensions.
static Value viewWithout(OpBuilder &b, memref::ReinterpretCastOp view,
                         ArrayRef<int64_t> dims) {
  MemRefType type = view.getType();
  auto [strides, offset] = type.getStridesAndOffset();
  auto layout = StridedLayoutAttr::get(b.getContext(), offset,
                                       without<int64_t>(strides, dims));
  return memref::ReinterpretCastOp::create(
      b, view.getLoc(),
      MemRefType::get(without(type.getShape(), dims), type.getElementType(),
                      layout, type.getMemorySpace()),
      view.getSource(), view.getMixedOffsets().front(),
      without<OpFoldResult>(view.getMixedSizes(), dims),
      without<OpFoldResult>(view.getMixedStrides(), dims));
}

namespace {
/// A block as an access sees it, or the part of it that is there.
struct BlockInMemory {
  explicit BlockInMemory(Value memory)
      : part(memory.getDefiningOp<memref::SubViewOp>()),
        view((part ? part.getSource() : memory)
                 .getDefiningOp<memref::ReinterpretCastOp>()) {}

  bool hasRank(int64_t rank) {
    return view && view.getType().getRank() == rank &&
           (!part || part.getType().getRank() == rank);
  }
  ArrayRef<int64_t> sizes() {
    return part ? part.getStaticSizes() : view.getType().getShape();
  }
  Value without(OpBuilder &b, ArrayRef<int64_t> dims) {
    Value less = viewWithout(b, view, dims);
    if (!part)
      return less;
    return memref::SubViewOp::create(
        b, part.getLoc(), less,
        ::without<OpFoldResult>(part.getMixedOffsets(), dims),
        ::without<OpFoldResult>(part.getMixedSizes(), dims),
        ::without<OpFoldResult>(part.getMixedStrides(), dims));
  }

  memref::SubViewOp part;
  memref::ReinterpretCastOp view;
};
} // namespace

/// What `read` reads, from another memory.
static Value readFrom(OpBuilder &b, bufferization::ToTensorOp read,
                      Value memory) {
  auto type = cast<MemRefType>(memory.getType());
  auto result = bufferization::ToTensorOp::create(
      b, read.getLoc(),
      RankedTensorType::get(type.getShape(), type.getElementType()), memory,
      read.getRestrict(), read.getWritable());
  result->setDiscardableAttrs(read->getDiscardableAttrDictionary());
  return result;
}

static LogicalResult readOnce(bufferization::ToTensorOp op,
                              PatternRewriter &rewriter) {
  auto view = op.getBuffer().getDefiningOp<memref::ReinterpretCastOp>();
  if (!view)
    return rewriter.notifyMatchFailure(op, "part of a block");
  // What is padded is read as a load from memory alone.
  SmallVector<int64_t> dims = repeatedDims(view.getType());
  if (dims.empty() ||
      llvm::any_of(op->getUsers(), llvm::IsaPred<tensor::PadOp>))
    return rewriter.notifyMatchFailure(op, "its elements are read once");
  Value row = readFrom(rewriter, op, viewWithout(rewriter, view, dims));
  auto block = cast<RankedTensorType>(op.getType());
  rewriter.replaceOp(op, repeat(rewriter, op.getLoc(), row, block, dims));
  return success();
}

/// A block that may be there in part, but is along what is repeated.
static LogicalResult padOnce(tensor::PadOp op, PatternRewriter &rewriter) {
  auto read = op.getSource().getDefiningOp<bufferization::ToTensorOp>();
  Value outside = op.getConstantPaddingValue();
  RankedTensorType block = op.getResultType();
  if (!read || !outside || !block.hasStaticShape() || !read->hasOneUse())
    return rewriter.notifyMatchFailure(op, "no padded block");
  BlockInMemory memory(read.getBuffer());
  if (!memory.hasRank(block.getRank()))
    return rewriter.notifyMatchFailure(op, "no part of a block");
  SmallVector<int64_t> dims = repeatedDims(memory.view.getType());
  auto low = op.getMixedLowPad(), high = op.getMixedHighPad();
  if (dims.empty() || !llvm::all_of(dims, [&](int64_t d) {
        return isZeroInteger(low[d]) && isZeroInteger(high[d]) &&
               memory.sizes()[d] == block.getDimSize(d);
      }))
    return rewriter.notifyMatchFailure(op, "its elements are read once");
  Location loc = op.getLoc();
  // A constant may be in the region.
  if (op->isAncestor(outside.getParentBlock()->getParentOp()))
    outside = rewriter.clone(*outside.getDefiningOp())->getResult(0);
  auto row = tensor::PadOp::create(
      rewriter, loc,
      RankedTensorType::get(without(block.getShape(), dims),
                            block.getElementType()),
      readFrom(rewriter, read, memory.without(rewriter, dims)),
      without<OpFoldResult>(low, dims), without<OpFoldResult>(high, dims),
      outside, op.getNofold());
  row->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, repeat(rewriter, loc, row, block, dims));
  return success();
}

/// Rows of a block that a table chooses, whose elements are repeated: of zeros
/// that are eight columns a word an eighth is read and kept.
static LogicalResult gatherOnce(linalg_ext::GatherRowsOp op,
                                PatternRewriter &rewriter) {
  Value memory = op.getView();
  if (auto cast = memory.getDefiningOp<memref::CastOp>())
    memory = cast.getSource();
  BlockInMemory all(memory);
  auto block = cast<RankedTensorType>(op.getType());
  int64_t dim = op.getDim();
  SmallVector<int64_t> strides, dims;
  int64_t offset;
  if (!all.hasRank(block.getRank()) ||
      failed(all.view.getType().getStridesAndOffset(strides, offset)))
    return rewriter.notifyMatchFailure(op, "no view of a block");
  ArrayRef<int64_t> sizes = all.sizes();
  bool hasRow = false;
  for (auto [d, stride, size] : llvm::enumerate(strides, block.getShape())) {
    if (static_cast<int64_t>(d) == dim || size == 1)
      continue;
    hasRow |= stride != 0;
    if (stride == 0 && sizes[d] == size)
      dims.push_back(d);
  }
  if (dims.empty() || !hasRow)
    return rewriter.notifyMatchFailure(op, "its elements are read once");
  Location loc = op.getLoc();
  Value less = all.without(rewriter, dims);
  int64_t row = dim - llvm::count_if(dims, [&](int64_t d) { return d < dim; });
  auto type = cast<MemRefType>(less.getType());
  auto shape = llvm::to_vector(type.getShape());
  shape[row] = ShapedType::kDynamic;
  less = memref::CastOp::create(rewriter, loc,
                                MemRefType::get(shape, type.getElementType(),
                                                type.getLayout(),
                                                type.getMemorySpace()),
                                less);
  auto rows = linalg_ext::GatherRowsOp::create(
      rewriter, loc,
      RankedTensorType::get(without(block.getShape(), dims),
                            block.getElementType()),
      less, op.getRows(), rewriter.getI64IntegerAttr(row), op.getRowmask(),
      op.getOther());
  rows->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, repeat(rewriter, loc, rows, block, dims));
  return success();
}

/// A dimension that is repeated and stays one is repeated behind the reshape:
/// what is reshaped is in memory, and so it is less.
static LogicalResult repeatLater(tensor::CollapseShapeOp op,
                                 PatternRewriter &rewriter) {
  auto broadcast = op.getSrc().getDefiningOp<linalg::BroadcastOp>();
  if (!broadcast || !op.getType().hasStaticShape())
    return rewriter.notifyMatchFailure(op, "nothing is repeated");
  ArrayRef<int64_t> dims = broadcast.getDimensions();
  SmallVector<int64_t> moved, later;
  for (auto [d, group] : llvm::enumerate(op.getReassociationIndices()))
    if (group.size() == 1 && llvm::is_contained(dims, group.front())) {
      moved.push_back(group.front());
      later.push_back(d);
    }
  RankedTensorType wide = op.getSrcType(), type = op.getResultType();
  if (moved.empty() || static_cast<int64_t>(moved.size()) == type.getRank())
    return rewriter.notifyMatchFailure(op, "nothing is repeated alone");
  // Where the dimensions that stay are, without those that are moved.
  SmallVector<int64_t> place(wide.getRank(), -1);
  int64_t rank = 0;
  for (int64_t d = 0; d < wide.getRank(); ++d)
    if (!llvm::is_contained(moved, d))
      place[d] = rank++;
  SmallVector<int64_t> sooner;
  for (int64_t d : dims)
    if (place[d] >= 0)
      sooner.push_back(place[d]);
  SmallVector<ReassociationIndices> groups;
  for (auto [d, group] : llvm::enumerate(op.getReassociationIndices()))
    if (!llvm::is_contained(later, static_cast<int64_t>(d)))
      groups.push_back(ReassociationIndices(
          llvm::map_range(group, [&](int64_t from) { return place[from]; })));
  Location loc = op.getLoc();
  Value value = broadcast.getInput();
  auto less = RankedTensorType::get(without<int64_t>(wide.getShape(), moved),
                                    wide.getElementType());
  if (!sooner.empty())
    value = repeat(rewriter, loc, value, less, sooner);
  value = tensor::CollapseShapeOp::create(rewriter, loc, value, groups);
  rewriter.replaceOp(op, repeat(rewriter, loc, value, type, later));
  return success();
}

namespace {

struct RepeatLoadsPass
    : public tilebridge::cpu::impl::CpuRepeatLoadsPassBase<RepeatLoadsPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(readOnce);
    patterns.add(padOnce);
    patterns.add(gatherOnce);
    patterns.add(repeatLater);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
