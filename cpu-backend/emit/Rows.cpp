//===- Rows.cpp - rows of memory that a tensor chooses --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/FunctionEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// The number of the row that `index` of the dimension `view.rowDim` stands
/// for. One that is masked off is not looked at, and may be anything; rows of
/// memory that is there are faster to mask.
Value FunctionEmitter::rowNumber(const View &view, const Index &index,
                                 Location loc) {
  Value number = evaluate(view.rows, index);
  if (!number) // The error is found again where the row is read.
    return arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value mask = view.rowMask ? evaluate(view.rowMask, index) : Value();
  if (mask)
    number = arith::SelectOp::create(rewriter, loc, mask, number,
                                     zeroOf(number.getType(), loc));
  return arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(),
                                    number);
}

/// What a loop over `size` indices, some lanes at a time, carries in the end,
/// its lanes combined by `kinds`: `body` gives what it carries on, from what it
/// has, all vectors of i64. Empty after an error, for which `body` gives none.
SmallVector<Value> FunctionEmitter::reduceIndices(
    int64_t size, ArrayRef<vector::CombiningKind> kinds, ArrayRef<int64_t> init,
    Location loc,
    llvm::function_ref<SmallVector<Value>(const Index &, ValueRange)> body) {
  Frame own;
  own.open(rewriter);
  own.lanes = lanesAlong(size, target().vectorBits / 64);
  auto type = VectorType::get({own.lanes}, rewriter.getI64Type());
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  auto begin = llvm::map_to_vector(init, [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        rewriter, loc,
        DenseElementsAttr::get(type, rewriter.getI64IntegerAttr(value)));
  });
  auto loop = scf::ForOp::create(rewriter, loc, index(0), index(size),
                                 index(own.lanes), begin);
  own.levels.back()->before = loop;
  auto level = std::make_unique<Level>();
  level->block = loop.getBody();
  own.levels.push_back(std::move(level));
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToEnd(loop.getBody());
    Frame *outer = std::exchange(frame, &own);
    SmallVector<Value> next =
        body(Index{loop.getInductionVar(), own.lanes > 1, 1, -1},
             loop.getRegionIterArgs());
    frame = outer;
    if (next.empty())
      return {};
    scf::YieldOp::create(rewriter, loc, next);
  }
  SmallVector<Value> results;
  for (auto [kind, lanes] : llvm::zip_equal(kinds, loop.getResults()))
    results.push_back(arith::IndexCastOp::create(
        rewriter, loc, rewriter.getIndexType(),
        vector::ReductionOp::create(rewriter, loc, kind, lanes)));
  return results;
}

/// `view` with the lowest and the highest of its rows as bounds of their
/// dimension.
View FunctionEmitter::withRowBounds(const View &view, Location loc) {
  View result = view;
  SmallVector<Value> bounds = reduceIndices(
      view.shape[view.rowDim],
      {vector::CombiningKind::MINSI, vector::CombiningKind::MAXSI},
      {std::numeric_limits<int64_t>::max(),
       std::numeric_limits<int64_t>::min()},
      loc, [&](const Index &row, ValueRange carried) -> SmallVector<Value> {
        int64_t lanes = frame->lanes;
        Value low = toLanes(evaluate(view.rows, row), lanes), high = low;
        Value mask = view.rowMask ? toLanes(evaluate(view.rowMask, row), lanes)
                                  : Value();
        if (!low || (view.rowMask && !mask))
          return {};
        low = arith::MinSIOp::create(rewriter, loc, low, carried[0]);
        high = arith::MaxSIOp::create(rewriter, loc, high, carried[1]);
        if (mask) {
          low = arith::SelectOp::create(rewriter, loc, mask, low, carried[0]);
          high = arith::SelectOp::create(rewriter, loc, mask, high, carried[1]);
        }
        return {low, high};
      });
  if (bounds.empty())
    return result;
  auto [low, high] = std::pair(bounds[0], bounds[1]);
  // Where all rows are masked off, the first one stands for them.
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0),
        one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value isAny = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sle,
                                      low, high);
  result.lo[view.rowDim] =
      arith::SelectOp::create(rewriter, loc, isAny, low, zero).getResult();
  high = arith::SelectOp::create(rewriter, loc, isAny, high, zero);
  result.hi[view.rowDim] =
      arith::AddIOp::create(rewriter, loc, high, one).getResult();
  return result;
}

