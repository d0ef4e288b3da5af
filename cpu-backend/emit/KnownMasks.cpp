//===- KnownMasks.cpp - masks that are true inside of every box -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// `tl.where(i < n, x, 0)` often repeats the mask of a load, or the bounds of a
// descriptor. Lanes that are inside of the load's box are below the same n:
// there the comparison is not computed. And lanes behind the box are not below.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/MaskTails.h"
#include "cpu-backend/emit/UniformTensors.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge::cpu;

namespace {
/// What a tensor of integers is along the lanes: `start` (null: 0), plus the
/// lane's index if `isRange`.
struct Ramp {
  Value start;
  bool isRange = false;
};
} // namespace

/// The operand of `op` that operand `i` of its only operation is; null where
/// that is a value from outside, given by `scalar`.
static OpOperand *operandOf(Operation *op, Operation *only, unsigned i,
                            Value &scalar) {
  if (only == op)
    return &op->getOpOperand(i);
  auto argument = dyn_cast<BlockArgument>(only->getOperand(i));
  if (argument && argument.getOwner()->getParentOp() == op)
    return &op->getOpOperand(argument.getArgNumber());
  scalar = only->getOperand(i);
  return nullptr;
}

/// `tensor` at `indices` as a ramp. `budget` bounds the search.
static std::optional<Ramp> rampOf(Value tensor, ArrayRef<Index> indices,
                                  int vecDim, int &budget) {
  if (--budget < 0)
    return std::nullopt;
  if (!isa<RankedTensorType>(tensor.getType()))
    return Ramp{tensor};
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return Ramp{splat.getInput()};
  if (!isElementwise(op)) {
    // Of the sums of a range, or of what is loaded, nothing is known.
    if (!keepsElements(op) && !isa<tensor::ExtractSliceOp>(op))
      return std::nullopt;
    auto from = operandIndices(op->getOpOperand(0), indices, nullptr);
    return from ? rampOf(op->getOperand(0), *from, vecDim, budget)
                : std::nullopt;
  }
  // The index itself, in the type of the tensor.
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    Value yielded = generic.getBody()->getTerminator()->getOperand(0);
    if (auto cast = yielded.getDefiningOp<arith::IndexCastOp>())
      yielded = cast.getIn();
    if (auto index = yielded.getDefiningOp<linalg::IndexOp>()) {
      const Index &at = indices[index.getDim()];
      if (generic.getNumResults() != 1 || at.step != 1 || at.dim != vecDim)
        return std::nullopt;
      return Ramp{Value(), true};
    }
  }
  Operation *only = onlyOperation(op);
  if (!isa_and_nonnull<arith::AddIOp>(only))
    return std::nullopt;
  Ramp sum;
  for (unsigned i : {0, 1}) {
    Value scalar;
    OpOperand *operand = operandOf(op, only, i, scalar);
    std::optional<Ramp> part = Ramp{scalar};
    if (operand) {
      auto from = operandIndices(*operand, indices, nullptr);
      part =
          from ? rampOf(operand->get(), *from, vecDim, budget) : std::nullopt;
    }
    if (!part || (part->isRange && sum.isRange) || (part->start && sum.start))
      return std::nullopt;
    sum.isRange |= part->isRange;
    if (part->start)
      sum.start = part->start;
  }
  return sum;
}

static Value throughCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::IndexCastOp, arith::ExtSIOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

static bool isDifference(Operation *op, Value limit, Value start) {
  auto difference = dyn_cast_or_null<arith::SubIOp>(op);
  return difference && start && difference.getType().isIndex() &&
         throughCasts(difference.getLhs()) == limit &&
         throughCasts(difference.getRhs()) == start;
}

/// An index from 0 on that is below `bound` is below `limit` - `start` (null:
/// 0), both signed numbers that were widened for the subtraction.
static bool impliesBelow(Value bound, Value limit, Value start, int depth = 6) {
  if (depth == 0)
    return false;
  if (!start && throughCasts(bound) == limit)
    return true;
  Operation *op = bound.getDefiningOp();
  auto below = [&](Value part) {
    return impliesBelow(part, limit, start, depth - 1);
  };
  if (auto least = dyn_cast_or_null<arith::MinSIOp>(op))
    return below(least.getLhs()) || below(least.getRhs());
  if (auto most = dyn_cast_or_null<arith::MaxSIOp>(op)) {
    auto floor = getConstantIntValue(most.getRhs());
    return floor && *floor <= 0 && below(most.getLhs());
  }
  // A row that is not there ends at 0: nothing is below.
  if (auto either = dyn_cast_or_null<arith::SelectOp>(op)) {
    auto floor = getConstantIntValue(either.getFalseValue());
    return below(either.getTrueValue()) &&
           ((floor && *floor <= 0) || below(either.getFalseValue()));
  }
  return isDifference(op, limit, start);
}

