//===- Box.cpp - which elements of a view exist ---------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/FunctionEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Whether the index of every dimension without lanes is inside the box; null:
/// always. Dimensions whose index belongs to a level below `minLevel` are left
/// out: others have seen to them.
Value FunctionEmitter::inBox(const View &view, ArrayRef<Index> indices,
                             unsigned minLevel, Location loc) {
  Value result;
  auto both = [&](Value condition) {
    result = result ? arith::AndIOp::create(rewriter, loc, result, condition)
                    : condition;
  };
  for (auto [d, index] : llvm::enumerate(indices)) {
    bool isChecked = index.level < minLevel && !index.isInner;
    if (index.step != 0 || isChecked || view.isFull(d))
      continue;
    // The index of a loop that is not open yet: its accesses see to it.
    if (!index.base && (index.dim >= 0 || index.groupDim >= 0) &&
        view.shape[d] != 1)
      continue;
    OpFoldResult at = index.begin(rewriter);
    auto low = constantOf(view.lo[d]);
    if (!low || *low > 0)
      both(arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sge,
                                 toValue(rewriter, loc, at),
                                 toValue(rewriter, loc, view.lo[d])));
    auto high = constantOf(view.hi[d]);
    if (!high || *high < view.shape[d])
      both(arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                                 toValue(rewriter, loc, at),
                                 toValue(rewriter, loc, view.hi[d])));
  }
  if (!view.rowMask)
    return result;
  Index row = indices[view.rowDim];
  bool isOpen = row.base || view.shape[view.rowDim] == 1;
  if (row.step != 0 || (row.level < minLevel && !row.isInner) || !isOpen)
    return result;
  if (!row.base) {
    OpBuilder::InsertionGuard guard(rewriter);
    moveTo(0);
    row.base = arith::ConstantIndexOp::create(rewriter, loc, 0);
  }
  if (Value mask = evaluate(view.rowMask, row))
    both(mask);
  return result;
}

/// Where the box ends along `laneDim` in the row that the other indices choose.
Value FunctionEmitter::rowLimit(const View &view, ArrayRef<Index> indices,
                                unsigned laneDim, Location loc) {
  Indices row(indices);
  row[laneDim] = Index();
  unsigned level = levelOf(row);
  auto &memo = frame->levels[level]->limits[view.identity.get()];
  for (auto &[key, value] : memo)
    if (key == row)
      return value;
  OpBuilder::InsertionGuard guard(rewriter);
  moveTo(level);
  Value limit = toValue(rewriter, loc, view.hi[laneDim]);
  Indices others(indices);
  others[laneDim].step = 1;
  if (Value inside = inBox(view, others, 0, loc)) {
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    limit = arith::SelectOp::create(rewriter, loc, inside, limit, zero);
  }
  memo.push_back({row, limit});
  return limit;
}

/// Which lanes are inside the box.
FunctionEmitter::LaneMask FunctionEmitter::laneMask(const View &view,
                                                    ArrayRef<Index> indices,
                                                    unsigned laneDim,
                                                    Location loc) {
  if (view.isWhole())
    return {frame->edgeMask};
  Value limit = rowLimit(view, indices, laneDim, loc);
  const Index &index = indices[laneDim];
  auto type = VectorType::get({frame->lanes}, rewriter.getI1Type());
  auto below = [&](Value bound) -> Value {
    if (index.step < 0) {
      // Those behind the first lane that is below.
      Value above = arith::SubIOp::create(rewriter, loc, index.base, bound);
      Value step = arith::ConstantIndexOp::create(rewriter, loc, -index.step);
      Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
      Value first = arith::AddIOp::create(
          rewriter, loc,
          arith::FloorDivSIOp::create(rewriter, loc, above, step), one);
      Value before =
          vector::CreateMaskOp::create(rewriter, loc, type, ValueRange{first});
      return arith::XOrIOp::create(rewriter, loc, before,
                                   allLanes(rewriter, loc, frame->lanes));
    }
    Value left = arith::SubIOp::create(rewriter, loc, bound, index.base);
    if (index.step != 1) {
      Value step = arith::ConstantIndexOp::create(rewriter, loc, index.step);
      left = arith::CeilDivSIOp::create(rewriter, loc, left, step);
    }
    return vector::CreateMaskOp::create(rewriter, loc, type, ValueRange{left});
  };
  Value mask = below(limit);
  if (frame->edgeMask)
    mask = arith::AndIOp::create(rewriter, loc, mask, frame->edgeMask);
  auto low = constantOf(view.lo[laneDim]);
  Value isAny = isAnyInRow(view, laneDim, limit, loc);
  if (low && *low <= 0)
    return {mask, isAny};
  Value begin = toValue(rewriter, loc, view.lo[laneDim]);
  Value inside = arith::XOrIOp::create(rewriter, loc, below(begin),
                                       allLanes(rewriter, loc, frame->lanes));
  return {arith::AndIOp::create(rewriter, loc, mask, inside), isAny};
}

/// A mask for each lane, or one for all of them.
FunctionEmitter::LaneMask FunctionEmitter::asLaneMask(Value mask,
                                                      Location loc) {
  Value lanes = toLanes(mask, frame->lanes);
  if (isa<VectorType>(mask.getType()))
    mask = vector::ReductionOp::create(rewriter, loc, vector::CombiningKind::OR,
                                       mask);
  return {lanes, mask};
}

/// Whether something of the row that ends at `limit` is in the box; null: it
/// is. Before all loops where it is the same for all rows.
Value FunctionEmitter::isAnyInRow(const View &view, unsigned laneDim,
                                  Value limit, Location loc) {
  auto low = constantOf(view.lo[laneDim]);
  bool hasLow = !low || *low > 0;
  OpBuilder::InsertionGuard guard(rewriter);
  if (!limit.getDefiningOp<arith::SelectOp>() ||
      view.hi[laneDim] == OpFoldResult(limit)) {
    if (constantOf(view.hi[laneDim]) && low)
      return {};
    moveTo(0);
    limit = toValue(rewriter, loc, view.hi[laneDim]);
  }
  Value begin = toValue(rewriter, loc,
                        hasLow ? view.lo[laneDim] : rewriter.getIndexAttr(0));
  return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt, begin,
                               limit);
}

/// `place`, or the argument's first element where `isAny` (null: true) says
/// that no lane is on. A mask suppresses the fault of a place without memory,
/// but that takes CPUs a hundred cycles and more, and what masks leave out is
/// often such a place: the row of a token that another shard of the vocabulary
/// has.
Value FunctionEmitter::placeIfAny(Value place, Value isAny, Location loc) {
  if (!isAny)
    return place;
  Value first = arith::ConstantIndexOp::create(rewriter, loc, 0);
  return arith::SelectOp::create(rewriter, loc, isAny, place, first);
}
