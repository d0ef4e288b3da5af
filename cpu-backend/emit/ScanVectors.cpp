//===- ScanVectors.cpp - scans within vectors ----------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A vector is scanned in log2(lanes) steps, each of which combines every lane
// with the one 1, 2, 4, ... to its left; of a scan that is reversed, to its
// right.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/ScanVectors.h"

#include "cpu-backend/emit/Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

TypedAttr tilebridge::cpu::neutralOf(linalg_ext::ScanOp op) {
  Block &region = op.getCombiner().front();
  Builder b(op.getContext());
  auto ops = region.without_terminator();
  if (region.getNumArguments() != 2 || !llvm::hasSingleElement(ops))
    return {};
  Operation *only = &*ops.begin();
  if (only->getNumOperands() != 2 || only->getNumResults() != 1 ||
      !llvm::equal(only->getOperands(), region.getArguments()) ||
      region.getTerminator()->getOperand(0) != only->getResult(0))
    return {};
  Type type = only->getResult(0).getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  // Not 0.0, which makes 0.0 of -0.0.
  if (isa<arith::AddFOp>(only))
    return b.getFloatAttr(type, -0.0);
  if (isa<arith::MulFOp>(only))
    return b.getFloatAttr(type, 1.0);
  if (isa<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(only))
    return b.getIntegerAttr(type, 0);
  if (isa<arith::MulIOp>(only))
    return b.getIntegerAttr(type, APInt(bits, 1));
  if (isa<arith::AndIOp, arith::MinUIOp>(only))
    return b.getIntegerAttr(type, APInt::getAllOnes(bits));
  if (isa<arith::MaxSIOp>(only))
    return b.getIntegerAttr(type, APInt::getSignedMinValue(bits));
  if (isa<arith::MinSIOp>(only))
    return b.getIntegerAttr(type, APInt::getSignedMaxValue(bits));
  return {};
}

SmallVector<Value> ScanVectors::combine(ArrayRef<Value> before,
                                        ArrayRef<Value> values, int64_t lanes) {
  SmallVector<Value> arguments(before);
  arguments.append(values.begin(), values.end());
  return inlineRegion(emitter, op.getCombiner().front(), arguments, lanes);
}

SmallVector<Value> ScanVectors::lastLanes(ArrayRef<Value> values, int64_t lanes,
                                          int64_t apart, int64_t width) {
  SmallVector<int64_t> last;
  for (int64_t i = 0; i < (width ? width : lanes); ++i)
    last.push_back((op.getReverse() ? 0 : lanes - apart) + i % apart);
  SmallVector<Value> everywhere;
  for (Value value : values)
    everywhere.push_back(vector::ShuffleOp::create(b, loc, value, value, last));
  return everywhere;
}

/// What LLVM takes for a value of which each lane counts. It would put anything
/// in lanes that a mask leaves out, and arithmetic with what looks like tiny
/// numbers takes a hundred cycles.
static Value keepAllLanes(OpBuilder &b, Location loc, Value lanes) {
  if (!isa<Float32Type, Float64Type>(getElementTypeOrSelf(lanes)))
    return lanes;
  return LLVM::CallIntrinsicOp::create(b, loc, lanes.getType(),
                                       b.getStringAttr("llvm.arithmetic.fence"),
                                       ValueRange{lanes})
      .getResults();
}

/// Lanes without a neighbour that far keep what they
/// have: by a neutral element in place of one, or else by a mask.
SmallVector<Value> ScanVectors::scan(SmallVector<Value> values, int64_t lanes,
                                     int64_t apart, int64_t line) {
  Value none;
  if (TypedAttr attr = neutralOf(op))
    none = arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(cast<VectorType>(values.front().getType()),
                               attr));
  line = line ? std::min(line, lanes) : lanes;
  for (int64_t distance = apart; distance < line; distance *= 2) {
    SmallVector<int64_t> lane;
    SmallVector<bool> has;
    for (int64_t i = 0; i < lanes; ++i) {
      int64_t in = i % line,
              from = op.getReverse() ? i + distance : i - distance;
      has.push_back(op.getReverse() ? in + distance < line : in >= distance);
      // Neutral ones from the lanes that make it a rotation of both vectors.
      int64_t missing = none ? lanes + (from + lanes) % lanes : i;
      lane.push_back(has.back() ? from : missing);
    }
    SmallVector<Value> left;
    for (Value value : values) {
      left.push_back(
          vector::ShuffleOp::create(b, loc, value, none ? none : value, lane));
      if (!none)
        left.back() = keepAllLanes(b, loc, left.back());
    }
    SmallVector<Value> sums = combine(left, values, lanes);
    if (none) {
      values = sums;
      continue;
    }
    auto maskType = VectorType::get(lanes, b.getI1Type());
    Value mask = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(maskType, has));
    for (auto [value, sum] : llvm::zip(values, sums))
      value = arith::SelectOp::create(b, loc, mask, sum, value);
  }
  return values;
}