/// The number behind the last element of a mask of rank 1 that is true; 0 where
/// none is. Null after an error.
Value FunctionEmitter::behindLastTrue(Value mask, Location loc) {
  int64_t size = cast<RankedTensorType>(mask.getType()).getDimSize(0);
  SmallVector<Value> found = reduceIndices(
      size, vector::CombiningKind::MAXSI, int64_t(0), loc,
      [&](const Index &row, ValueRange carried) -> SmallVector<Value> {
        int64_t lanes = frame->lanes;
        Value isTrue = toLanes(evaluate(mask, row), lanes);
        if (!isTrue)
          return {};
        auto type = cast<VectorType>(carried[0].getType());
        auto numbers = llvm::to_vector(llvm::seq<int64_t>(1, lanes + 1));
        Value steps = arith::ConstantOp::create(
                  rewriter, loc,
                  DenseElementsAttr::get(type, ArrayRef(numbers))),
              at = arith::IndexCastOp::create(rewriter, loc,
                                              rewriter.getI64Type(), row.base);
        Value behind = arith::AddIOp::create(
            rewriter, loc, steps,
            vector::BroadcastOp::create(rewriter, loc, type, at));
        behind = arith::MaxSIOp::create(rewriter, loc, behind, carried[0]);
        return {
            arith::SelectOp::create(rewriter, loc, isTrue, behind, carried[0])};
      });
  return found.empty() ? Value() : found.front();
}

/// Rows may lie anywhere: the CPU does not foresee the next one, and would wait
/// for the first lines of each. While one row is read, one behind it is asked
/// for: the next, or, of short rows, one at a distance that takes as long. Into
/// the second cache, where more requests are open than from the first; but CPUs
/// with two multiply-adds a cycle have so much under way that they reach the
/// next rows themselves, and copy rows from the last cache up to 1.2 times as
/// slowly if these first come to the second one only. CPUs drop some requests
/// while many are open, so that long rows from memory are asked for twice.
void FunctionEmitter::prefetchNextRow(const View &view, ArrayRef<Index> indices,
                                      unsigned laneDim, Location loc) {
  if (view.rowDim < 0 || constantOf(view.strides[laneDim]) != 1)
    return;
  Indices next(indices);
  Index &row = next[view.rowDim];
  if (!row.base || row.level == 0 || row.level > frame->vecLevel ||
      view.shape[view.rowDim] == 1)
    return;
  constexpr int64_t distanceBytes = 2048, longRowBytes = 1024;
  int64_t bits = view.elementType().getIntOrFloatBitWidth();
  int64_t rowBytes = std::max<int64_t>(view.shape[laneDim] * bits / 8, 1);
  int64_t distance = std::max<int64_t>(distanceBytes / rowBytes, 1);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  auto large = frame->largeRows.find(&view);
  // Another address for each short row costs more where rows are in a cache.
  bool asksTwice = large != frame->largeRows.end() && rowBytes >= longRowBytes;
  auto &numbers = frame->levels[row.level]->nextRows[row.base];
  if (numbers.empty()) {
    OpBuilder::InsertionGuard guard(rewriter);
    moveTo(row.level);
    Value last = constant(view.shape[view.rowDim] - 1);
    auto ask = [&](int64_t ahead) {
      Value number =
          arith::AddIOp::create(rewriter, loc, row.base, constant(ahead));
      numbers.push_back(arith::MinSIOp::create(rewriter, loc, number, last));
    };
    ask(distance);
    if (asksTwice)
      ask(2 * distance + 1);
  }
  SmallVector<Value, 2> places;
  for (Value number : llvm::to_vector(numbers)) {
    row.base = number;
    Value at = address(view, next, laneDim, loc);
    places.push_back(
        arith::AddIOp::create(rewriter, loc, at, indices[laneDim].base));
  }
  Value zero = constant(0);
  NearestCache cache =
      target().hasTwoFmas ? NearestCache::First : NearestCache::Second;
  prefetchLater(rewriter, loc, view.base, places.front(), {zero, {}, cache},
                frame->lanes);
  if (asksTwice)
    prefetchLater(rewriter, loc, view.base, places.back(),
                  {zero, large->second}, frame->lanes);
}

/// Each lane has a row of its own.
Value FunctionEmitter::gatherFromRows(const View &view, ArrayRef<Index> indices,
                                      Location loc) {
  Indices row = {indices[view.rowDim]};
  Value rows = evaluate(view.rows, row);
  Value mask = view.rowMask ? evaluate(view.rowMask, row) : Value();
  Value other =
      view.pad ? mapScalar(view.pad) : zeroOf(view.elementType(), loc);
  if (!rows || !other || (view.rowMask && !mask))
    return {};
  Indices at(indices);
  at[view.rowDim] = Index();
  at[view.rowDim].step = 1;
  Value inside = inBox(view, at, 0, loc);
  Value base = address(view, at, view.rowDim, loc);
  auto type = VectorType::get({frame->lanes}, rewriter.getI64Type());
  Value stride = arith::IndexCastOp::create(
      rewriter, loc, rewriter.getI64Type(),
      toValue(rewriter, loc, view.strides[view.rowDim]));
  Value offsets = arith::MulIOp::create(
      rewriter, loc, toLanes(rows, frame->lanes),
      vector::BroadcastOp::create(rewriter, loc, type, stride));
  if (inside && mask)
    mask = arith::AndIOp::create(rewriter, loc, toLanes(mask, frame->lanes),
                                 toLanes(inside, frame->lanes));
  else if (inside)
    mask = inside;
  return gatherLanes(view.base, base, offsets, mask, other, view.rows, loc);
}
