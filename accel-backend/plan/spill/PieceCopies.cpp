//===- PieceCopies.cpp - loads and stores of buffers far away -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/Extent.h"
#include "accel-backend/plan/spill/Nest.h"
#include "accel-backend/plan/spill/Pieces.h"

using namespace mlir;
using namespace tilebridge::accel;

// A piece has one buffer: there is no room for more.
static void keepOne(CopyOp copy) {
  copy->setAttr(depthAttr, Builder(copy.getContext()).getI64IntegerAttr(1));
}

static uint64_t bytesOfElement(Value block) {
  return llvm::divideCeil(
      cast<ShapedType>(block.getType()).getElementTypeBitWidth(), 8);
}

// A block that may be far away, or its part, in local memory.
static Value bring(Pieces &pieces, OpBuilder &builder, Location loc, Nest &nest,
                   Value block, ArrayRef<OpFoldResult> low,
                   ArrayRef<OpFoldResult> count, ArrayRef<int64_t> shape) {
  Value part = nest.part(block, low, count);
  if (!pieces.isFar(block))
    return part;
  auto type = cast<MemRefType>(block.getType());
  Value buffer = pieces.allocate(builder, loc, shape, type.getElementType());
  SmallVector<OpFoldResult> zeros(shape.size(), builder.getIndexAttr(0));
  Value box = nest.part(buffer, zeros, count);
  pieces.copy(builder, loc, part, box);
  return box;
}

// The rows and the mask of a copy, as far as they belong to a piece. Rows stand
// for positions of their dimension, and so does a mask beside them: their block
// is cut with it.
static std::pair<Value, Value> bringBeside(Pieces &pieces, OpBuilder &builder,
                                           Nest &nest, CopyOp copy,
                                           ArrayRef<OpFoldResult> low,
                                           ArrayRef<OpFoldResult> count,
                                           ArrayRef<int64_t> shape) {
  auto bringOne = [&](Value block) {
    return block ? bring(pieces, builder, copy.getLoc(), nest, block, low,
                         count, shape)
                 : Value();
  };
  Value rows = bringOne(copy.getRows());
  return {rows, bringOne(copy.getMask())};
}

bool Pieces::rewriteLoad(CopyOp copy) {
  Value dest = copy.getDest();
  auto type = cast<MemRefType>(dest.getType());
  bool isScatter = copy.getRows() && copy.getScatter();
  if (!isInChipMemory(copy.getSource().getType()) || isScatter ||
      !type.hasStaticShape())
    return false;
  ArrayRef<int64_t> shape = type.getShape();
  int64_t indexed = copy.getRows() ? int64_t(copy.getDim()) : -1;
  // The indices and the mask are brought along with the piece.
  uint64_t bytes = bytesOfElement(dest);
  for (Value beside : {copy.getRows(), copy.getMask()})
    if (beside && isFar(beside))
      bytes += bytesOfElement(beside);
  SmallVector<int64_t> sizes = isFar(dest) || bytes > bytesOfElement(dest)
                                   ? sizesFor(shape, bytes)
                                   : llvm::to_vector(shape);

  OpBuilder builder(copy);
  Location loc = copy.getLoc();
  Nest nest(builder, loc);
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> begin(rank, builder.getIndexAttr(0)), count,
      low(rank, builder.getIndexAttr(0)), skipped(begin);
  for (auto [d, value] : llvm::enumerate(copy.getLow()))
    low[d] = getAsOpFoldResult(value);
  SmallVector<OpFoldResult> box =
      memref::getMixedSizes(builder, loc, copy.getSource());
  for (int64_t d = 0; d < rank; ++d) {
    count.push_back(builder.getIndexAttr(sizes[d]));
    if (sizes[d] == shape[d])
      continue;
    Value at = nest.open(shape[d], sizes[d]);
    begin[d] = at;
    if (d == indexed)
      continue;
    Extent extent =
        cutBox(builder, loc, low[d], box[d], shape[d], at, sizes[d]);
    low[d] = extent.low, box[d] = extent.size, skipped[d] = extent.skipped;
  }
  auto [rows, mask] =
      indexed >= 0
          ? bringBeside(*this, builder, nest, copy, begin[indexed],
                        count[indexed], sizes[indexed])
          : bringBeside(*this, builder, nest, copy, skipped, box, sizes);
  Value source = nest.part(copy.getSource(), skipped, box);
  Value part = nest.part(dest, begin, count);
  Value buffer = part;
  if (isFar(dest)) {
    buffer = allocate(builder, loc, sizes, type.getElementType());
    // Elements that take no part stay what they were.
    if (copy.getAccumulate() || (mask && !copy.getPad()))
      this->copy(builder, loc, part, buffer);
  }
  SmallVector<Value> lowValues;
  if (llvm::any_of(
          low, [](OpFoldResult each) { return !isConstantIntValue(each, 0); }))
    for (OpFoldResult each : low)
      lowValues.push_back(getValueOrCreateConstantIndexOp(builder, loc, each));
  auto smaller =
      CopyOp::create(builder, loc, TypeRange(), source, buffer, rows,
                     copy.getDim(), copy.getScatter(), lowValues, copy.getPad(),
                     mask, copy.getAccumulateAttr(), copy.getMulticastAttr());
  keepOne(smaller);
  if (isFar(dest) && (copy.getPad() || mask || copy.getAccumulate())) {
    this->copy(builder, loc, buffer, part);
  } else if (isFar(dest)) {
    // What is beside the box has no contents yet.
    if (indexed >= 0)
      box[indexed] = builder.getIndexAttr(sizes[indexed]);
    this->copy(builder, loc, nest.part(buffer, low, box),
               nest.part(part, low, box));
  }
  nest.close();
  copy.erase();
  return true;
}

