//===- StepLoads.cpp - what several iterations of a loop read -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Growth.h"
#include "cpu-backend/emit/StepBlocks.h"
#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// Elements that are in the box [0, `inside`) along the other dimension than
/// that of steps, behind `low` ones that are not.
Value StepBlocks::blockOfLoad(Value value, ArrayRef<int> axes, Side side) {
  auto load = matchLoad(value);
  if (!load || load->other)
    return {};
  bool isZero = load->pad && (matchPattern(load->pad, m_AnyZeroFloat()) ||
                              matchPattern(load->pad, m_Zero()));
  if (load->pad && !isZero && (hasRest || !isFixed(load->pad)))
    return {};
  Value view = load->read.getBuffer();
  auto box = view.getDefiningOp<memref::SubViewOp>();
  auto whole =
      (box ? box.getSource() : view).getDefiningOp<memref::ReinterpretCastOp>();
  if (!whole || !isFixed(whole.getSource()) ||
      (box && (box.getDroppedDims().any() || !box.hasUnitStride())))
    return {};
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  std::optional<unsigned> along;
  for (auto [d, size] : llvm::enumerate(shape)) {
    if (size != 1) {
      if (along || axes[d] != side || size != sizeOf(side))
        return {};
      along = d;
    }
  }
  Location loc = load->read.getLoc();
  OpFoldResult offset = whole.getConstifiedMixedOffset();
  auto growth = growthOf(offset);
  offset = first(offset);
  if (!growth || !offset)
    return {};
  StepRange range = {b.getIndexAttr(0), count};
  for (auto [d, size] : llvm::enumerate(shape)) {
    if (size != 1 || !box)
      continue;
    OpFoldResult place = box.getMixedOffsets()[d],
                 length = box.getMixedSizes()[d];
    if (getConstantIntValue(place) == 0) {
      length = insideOfSteps(length, range);
      if (!length || getConstantIntValue(length) != 1)
        return {};
      continue;
    }
    OpFoldResult wide = whole.getConstifiedMixedStrides()[d];
    auto fixedWidth = growthOf(wide);
    Value row = rowOfArray(place, length, range);
    auto rowGrowth = row ? growthOf(row) : std::nullopt;
    Value begin = rowGrowth ? first(row) : Value();
    if (!begin || !fixedWidth || constantOf(*fixedWidth) != 0)
      return {};
    wide = first(wide);
    if (!wide)
      return {};
    offset = addIndex(b, loc, offset,
                      mulIndex(b, loc, inIndex(b, loc, begin), wide));
    growth = addIndex(b, loc, *growth, mulIndex(b, loc, *rowGrowth, wide));
  }
  auto fixed = [&](OpFoldResult part) -> OpFoldResult {
    auto grows = growthOf(part);
    return grows && constantOf(*grows) == 0 ? first(part) : OpFoldResult();
  };
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  OpFoldResult stride = one, begin = zero, inside = one, low = zero;
  if (along) {
    stride = fixed(whole.getConstifiedMixedStrides()[*along]);
    inside = b.getIndexAttr(shape[*along]);
    if (box) {
      begin = fixed(box.getMixedOffsets()[*along]);
      inside = insideOfSteps(box.getMixedSizes()[*along], range);
      inside = inside ? fixed(inside) : inside;
    }
    if (!load->low.empty())
      low = fixed(load->low[*along]);
    if (!stride || !begin || !inside || !low)
      return {};
  } else if (!load->low.empty() &&
             !llvm::all_of(load->low, [](OpFoldResult each) {
               return getConstantIntValue(each) == 0;
             })) {
    return {};
  }
  Value block =
      readBox(loc, whole.getSource(), offset, {stride, *growth}, begin, inside,
              low, range, load->pad, along ? std::optional(side) : std::nullopt,
              getElementTypeOrSelf(value.getType()));
  return along ? block : blockOfLine(block, side);
}

/// A box of memory, with the dimension of steps alone where there is no side;
/// what is read in `range`.
Value StepBlocks::readBox(Location loc, Value memref, OpFoldResult offset,
                          std::array<OpFoldResult, 2> strides,
                          OpFoldResult begin, OpFoldResult inside,
                          OpFoldResult low, const StepRange &range, Value pad,
                          std::optional<Side> side, Type element) {
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  // Lists are of the other dimension and that of steps.
  auto inOrder = [&](OpFoldResult other, OpFoldResult ofSteps) {
    SmallVector<OpFoldResult> list = {ofSteps};
    if (side)
      list.insert(dimOfSteps(*side) == 1 ? list.begin() : list.end(), other);
    return list;
  };
  OpFoldResult all = b.getIndexAttr(steps);
  OpFoldResult width = b.getIndexAttr(side ? sizeOf(*side) : 1);
  Value view = memref::ReinterpretCastOp::create(
      b, loc, memref, offset, inOrder(width, all),
      inOrder(strides[0], strides[1]));
  RankedTensorType type =
      side ? typeOf(*side, element) : RankedTensorType::get({steps}, element);
  bool isWhole = getConstantIntValue(begin) == 0 &&
                 getConstantIntValue(inside) == getConstantIntValue(width);
  if (isWhole && !hasRest && range.isAll)
    return bufferization::ToTensorOp::create(b, loc, type, view);
  auto ones = inOrder(one, one);
  OpFoldResult from = range.from, until = range.until, length = range.until;
  if (getConstantIntValue(from) != 0) {
    // Nothing, where the end is in front of the begin.
    from = arith::MinSIOp::create(b, loc, toValue(b, loc, from),
                                  toValue(b, loc, until))
               .getResult();
    length = subIndex(b, loc, until, from);
  }
  Value box = memref::SubViewOp::create(b, loc, view, inOrder(begin, from),
                                        inOrder(inside, length), ones);
  auto boxType = RankedTensorType::get(
      cast<MemRefType>(box.getType()).getShape(), element);
  Value part = bufferization::ToTensorOp::create(b, loc, boxType, box);
  if (pad)
    pad = first(pad);
  else
    pad = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  OpFoldResult high = subIndex(b, loc, subIndex(b, loc, width, inside), low);
  return tensor::PadOp::create(b, loc, type, part, inOrder(low, from),
                               inOrder(high, subIndex(b, loc, all, until)),
                               pad);
}
