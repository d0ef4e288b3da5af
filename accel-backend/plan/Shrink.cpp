//===- Shrink.cpp - blocks that are smaller along one class ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/Shrink.h"

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Extent.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge::accel;

namespace {
class Shrinker {
public:
  Shrinker(const DimensionClasses &classes, const Part &part)
      : classes(classes), part(part), all(classes.classes()[part.number].size) {
  }

  void run(ArrayRef<Operation *> ops);

private:
  bool isCut(Value block, int64_t dimension) const {
    return classes.of(block, dimension) == part.number;
  }
  bool isCutAnywhere(Value block) const {
    return isa<RankedTensorType>(block.getType()) &&
           llvm::is_contained(classes.of(block), part.number);
  }

  void shrinkType(Value value);
  void shrinkOp(Operation *op);
  void shrinkIndices(linalg::LinalgOp op);
  void shrinkConstant(arith::ConstantOp op);
  void shrinkLoad(CopyOp copy);
  void shrinkStore(CopyOp copy);

  Extent cut(OpBuilder &builder, Location loc, OpFoldResult low,
             OpFoldResult size);

  const DimensionClasses &classes;
  Part part;
  int64_t all;
  /// Slices that smaller ones stand for: gone when all operations were seen.
  llvm::SmallSetVector<Operation *, 4> replaced;
};
} // namespace

static Value toValue(OpBuilder &builder, Location loc, OpFoldResult number) {
  return getValueOrCreateConstantIndexOp(builder, loc, number);
}

// The part of the box [low, low + size) that is in [offset, offset + part).
Extent Shrinker::cut(OpBuilder &builder, Location loc, OpFoldResult low,
                     OpFoldResult size) {
  return cutBox(builder, loc, low, size, all, part.offset, part.size);
}

void Shrinker::shrinkType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return;
  SmallVector<int64_t> shape(type.getShape());
  for (auto [dimension, size] : llvm::enumerate(shape))
    if (size == all && isCut(value, dimension))
      size = part.size;
  value.setType(type.clone(shape));
}

// Positions that are computed with count from the beginning of the block.
void Shrinker::shrinkIndices(linalg::LinalgOp op) {
  SmallVector<linalg::IndexOp> indices;
  op->walk([&](linalg::IndexOp index) { indices.push_back(index); });
  for (linalg::IndexOp index : indices) {
    bool isCutThere = false;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (auto [dimension, expr] : llvm::enumerate(map.getResults()))
        if (auto iterator = dyn_cast<AffineDimExpr>(expr))
          isCutThere |= iterator.getPosition() == index.getDim() &&
                        isCut(operand.get(), dimension);
    }
    if (!isCutThere)
      continue;
    OpBuilder builder(index->getContext());
    builder.setInsertionPointAfter(index);
    auto sum = arith::AddIOp::create(builder, index.getLoc(), index.getResult(),
                                     part.offset);
    index.getResult().replaceAllUsesExcept(sum, sum);
  }
}

void Shrinker::shrinkConstant(arith::ConstantOp op) {
  auto values = dyn_cast<DenseElementsAttr>(op.getValue());
  if (values && isCutAnywhere(op.getResult()))
    op.setValueAttr(DenseElementsAttr::get(cast<ShapedType>(op.getType()),
                                           values.getSplatValue<Attribute>()));
}

