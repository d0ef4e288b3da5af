//===- NeutralTails.cpp - sums of rows that end before their blocks -------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A row of 781 elements in a block of 1024: from the row's end on a masked load
// gives one number, such as zero or -inf. Where a sum takes just zeros, or what
// is zero for them, such as their squares or exponentials, or a maximum takes
// one number again and again, its loop ends with the row. So does what the same
// loop leaves in scratch memory, if nobody sees it behind the row's end. Rows
// that are added up one above the other end in the same way: 8 rows of a
// picture in a block of 1024, or a softmax along columns.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Combiners.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/Wanted.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// What `tensor` is at `at` where the lanes, or the rows, are at `tail.begin`
/// or behind it, and so behind the ends of rows, or of the columns.
Outside NestEmitter::valueOutside(Value tensor, ArrayRef<Index> at,
                                  const RowTail &tail, int &budget) {
  if (--budget < 0)
    return {};
  if (Attribute attr = constantAttr(tensor))
    return Outside::same(attr);
  // Of columns each may be something else, which is the same in all rows.
  if (llvm::all_of(at, [&](const Index &index) {
        bool isOther =
            index.dim >= 0 && index.dim != tail.dim && index.groupDim < 0;
        return index.step == 0 || isOther;
      }))
    return Outside::same();
  Operation *op = tensor.getDefiningOp();
  if (!op || !isa<RankedTensorType>(tensor.getType()))
    return {};
  // What a load gives, whether it is read where it lies or was copied.
  if (auto load = fe.loads.find(tensor); load != fe.loads.end()) {
    const View &view = *load->second;
    if (view.rowDim >= 0 || view.isBool)
      return {};
    for (auto [d, index] : llvm::enumerate(at)) {
      if (index.dim != tail.dim || index.step != 1 || view.isFull(d))
        continue;
      Value end = tail.dim == frame.vecDim ? fe.rowLimit(view, at, d, loc)
                                           : dyn_cast<Value>(view.hi[d]);
      if (!llvm::is_contained(tail.ends, end))
        continue;
      if (view.other)
        return valueOutside(view.other, at, tail, budget);
      return Outside::same(view.pad ? constantAttr(view.pad)
                                    : b.getZeroAttr(view.elementType()));
    }
    return {};
  }
  if (tail.dim == frame.vecDim &&
      fe.isFalseFrom(tensor, at, tail.begin, nest.shape[frame.vecDim]))
    return Outside::same(b.getBoolAttr(false));
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return Outside::same(constantAttr(splat.getInput()));
  if (isa<linalg::BroadcastOp, linalg::TransposeOp>(op)) {
    auto from = operandIndices(op->getOpOperand(0), at, nullptr);
    return from ? valueOutside(op->getOperand(0), *from, tail, budget)
                : Outside();
  }
  if (!isElementwise(op) || op->getNumResults() != 1)
    return {};
  auto generic = dyn_cast<linalg::GenericOp>(op);
  SmallVector<Outside> arguments;
  for (OpOperand &operand : op->getOpOperands()) {
    Outside outside;
    if (!generic || !generic.getMatchingBlockArgument(&operand).use_empty())
      if (auto from = operandIndices(operand, at, nullptr))
        outside = valueOutside(operand.get(), *from, tail, budget);
    arguments.push_back(outside);
  }
  return outsideOf(op, arguments);
}

/// From where on one lane is as good as all, if there is such a place: where
/// the last row ends that is read; a row that need not be there may end where
/// it does if it is. Of rows that are computed at once that comes first: it is
/// the same for all of them.
Value NestEmitter::neutralFrom(ArrayRef<Value> limits) {
  // A row of weights is there for each row of a matrix: both end at one place.
  llvm::SmallSetVector<Value, 2> ifThere;
  for (Value limit : limits) {
    auto either = limit.getDefiningOp<arith::SelectOp>();
    bool mayBeMissing =
        either && getConstantIntValue(either.getFalseValue()) == 0;
    ifThere.insert(mayBeMissing ? either.getTrueValue() : limit);
  }
  SmallVector<Value, 2> places;
  if (limits.size() == 1)
    places.push_back(limits.front());
  if (Value end = ifThere.front();
      ifThere.size() == 1 && !llvm::is_contained(places, end))
    places.insert(rowsAtOnce.empty() ? places.end() : places.begin(), end);
  for (Value place : places) {
    RowTail tail{frame.vecDim, SmallVector<Value, 3>(limits), place};
    tail.ends.push_back(place);
    if (isNeutral(tail))
      return place;
  }
  return {};
}

