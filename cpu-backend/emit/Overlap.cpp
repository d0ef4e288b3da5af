//===- Overlap.cpp - whether views overlap, at run time -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Two ranges of memory that overlap may have no element in common: rows of one
// block that lie between those of the other one, or elements in the gaps of the
// other one's. That is asked when the kernel runs, as is whether two blocks are
// one.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Guard.h"

#include "llvm/ADT/SetVector.h"

#include <numeric>

using namespace mlir;
using namespace tilebridge::cpu;

namespace {
/// The rows of a view: how far apart they begin, and the elements from the
/// first to the last one of each.
struct RowsOf {
  OpFoldResult stride;
  int64_t length = 1;
};
} // namespace

/// One dimension of an unknown stride, or the one of the largest, steps from
/// row to row. Nothing where there is no such dimension.
static std::optional<RowsOf> rowsOf(const View &view) {
  std::optional<unsigned> outer;
  int64_t largest = 0;
  for (unsigned d = 0; d < view.shape.size(); ++d) {
    if (!mattersIn(view, d))
      continue;
    auto stride = constantOf(view.strides[d]);
    if (stride.value_or(0) < 0 || (!stride && largest == INT64_MAX))
      return std::nullopt;
    if (stride.value_or(INT64_MAX) <= largest)
      continue;
    outer = d;
    largest = stride.value_or(INT64_MAX);
  }
  if (view.rowDim >= 0 || !outer)
    return std::nullopt;
  RowsOf result{view.strides[*outer]};
  for (unsigned d = 0; d < view.shape.size(); ++d)
    if (mattersIn(view, d) && d != *outer)
      result.length += (view.shape[d] - 1) * *constantOf(view.strides[d]);
  return result.length < largest ? std::optional(result) : std::nullopt;
}

ByteRange GuardBuilder::rangeOf(const View &view) {
  int64_t bytes =
      llvm::divideCeil(view.elementType().getIntOrFloatBitWidth(), 8);
  OpFoldResult low = view.offset, high = view.offset;
  for (unsigned d = 0; d < view.shape.size(); ++d) {
    OpFoldResult last = subIndex(b, loc, view.hi[d], b.getIndexAttr(1));
    OpFoldResult first = mulIndex(b, loc, view.lo[d], view.strides[d]);
    last = mulIndex(b, loc, last, view.strides[d]);
    auto stride = constantOf(view.strides[d]);
    if (!stride) {
      Value x = toValue(b, loc, first), y = toValue(b, loc, last);
      first = arith::MinSIOp::create(b, loc, x, y).getResult();
      last = arith::MaxSIOp::create(b, loc, x, y).getResult();
    } else if (*stride < 0) {
      std::swap(first, last);
    }
    low = addIndex(b, loc, low, first);
    high = addIndex(b, loc, high, last);
  }
  high = addIndex(b, loc, high, b.getIndexAttr(1));
  Value pointer =
      memref::ExtractAlignedPointerAsIndexOp::create(b, loc, view.base);
  auto address = [&](OpFoldResult element) {
    return toValue(b, loc,
                   addIndex(b, loc, pointer,
                            mulIndex(b, loc, element, b.getIndexAttr(bytes))));
  };
  return {address(low), address(high), address(view.offset)};
}

/// The rows of one view lie between those of the other one, such as the two
/// halves of a head in a rotary embedding; null where that cannot be.
Value GuardBuilder::liesBetween(const View &a, const ByteRange &rangeA,
                                const View &other, const ByteRange &rangeB) {
  auto x = rowsOf(a), y = rowsOf(other);
  if (!x || !y || x->stride != y->stride ||
      a.elementType() != other.elementType())
    return {};
  int64_t bytes = llvm::divideCeil(a.elementType().getIntOrFloatBitWidth(), 8);
  Value length = arith::ConstantIndexOp::create(
      b, loc, bytes * std::max(x->length, y->length));
  Value stride =
      toValue(b, loc, mulIndex(b, loc, x->stride, b.getIndexAttr(bytes)));
  Value distance = arith::MaxSIOp::create(
      b, loc, arith::SubIOp::create(b, loc, rangeA.origin, rangeB.origin),
      arith::SubIOp::create(b, loc, rangeB.origin, rangeA.origin));
  Value end = arith::AddIOp::create(b, loc, distance, length);
  return arith::AndIOp::create(
      b, loc, compare(arith::CmpIPredicate::sge, distance, length),
      compare(arith::CmpIPredicate::sle, end, stride));
}