// The box of the chip's memory that is loaded becomes smaller; where rows say
// which ones there are, it is the block of rows.
void Shrinker::shrinkLoad(CopyOp copy) {
  Value block = copy.getDest();
  OpBuilder builder(copy);
  Location loc = copy.getLoc();
  auto source = cast<MemRefType>(copy.getSource().getType());
  SmallVector<OpFoldResult> offsets(source.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes =
      memref::getMixedSizes(builder, loc, copy.getSource());
  SmallVector<OpFoldResult> strides(source.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> low(source.getRank(), builder.getIndexAttr(0));
  for (auto [dimension, value] : llvm::enumerate(copy.getLow()))
    low[dimension] = getAsOpFoldResult(value);
  for (int64_t dimension = 0; dimension < source.getRank(); ++dimension) {
    bool isIndexed = copy.getRows() && !copy.getScatter() &&
                     dimension == int64_t(copy.getDim());
    if (!isCut(block, dimension) || isIndexed)
      continue;
    Extent extent = cut(builder, loc, low[dimension], sizes[dimension]);
    offsets[dimension] = extent.skipped;
    sizes[dimension] = extent.size;
    low[dimension] = extent.low;
  }
  copy.getSourceMutable().assign(
      memref::SubViewOp::create(builder, loc, copy.getSource(), offsets, sizes,
                                strides)
          .getResult());
  bool begins = llvm::all_of(
      low, [](OpFoldResult each) { return isConstantIntValue(each, 0); });
  SmallVector<Value> values;
  if (!begins)
    for (OpFoldResult each : low)
      values.push_back(toValue(builder, loc, each));
  copy.getLowMutable().assign(values);
}

// What is stored is a block, or a slice of one that has the size of the box.
void Shrinker::shrinkStore(CopyOp copy) {
  OpBuilder builder(copy);
  Location loc = copy.getLoc();
  auto dest = cast<MemRefType>(copy.getDest().getType());
  auto slice = copy.getSource().getDefiningOp<tensor::ExtractSliceOp>();
  SmallVector<OpFoldResult> offsets(dest.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes =
      memref::getMixedSizes(builder, loc, copy.getDest());
  SmallVector<OpFoldResult> strides(dest.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sliceOffsets, sliceSizes;
  if (slice) {
    sliceOffsets = slice.getMixedOffsets();
    sliceSizes = slice.getMixedSizes();
    builder.setInsertionPoint(slice);
  }
  for (int64_t dimension = 0; dimension < dest.getRank(); ++dimension) {
    bool isIndexed = copy.getScatter() && dimension == int64_t(copy.getDim());
    if (!isCut(copy.getSource(), dimension))
      continue;
    OpFoldResult low = builder.getIndexAttr(0);
    OpFoldResult size = builder.getIndexAttr(all);
    if (slice) {
      low = sliceOffsets[dimension];
      size = sliceSizes[dimension];
    }
    Extent extent = cut(builder, loc, low, size);
    if (slice) {
      sliceOffsets[dimension] = extent.low;
      sliceSizes[dimension] = extent.size;
    }
    if (isIndexed)
      continue;
    offsets[dimension] = extent.skipped;
    sizes[dimension] = extent.size;
  }
  if (slice) {
    auto smaller = tensor::ExtractSliceOp::create(
        builder, loc, slice.getSource(), sliceOffsets, sliceSizes,
        slice.getMixedStrides());
    copy.getSourceMutable().assign(smaller.getResult());
    replaced.insert(slice);
  }
  builder.setInsertionPoint(copy);
  copy.getDestMutable().assign(
      memref::SubViewOp::create(builder, loc, copy.getDest(), offsets, sizes,
                                strides)
          .getResult());
}

void Shrinker::shrinkOp(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return shrinkIndices(linalgOp);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return shrinkConstant(constant);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return expand.setStaticOutputShape(expand.getResultType().getShape());
  if (auto copy = dyn_cast<CopyOp>(op)) {
    if (isCutAnywhere(copy.getDest()))
      return shrinkLoad(copy);
    if (isCutAnywhere(copy.getSource()))
      return shrinkStore(copy);
  }
}

void Shrinker::run(ArrayRef<Operation *> ops) {
  // Types first: operations are looked at with those they will have.
  for (Operation *op : ops) {
    for (Value result : op->getResults())
      shrinkType(result);
    if (isa<linalg::LinalgOp>(op))
      continue;
    for (Region &nested : op->getRegions())
      for (Block &block : nested)
        for (Value argument : block.getArguments())
          shrinkType(argument);
  }
  // Users first: a store takes the slice that it stores with it.
  for (Operation *op : llvm::reverse(ops))
    shrinkOp(op);
  for (Operation *slice : replaced)
    if (slice->use_empty())
      slice->erase();
}

void tilebridge::accel::shrink(Region &region, const DimensionClasses &classes,
                               const Part &part) {
  SmallVector<Operation *> ops;
  region.walk<WalkOrder::PreOrder>([&](Operation *op) {
    ops.push_back(op);
    return isa<linalg::LinalgOp>(op) ? WalkResult::skip()
                                     : WalkResult::advance();
  });
  Shrinker(classes, part).run(ops);
}

void tilebridge::accel::shrinkMembers(ArrayRef<Operation *> members,
                                      const DimensionClasses &classes,
                                      const Part &part) {
  Shrinker(classes, part).run(members);
}
