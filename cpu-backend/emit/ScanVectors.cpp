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

#include "llvm/ADT/SetVector.h"

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

bool tilebridge::cpu::isChoice(linalg_ext::ScanOp op) {
  Block &region = op.getCombiner().front();
  unsigned count = op.getInputs().size();
  for (unsigned i = 0; i < count; ++i) {
    Value before = region.getArgument(i), value = region.getArgument(count + i);
    Operation *def = region.getTerminator()->getOperand(i).getDefiningOp();
    if (auto select = dyn_cast_if_present<arith::SelectOp>(def)) {
      Value chosen = select.getTrueValue(), other = select.getFalseValue();
      if ((chosen == before && other == value) ||
          (chosen == value && other == before))
        continue;
      return false;
    }
    if (!isa_and_present<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
                         arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp,
                         arith::MaxUIOp, arith::MinUIOp>(def) ||
        !llvm::is_contained(def->getOperands(), before) ||
        !llvm::is_contained(def->getOperands(), value))
      return false;
  }
  return true;
}

SmallVector<Value> ScanVectors::combine(ArrayRef<Value> before,
                                        ArrayRef<Value> values, int64_t lanes) {
  SmallVector<Value> arguments(before);
  arguments.append(values.begin(), values.end());
  return inlineRegion(emitter, op.getCombiner().front(), arguments, lanes);
}

Value ScanVectors::areAll(ArrayRef<Value> combined, ArrayRef<Value> operands,
                          bool isBefore) {
  Block &region = op.getCombiner().front();
  unsigned count = op.getInputs().size();
  llvm::SetVector<Value> conditions, others;
  for (auto [i, result] : llvm::enumerate(combined)) {
    Value original = region.getTerminator()->getOperand(i);
    if (auto select = original.getDefiningOp<arith::SelectOp>()) {
      bool isTrue =
          select.getTrueValue() == region.getArgument(isBefore ? i : count + i);
      Value condition = result.getDefiningOp<arith::SelectOp>().getCondition();
      (isTrue ? conditions : others).insert(condition);
      continue;
    }
    // Their bits, of floats that are not numbers as well.
    auto type = cast<VectorType>(result.getType());
    Type bits = type.clone(b.getIntegerType(type.getElementTypeBitWidth()));
    auto bitsOf = [&](Value value) -> Value {
      return value.getType() == bits
                 ? value
                 : arith::BitcastOp::create(b, loc, bits, value).getResult();
    };
    conditions.insert(arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::eq, bitsOf(result), bitsOf(operands[i])));
  }
  auto all = [&](vector::CombiningKind kind, ArrayRef<Value> parts) -> Value {
    Value joined = parts.front();
    for (Value part : parts.drop_front())
      joined = kind == vector::CombiningKind::AND
                   ? arith::AndIOp::create(b, loc, joined, part).getResult()
                   : arith::OrIOp::create(b, loc, joined, part).getResult();
    return vector::ReductionOp::create(b, loc, kind, joined);
  };
  Value result;
  if (!conditions.empty())
    result = all(vector::CombiningKind::AND, conditions.getArrayRef());
  if (!others.empty()) {
    Value none = arith::XOrIOp::create(
        b, loc, all(vector::CombiningKind::OR, others.getArrayRef()),
        arith::ConstantIntOp::create(b, loc, 1, 1));
    result =
        result ? arith::AndIOp::create(b, loc, result, none).getResult() : none;
  }
  return result;
}

SmallVector<Value> ScanVectors::neighbours(ArrayRef<Value> before,
                                           ArrayRef<Value> values,
                                           int64_t lanes, int64_t apart) {
  SmallVector<int64_t> lane;
  for (int64_t i = 0; i < lanes; ++i) {
    // Of both vectors, those of the one that is before first.
    int64_t from = op.getReverse()
                       ? (i + apart < lanes ? lanes : 0) + (i + apart) % lanes
                       : lanes + i - apart;
    lane.push_back(from);
  }
  SmallVector<Value> found;
  for (auto [first, second] : llvm::zip_equal(before, values))
    found.push_back(vector::ShuffleOp::create(b, loc, first, second, lane));
  return found;
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
/// have: by a neutral element in place of one, by themselves where they are
/// chosen from, or else by a mask.
SmallVector<Value> ScanVectors::scan(SmallVector<Value> values, int64_t lanes,
                                     int64_t apart, int64_t line,
                                     int64_t first) {
  bool choice = isChoice(op);
  Value none;
  if (TypedAttr attr = neutralOf(op))
    none = arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(cast<VectorType>(values.front().getType()),
                               attr));
  line = line ? std::min(line, lanes) : lanes;
  for (int64_t distance = std::max(apart, first); distance < line;
       distance *= 2) {
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
      if (!none && !choice)
        left.back() = keepAllLanes(b, loc, left.back());
    }
    SmallVector<Value> sums = combine(left, values, lanes);
    if (none || choice) {
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