/// Of an index from 0 to `size` that is `bound` or more, `start` (null: 0) and
/// the index are `limit` or more, added as signed numbers that were widened.
static bool impliesAtLeast(Value bound, Value limit, Value start, int64_t size,
                           int depth = 4) {
  if (depth == 0)
    return false;
  if (!start && throughCasts(bound) == limit)
    return true;
  Operation *op = bound.getDefiningOp();
  auto atLeast = [&](Value part) {
    return impliesAtLeast(part, limit, start, size, depth - 1);
  };
  if (auto least = dyn_cast_or_null<arith::MinSIOp>(op)) {
    auto most = getConstantIntValue(least.getRhs());
    return most && *most >= size && atLeast(least.getLhs());
  }
  if (auto most = dyn_cast_or_null<arith::MaxSIOp>(op))
    return atLeast(most.getLhs()) || atLeast(most.getRhs());
  return isDifference(op, limit, start);
}

std::optional<BelowEnd>
tilebridge::cpu::findBelow(Value mask, ArrayRef<Index> indices, int vecDim) {
  auto type = dyn_cast<RankedTensorType>(mask.getType());
  if (!type || !type.getElementType().isInteger(1))
    return std::nullopt;
  Operation *op = mask.getDefiningOp();
  auto compare = dyn_cast_if_present<arith::CmpIOp>(onlyOperation(op));
  if (!compare)
    return std::nullopt;
  bool isLess = compare.getPredicate() == arith::CmpIPredicate::slt;
  if (!isLess && compare.getPredicate() != arith::CmpIPredicate::sgt)
    return std::nullopt;
  int budget = 16;
  Ramp sides[2];
  for (unsigned i : {0, 1}) {
    Value scalar;
    OpOperand *operand = operandOf(op, compare, i, scalar);
    if (!operand) {
      sides[i].start = scalar;
      continue;
    }
    auto from = operandIndices(*operand, indices, nullptr);
    auto ramp =
        from ? rampOf(operand->get(), *from, vecDim, budget) : std::nullopt;
    if (!ramp)
      return std::nullopt;
    sides[i] = *ramp;
  }
  const Ramp &range = sides[isLess ? 0 : 1], &limit = sides[isLess ? 1 : 0];
  if (!range.isRange || limit.isRange || !limit.start)
    return std::nullopt;
  return BelowEnd{range.start, limit.start};
}

/// `mask` at `indices` as `start + i < n` for the lanes' index i.
std::optional<FunctionEmitter::LanesBelow>
FunctionEmitter::lanesBelow(Value mask, ArrayRef<Index> indices) {
  auto below = findBelow(mask, indices, frame->vecDim);
  if (!below)
    return std::nullopt;
  return LanesBelow{below->start ? throughCasts(mapScalar(below->start))
                                 : Value(),
                    throughCasts(mapScalar(below->n))};
}

/// Whether `mask` at `indices` is `start + i < n` for the lanes' index i, and a
/// box that the lanes are inside of ends at n - start or before. (A sum that
/// would overflow is not below n without overflow either, and is outside.)
bool FunctionEmitter::isTrueInside(Value mask, ArrayRef<Index> indices) {
  if (!frame->interior || frame->bounds.empty())
    return false;
  auto below = lanesBelow(mask, indices);
  return below && llvm::any_of(frame->bounds, [&](Value bound) {
           return impliesBelow(bound, below->n, below->start);
         });
}

/// Whether `mask` at `indices` is `start + i < n`, which no index i of a block
/// of `size` is that is `limit` or more. (A sum that overflows is not thought
/// of: the limit is that of a load, which would read what is not there.)
bool FunctionEmitter::isFalseFrom(Value mask, ArrayRef<Index> indices,
                                  Value limit, int64_t size) {
  auto below = lanesBelow(mask, indices);
  return below && impliesAtLeast(limit, below->n, below->start, size);
}