// The most positions that a part of a block can have in a dimension.
static std::optional<SmallVector<int64_t>> boundsOf(Value view) {
  auto type = cast<MemRefType>(view.getType());
  SmallVector<int64_t> bounds(type.getShape());
  if (type.hasStaticShape())
    return bounds;
  auto part = view.getDefiningOp<memref::SubViewOp>();
  if (!part || part.getSourceType().getRank() != type.getRank() ||
      !part.getSourceType().hasStaticShape())
    return std::nullopt;
  for (auto [d, bound] : llvm::enumerate(bounds))
    if (ShapedType::isDynamic(bound))
      bound = part.getSourceType().getDimSize(d);
  return bounds;
}

bool Pieces::rewriteStore(CopyOp copy) {
  Value source = copy.getSource();
  bool isGather = copy.getRows() && !copy.getScatter();
  if (!isInChipMemory(copy.getDest().getType()) || isGather ||
      !copy.getLow().empty() || copy.getPad())
    return false;
  std::optional<SmallVector<int64_t>> bounds = boundsOf(source);
  if (!bounds)
    return false;
  auto type = cast<MemRefType>(source.getType());
  int64_t indexed = copy.getRows() ? int64_t(copy.getDim()) : -1;
  uint64_t bytes = bytesOfElement(source);
  for (Value beside : {copy.getRows(), copy.getMask()})
    if (beside && isFar(beside))
      bytes += bytesOfElement(beside);
  SmallVector<int64_t> sizes = sizesFor(*bounds, bytes);

  OpBuilder builder(copy);
  Location loc = copy.getLoc();
  SmallVector<OpFoldResult> all = memref::getMixedSizes(builder, loc, source);
  Nest nest(builder, loc);
  SmallVector<OpFoldResult> begin(type.getRank(), builder.getIndexAttr(0)),
      count(all);
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (sizes[d] == (*bounds)[d])
      continue;
    Value at = nest.open(all[d], sizes[d]);
    begin[d] = at;
    count[d] = builder.getIndexAttr(sizes[d]);
    if (type.getDimSize(d) == (*bounds)[d])
      continue;
    // The last part of a box may be smaller.
    Value end = getValueOrCreateConstantIndexOp(builder, loc, all[d]);
    Value rest = arith::SubIOp::create(builder, loc, end, at);
    Value full = arith::ConstantIndexOp::create(builder, loc, sizes[d]);
    count[d] = arith::MinSIOp::create(builder, loc, rest, full).getResult();
  }
  auto [rows, mask] =
      indexed >= 0
          ? bringBeside(*this, builder, nest, copy, begin[indexed],
                        count[indexed], sizes[indexed])
          : bringBeside(*this, builder, nest, copy, begin, count, sizes);
  Value buffer = bring(*this, builder, loc, nest, source, begin, count, sizes);
  SmallVector<OpFoldResult> destBegin(begin), destCount(count);
  if (indexed >= 0) {
    destBegin[indexed] = builder.getIndexAttr(0);
    destCount[indexed] =
        memref::getMixedSize(builder, loc, copy.getDest(), indexed);
  }
  Value dest = nest.part(copy.getDest(), destBegin, destCount);
  auto smaller =
      CopyOp::create(builder, loc, TypeRange(), buffer, dest, rows,
                     copy.getDim(), copy.getScatter(), ValueRange(), Value(),
                     mask, copy.getAccumulateAttr(), DenseI64ArrayAttr());
  keepOne(smaller);
  nest.close();
  copy.erase();
  return true;
}
