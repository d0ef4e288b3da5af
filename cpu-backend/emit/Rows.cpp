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

/// `view` with the lowest and the highest of its rows as bounds of their
/// dimension.
View FunctionEmitter::withRowBounds(const View &view, Location loc) {
  int64_t size = view.shape[view.rowDim];
  Frame own;
  own.open(rewriter);
  own.lanes = lanesAlong(size, target().vectorBits / 64);
  auto type = VectorType::get({own.lanes}, rewriter.getI64Type());
  auto splat = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        rewriter, loc,
        DenseElementsAttr::get(type, rewriter.getI64IntegerAttr(value)));
  };
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  Value top = splat(std::numeric_limits<int64_t>::max()),
        bottom = splat(std::numeric_limits<int64_t>::min());
  auto loop = scf::ForOp::create(rewriter, loc, index(0), index(size),
                                 index(own.lanes), ValueRange{top, bottom});
  own.levels.back()->before = loop;
  auto level = std::make_unique<Level>();
  level->block = loop.getBody();
  own.levels.push_back(std::move(level));
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToEnd(loop.getBody());
    Frame *outer = std::exchange(frame, &own);
    Index row{loop.getInductionVar(), own.lanes > 1, 1, -1};
    Value low = toLanes(evaluate(view.rows, row), own.lanes), high = low;
    Value mask = view.rowMask ? toLanes(evaluate(view.rowMask, row), own.lanes)
                              : Value();
    frame = outer;
    if (mask) {
      low = arith::SelectOp::create(rewriter, loc, mask, low, top);
      high = arith::SelectOp::create(rewriter, loc, mask, high, bottom);
    }
    if (low)
      scf::YieldOp::create(
          rewriter, loc,
          ValueRange{arith::MinSIOp::create(rewriter, loc, low,
                                            loop.getRegionIterArg(0)),
                     arith::MaxSIOp::create(rewriter, loc, high,
                                            loop.getRegionIterArg(1))});
  }
  auto reduce = [&](vector::CombiningKind kind, Value lanes) -> Value {
    return arith::IndexCastOp::create(
        rewriter, loc, rewriter.getIndexType(),
        vector::ReductionOp::create(rewriter, loc, kind, lanes));
  };
  Value low = reduce(vector::CombiningKind::MINSI, loop.getResult(0)),
        high = reduce(vector::CombiningKind::MAXSI, loop.getResult(1));
  // Where all rows are masked off, the first one stands for them.
  Value zero = index(0);
  Value isAny = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sle,
                                      low, high);
  View result = view;
  result.lo[view.rowDim] =
      arith::SelectOp::create(rewriter, loc, isAny, low, zero).getResult();
  high = arith::SelectOp::create(rewriter, loc, isAny, high, zero);
  result.hi[view.rowDim] =
      arith::AddIOp::create(rewriter, loc, high, index(1)).getResult();
  return result;
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
  return gatherLanes(view.base, base, offsets, mask, other, loc);
}