/// Elements of one view lie between those of the other one, such as real and
/// imaginary parts: all steps are multiples of a number of elements, of which
/// the distance is none. Null where that cannot be.
Value GuardBuilder::liesInGaps(const View &a, const ByteRange &rangeA,
                               const View &other, const ByteRange &rangeB) {
  if (a.elementType() != other.elementType())
    return {};
  int64_t gap = 0;
  llvm::SmallSetVector<Value, 4> unknown;
  for (const View *view : {&a, &other}) {
    if (view->rows || view->rowDim >= 0)
      return {};
    for (unsigned d = 0; d < view->shape.size(); ++d) {
      if (!mattersIn(*view, d))
        continue;
      if (auto stride = constantOf(view->strides[d]))
        gap = std::gcd(gap, *stride);
      else
        unknown.insert(cast<Value>(view->strides[d]));
    }
  }
  if (gap < 2)
    return {};
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  int64_t bytes = llvm::divideCeil(a.elementType().getIntOrFloatBitWidth(), 8);
  Value size = number(gap * bytes),
        distance = arith::SubIOp::create(b, loc, rangeA.origin, rangeB.origin);
  // As a number from 0 on.
  Value rest = arith::RemSIOp::create(b, loc, distance, size);
  rest = arith::RemSIOp::create(
      b, loc, arith::AddIOp::create(b, loc, rest, size), size);
  Value isApart = arith::AndIOp::create(
      b, loc, compare(arith::CmpIPredicate::sge, rest, number(bytes)),
      compare(arith::CmpIPredicate::sle, rest, number((gap - 1) * bytes)));
  for (Value stride : unknown) {
    Value left = arith::RemSIOp::create(b, loc, stride, number(gap));
    isApart = arith::AndIOp::create(
        b, loc, isApart, compare(arith::CmpIPredicate::eq, left, number(0)));
  }
  return isApart;
}

Value GuardBuilder::overlap(const View &a, const ByteRange &rangeA,
                            const View &other, const ByteRange &rangeB,
                            bool sameIsSafe) {
  Value unsafe = arith::AndIOp::create(
      b, loc, compare(arith::CmpIPredicate::slt, rangeA.begin, rangeB.end),
      compare(arith::CmpIPredicate::slt, rangeB.begin, rangeA.end));
  for (Value isApart : {liesBetween(a, rangeA, other, rangeB),
                        liesInGaps(a, rangeA, other, rangeB)})
    if (isApart)
      unsafe = arith::AndIOp::create(
          b, loc, unsafe,
          arith::XOrIOp::create(b, loc, isApart,
                                arith::ConstantIntOp::create(b, loc, 1, 1)));
  if (!sameIsSafe || a.shape != other.shape ||
      a.base.getType() != other.base.getType())
    return unsafe;
  Value differs =
      compare(arith::CmpIPredicate::ne, rangeA.origin, rangeB.origin);
  for (unsigned d = 0; d < a.shape.size(); ++d) {
    if (!mattersIn(a, d) || a.strides[d] == other.strides[d])
      continue;
    auto x = constantOf(a.strides[d]), y = constantOf(other.strides[d]);
    if (x && y)
      return unsafe;
    differs = arith::OrIOp::create(b, loc, differs,
                                   compare(arith::CmpIPredicate::ne,
                                           toValue(b, loc, a.strides[d]),
                                           toValue(b, loc, other.strides[d])));
  }
  return arith::AndIOp::create(b, loc, unsafe, differs);
}