/// From where on one lane is as good as all, in all rows that are computed at
/// once.
Value NestEmitter::neutralFromHere() {
  Value from;
  auto result = forRowsAtOnce([&]() -> LogicalResult {
    SmallVector<OpFoldResult> lows;
    SmallVector<Value> limits;
    collectRowBounds(lows, limits);
    Value here = limits.empty() ? Value() : neutralFrom(limits);
    if (!here || (from && from != here))
      return failure();
    from = here;
    return success();
  });
  return succeeded(result) ? from : Value();
}

/// In the row's tail, one of the lanes is as good as all: for what the nest
/// sums up, and since nobody sees what else it computes.
bool NestEmitter::isNeutral(const RowTail &tail) {
  if (!vecReduced || nest.reduceDims.size() != 1)
    return false;
  Indices at = indices;
  at[frame.vecDim] = {Value(), 1, static_cast<unsigned>(frame.levels.size()),
                      frame.vecDim};
  return llvm::all_of(nest.outputs, [&](const NestOutput &output) {
    return output.reduce ? staysInTail(output.reduce, at, tail)
                         : isUnseenInTail(output, tail);
  });
}

/// Nobody sees in the tail what `output` leaves in scratch memory. What the
/// reductions here make of it is part of the same loop.
bool NestEmitter::isUnseenInTail(const NestOutput &output,
                                 const RowTail &tail) {
  if (output.isStore || output.source)
    return false;
  SmallVector<Operation *> reductions;
  for (const NestOutput &other : nest.outputs)
    if (other.reduce)
      reductions.push_back(other.reduce);
  auto wanted =
      fe.wantedHere(output.tensor, tail.dim, WantedBy::Ends, reductions);
  Value end = wanted ? dyn_cast<Value>(wanted->second) : Value();
  return end && constantOf(wanted->first) == 0 &&
         llvm::is_contained(tail.ends, end);
}

/// Once what is in the tail was combined by `reduction`, more of it changes
/// nothing.
bool NestEmitter::staysInTail(Operation *reduction, ArrayRef<Index> at,
                              const RowTail &tail) {
  auto reduce = dyn_cast<linalg::ReduceOp>(reduction);
  Operation *combiner = reduce && reduce.getInputs().size() == 1
                            ? combinerOf(reduce.getCombiner().front())
                            : nullptr;
  if (!combiner)
    return false;
  int budget = 64;
  Outside outside = valueOutside(reduce.getInputs().front(), at, tail, budget);
  return outside.isSame && staysWhenCombined(combiner, outside.value);
}

/// Where the loop over the rows `d`, which the nest adds up one above the
/// other, may end: one behind those that are read. Null: with the block.
Value NestEmitter::endOfRows(unsigned d) {
  if (!reducing || isWhole() || squares ||
      !llvm::is_contained(nest.reduceDims, static_cast<int64_t>(d)))
    return {};
  Indices at = indices;
  for (auto [dim, index] : llvm::enumerate(at))
    if (!index.base)
      index = {Value(), 0, 0, static_cast<int>(dim)};
  at[d] = {Value(), 1, static_cast<unsigned>(frame.levels.size()),
           static_cast<int>(d)};
  llvm::SmallSetVector<Value, 2> ends;
  forEachAccess(at, nullptr, [&](const View &view, ArrayRef<Index> at, bool) {
    for (auto [dim, index] : llvm::enumerate(at))
      if (index.dim == static_cast<int>(d) && index.step == 1 &&
          !view.isFull(dim))
        if (auto end = dyn_cast<Value>(view.hi[dim]))
          ends.insert(end);
  });
  for (Value end : ends) {
    RowTail tail = {static_cast<int>(d), {end}, end};
    if (!llvm::all_of(nest.outputs, [&](const NestOutput &output) {
          return output.reduce ? staysInTail(output.reduce, at, tail)
                               : isUnseenInTail(output, tail);
        }))
      continue;
    // The first of them is combined, as that of a row is.
    end = arith::MaxSIOp::create(b, loc, end, constant(0));
    return arith::AddIOp::create(b, loc, end, constant(1));
  }
  return {};
}
