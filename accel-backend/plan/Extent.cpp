//===- Extent.cpp - parts of a box along one dimension --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/Extent.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilebridge::accel;

static Value toValue(OpBuilder &builder, Location loc, OpFoldResult number) {
  return getValueOrCreateConstantIndexOp(builder, loc, number);
}

static Value clamp(OpBuilder &builder, Location loc, Value number, Value most) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value below = arith::MinSIOp::create(builder, loc, number, most);
  return arith::MaxSIOp::create(builder, loc, below, zero);
}

Extent tilebridge::accel::cutBox(OpBuilder &builder, Location loc,
                                 OpFoldResult low, OpFoldResult size,
                                 int64_t all, Value offset, int64_t part) {
  if (isConstantIntValue(low, 0) && isConstantIntValue(size, all))
    return {builder.getIndexAttr(0), builder.getIndexAttr(part), offset};
  Value count = toValue(builder, loc, size);
  Value length = arith::ConstantIndexOp::create(builder, loc, part);
  if (isConstantIntValue(low, 0)) {
    Value rest = arith::SubIOp::create(builder, loc, count, offset);
    Value skipped = arith::MinSIOp::create(builder, loc, offset, count);
    return {low, clamp(builder, loc, rest, length), skipped};
  }
  Value first = toValue(builder, loc, low);
  Value before = arith::SubIOp::create(builder, loc, first, offset);
  Value newLow = clamp(builder, loc, before, length);
  Value until = arith::AddIOp::create(builder, loc, before, count);
  Value end = clamp(builder, loc, until, length);
  Value newSize = arith::SubIOp::create(builder, loc, end, newLow);
  Value behind = arith::SubIOp::create(builder, loc, offset, first);
  return {newLow, newSize, clamp(builder, loc, behind, count)};
}
