//===- Box.cpp - structured accesses ----------------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/lower/Box.h"

#include "triton-to-linalg/lower/Memory.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge::ttl;

Box tilebridge::ttl::boxOf(ExprBuilder &exprs, ExprPool &pool,
                           const MaskForm &mask, ArrayRef<int64_t> shape) {
  Box box;
  box.isAll = mask.isAll();
  const Expr *condition = pool.boolean(true);
  for (const Expr *part : mask.conditions)
    condition = pool.conjunction(condition, part);
  const Expr *zero = pool.constant(64, 0);
  for (auto [dim, bounds] : llvm::enumerate(mask.dims)) {
    // Bounds lie in [0, size].
    const Expr *low = bounds.lower.empty() ? zero : bounds.lower.front();
    const Expr *high = bounds.upper.empty() ? pool.constant(64, shape[dim])
                                            : bounds.upper.front();
    for (const Expr *bound : bounds.lower)
      low = pool.maxS(low, bound);
    for (const Expr *bound : bounds.upper)
      high = pool.minS(high, bound);
    // Only a lower bound above the upper one makes a size negative.
    const Expr *size = pool.sub(high, low);
    if (!low->isConstant(0) && !bounds.upper.empty())
      size = pool.maxS(size, zero);
    // A false condition leaves nothing of the first dimension.
    if (dim == 0)
      size = pool.select(condition, size, zero);
    // What is empty begins inside as well: a constant offset behind the end is
    // no valid subview, though nothing of it is read.
    if (!low->isConstant(0))
      low = pool.minS(low, pool.constant(64, shape[dim] - 1));
    box.low.push_back(exprs.index(low));
    box.sizes.push_back(exprs.index(size));
  }
  box.offsets = box.low;
  return box;
}

OpFoldResult tilebridge::ttl::addIndex(OpBuilder &builder, Location loc,
                                       OpFoldResult a, OpFoldResult b) {
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y)
    return builder.getIndexAttr(*x + *y);
  if (x && *x == 0)
    return b;
  if (y && *y == 0)
    return a;
  return builder.createOrFold<arith::AddIOp>(
      loc, getValueOrCreateConstantIndexOp(builder, loc, a),
      getValueOrCreateConstantIndexOp(builder, loc, b));
}

/// MLIR's views have no constant offsets below 0, as one from a pointer into an
/// array may be: such a one is a sum with the array's own offset, which is 0,
/// but no pass knows that.
static OpFoldResult viewOffset(OpBuilder &builder, Location loc, Value memref,
                               OpFoldResult offset) {
  std::optional<int64_t> constant = getConstantIntValue(offset);
  if (!constant || *constant >= 0)
    return offset;
  auto meta = memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  Value distance = arith::ConstantIndexOp::create(builder, loc, *constant);
  return arith::AddIOp::create(builder, loc, meta.getOffset(), distance)
      .getResult();
}

Value tilebridge::ttl::makeView(OpBuilder &builder, Location loc,
                                ExprBuilder &exprs, Value pointer,
                                const TensorForm &form, Type element) {
  Value memref = memrefOf(builder, loc, pointer, element);
  OpFoldResult offset = addIndex(builder, loc, exprs.index(form.uniform),
                                 offsetOf(builder, loc, pointer, memref));
  offset = viewOffset(builder, loc, memref, offset);
  SmallVector<OpFoldResult> sizes, strides;
  for (auto [term, size] : llvm::zip_equal(form.terms, form.shape)) {
    sizes.push_back(builder.getIndexAttr(size));
    // The stride of a single element means nothing; 1 keeps it contiguous.
    strides.push_back(term.stride ? exprs.index(term.stride)
                                  : builder.getIndexAttr(size == 1 ? 1 : 0));
  }
  auto asStatic = [](OpFoldResult value) {
    return getConstantIntValue(value).value_or(ShapedType::kDynamic);
  };
  SmallVector<int64_t> staticStrides = llvm::map_to_vector(strides, asStatic);
  auto layout = StridedLayoutAttr::get(builder.getContext(), asStatic(offset),
                                       staticStrides);
  return memref::ReinterpretCastOp::create(
      builder, loc, MemRefType::get(form.shape, element, layout), memref,
      offset, sizes, strides);
}

static SmallVector<OpFoldResult> ones(OpBuilder &builder, size_t rank) {
  return SmallVector<OpFoldResult>(rank, builder.getIndexAttr(1));
}

static Value subview(OpBuilder &builder, Location loc, Value memref,
                     const Box &box) {
  return memref::SubViewOp::create(builder, loc, memref, box.offsets, box.sizes,
                                   ones(builder, box.sizes.size()));
}

/// `size - low - part`, which is not negative.
static OpFoldResult restOf(OpBuilder &builder, Location loc, int64_t size,
                           OpFoldResult low, OpFoldResult part) {
  OpFoldResult used = addIndex(builder, loc, low, part);
  if (std::optional<int64_t> constant = getConstantIntValue(used))
    return builder.getIndexAttr(size - *constant);
  Value all = arith::ConstantIndexOp::create(builder, loc, size);
  return builder.createOrFold<arith::SubIOp>(loc, all, cast<Value>(used));
}

Value tilebridge::ttl::loadBox(OpBuilder &builder, Location loc, Value memref,
                               const Box &box, RankedTensorType type,
                               Value other) {
  Value source = box.isAll ? memref : subview(builder, loc, memref, box);
  auto sourceType = cast<MemRefType>(source.getType());
  auto partType =
      RankedTensorType::get(sourceType.getShape(), sourceType.getElementType());
  Value part =
      bufferization::ToTensorOp::create(builder, loc, partType, source);
  if (box.isAll)
    return part;
  if (isa<RankedTensorType>(other.getType()))
    return tensor::InsertSliceOp::create(builder, loc, part, other, box.low,
                                         box.sizes,
                                         ones(builder, type.getRank()));
  SmallVector<OpFoldResult> high;
  for (auto [size, low, partSize] :
       llvm::zip_equal(type.getShape(), box.low, box.sizes))
    high.push_back(restOf(builder, loc, size, low, partSize));
  return tensor::PadOp::create(builder, loc, type, part, box.low, high, other);
}

void tilebridge::ttl::storeBox(OpBuilder &builder, Location loc, Value memref,
                               const Box &box, Value value) {
  Value target = memref;
  if (!box.isAll) {
    size_t rank = box.sizes.size();
    value = tensor::ExtractSliceOp::create(builder, loc, value, box.low,
                                           box.sizes, ones(builder, rank));
    target = subview(builder, loc, memref, box);
  }
  auto store = bufferization::MaterializeInDestinationOp::create(builder, loc,
                                                                 value, target);
  store.setWritable(true);
}
