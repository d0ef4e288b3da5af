//===- ClampedBox.cpp - blocks of bounded tensors in memory -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/lower/ClampedBox.h"

#include "frontend/TTOps.h"
#include "triton-to-linalg/analysis/IntegerFacts.h"
#include "triton-to-linalg/lower/Memory.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

SmallVector<OpFoldResult> ttl::asIndices(OpBuilder &builder, Location loc,
                                         ValueRange values) {
  SmallVector<OpFoldResult> indices;
  for (Value value : values) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      indices.push_back(builder.getIndexAttr(constant.getSExtValue()));
    else
      indices.push_back(builder.createOrFold<arith::IndexCastOp>(
          loc, builder.getIndexType(), value));
  }
  return indices;
}

/// True for what cannot be negative; an index made of a program's integer is
/// looked through.
static bool isNotNegative(OpFoldResult index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return *constant >= 0;
  Value value = cast<Value>(index);
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    return isNonNegative(cast.getIn());
  return isNonNegative(value);
}

/// True for the begin of a block of `size` elements that either lies inside of
/// the tensor or has its whole block before it: a multiple of the size.
/// Products of 32 bits that wrap around stay one.
static bool isMultipleOf(OpFoldResult index, int64_t size) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return *constant % size == 0;
  unsigned zeros = trailingZeros(cast<Value>(index));
  return zeros >= 63 || (int64_t(1) << zeros) % size == 0;
}

/// The last position below a bound; 0 where it is known that there is none.
static Value lastOf(OpBuilder &builder, Location loc, Value bound) {
  if (std::optional<int64_t> constant = getConstantIntValue(bound))
    return arith::ConstantIndexOp::create(builder, loc,
                                          std::max<int64_t>(*constant - 1, 0));
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  return builder.createOrFold<arith::SubIOp>(loc, bound, one);
}

Box ttl::clampedBox(OpBuilder &builder, Location loc, Value memref,
                    ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> shape,
                    ArrayRef<bool> isChecked) {
  Box box;
  for (auto [dim, offset, size] : llvm::enumerate(offsets, shape)) {
    if (!isChecked[dim]) {
      box.offsets.push_back(offset);
      box.low.push_back(builder.getIndexAttr(0));
      box.sizes.push_back(builder.getIndexAttr(size));
      continue;
    }
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value block = arith::ConstantIndexOp::create(builder, loc, size);
    Value bound = builder.createOrFold<memref::DimOp>(loc, memref, dim);
    Value begin = getValueOrCreateConstantIndexOp(builder, loc, offset);
    bool startsInside = isNotNegative(offset);
    // first: where the part begins in the tensor; low: where it does in the
    // block.
    Value first = startsInside
                      ? begin
                      : builder.createOrFold<arith::MaxSIOp>(loc, begin, zero);
    OpFoldResult low = builder.getIndexAttr(0);
    // What begins at a multiple of its size has all of its elements behind the
    // tensor's begin, or none, so that the part that is taken begins with it.
    if (!startsInside && !isMultipleOf(offset, size)) {
      Value before = builder.createOrFold<arith::SubIOp>(loc, first, begin);
      low = builder.createOrFold<arith::MinSIOp>(
          loc, before, arith::ConstantIndexOp::create(builder, loc, size - 1));
    }
    Value end = builder.createOrFold<arith::AddIOp>(loc, begin, block);
    end = builder.createOrFold<arith::MinSIOp>(loc, end, bound);
    Value part = builder.createOrFold<arith::SubIOp>(loc, end, first);
    // An empty part begins inside as well: a constant offset behind the end is
    // no valid subview, though nothing of it is read.
    first = builder.createOrFold<arith::MinSIOp>(loc, first,
                                                 lastOf(builder, loc, bound));
    box.offsets.push_back(getAsOpFoldResult(first));
    box.low.push_back(low);
    // A size that is known makes the part's type static, so that no cast stands
    // between it and its use.
    box.sizes.push_back(getAsOpFoldResult(
        builder.createOrFold<arith::MaxSIOp>(loc, part, zero)));
  }
  return box;
}

Value ttl::reshapeTo(OpBuilder &builder, Location loc, Value tensor,
                     RankedTensorType type) {
  if (tensor.getType() == type)
    return tensor;
  return tt::ReshapeOp::create(builder, loc, type, tensor,
                               /*allow_reorder=*/false,
                               /*efficient_layout=*/false);
}

Value ttl::nanOf(OpBuilder &builder, Location loc, Type scalar) {
  auto type = dyn_cast<FloatType>(scalar);
  if (!type)
    return zeroOf(builder, loc, scalar);
  return arith::ConstantOp::create(
      builder, loc,
      builder.getFloatAttr(type, APFloat::getQNaN(type.getFloatSemantics())));
}
