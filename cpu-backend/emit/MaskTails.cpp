//===- MaskTails.cpp - blocks whose columns end at a mask -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Attention over 77 keys in a block of 128: scores behind the last key are -inf
// by `tl.where(keys < n, scores, -inf)`. In a row all that is computed from
// these is one number: it changes no maximum, and no sum, where its weight is
// zero; and as the values behind the last key are zeros, weights times these
// are zero, or NaN where a row's weight is. One more step shows which, as one
// more element of a sum does: loops and products end one behind the last key.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/MaskTails.h"
#include "cpu-backend/emit/Combiners.h"
#include "cpu-backend/emit/DeepMatmul.h"
#include "cpu-backend/emit/MaskedRows.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/Outside.h"
#include "cpu-backend/emit/PlanGroups.h"

using namespace mlir;
using namespace tilebridge::cpu;

static bool isZero(const Outside &outside) {
  if (!outside.isSame || outside.mayBeNaN)
    return false;
  if (auto number = dyn_cast_if_present<FloatAttr>(outside.value))
    return number.getValue().isZero();
  auto integer = dyn_cast_if_present<IntegerAttr>(outside.value);
  return integer && integer.getValue().isZero();
}

static int64_t sizeOf(Value tensor, unsigned dim) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
}

/// Behind the last index that `mask` is true for, if that is known here.
Value MaskTails::endOf(Value mask) {
  if (Value end = fe.endsOfMasks.lookup(mask))
    return fe.isHere(end) ? end : Value();
  auto end = constantOf(countOfFirst(mask));
  return end ? arith::ConstantIndexOp::create(fe.rewriter, mask.getLoc(), *end)
                   .getResult()
             : Value();
}

/// Only where there are products blocks end behind what they are loaded from.
bool MaskTails::hasEnds() const {
  return !fe.endsOfMasks.empty() ||
         anyInside(fe.oldFunc, [](Operation *op) { return isProduct(op); });
}

Value MaskTails::behindLastTrue(Value mask, Location loc) {
  Frame own;
  own.vecDim = 0;
  Frame *outer = std::exchange(fe.frame, &own);
  auto below = fe.lanesBelow(mask, Index{Value(), 1, 1, 0});
  fe.frame = outer;
  if (!below)
    return fe.behindLastTrue(mask, loc);
  ImplicitLocOpBuilder b(loc, fe.rewriter);
  return behindBelow(b, below->start, below->n, sizeOf(mask, 0));
}

Value tilebridge::cpu::behindBelow(ImplicitLocOpBuilder &b, Value first,
                                   Value n, int64_t length) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  auto asIndex = [&](Value value) -> Value {
    return value.getType().isIndex()
               ? value
               : arith::IndexCastOp::create(b, b.getIndexType(), value);
  };
  if (auto number = getConstantIntValue(n); number && !first)
    return index(std::clamp<int64_t>(*number, 0, length));
  Value size = index(length), end = asIndex(n);
  if (first) {
    // What wraps around may be below n again, and numbers below 0 are not
    // thought of.
    Value start = asIndex(first);
    unsigned bits = first.getType().isIndex()
                        ? 64
                        : first.getType().getIntOrFloatBitWidth();
    int64_t most = std::numeric_limits<int64_t>::max() >> (64 - bits);
    Value isPlain = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, start,
                                          index(most - length));
    end = arith::SelectOp::create(b, isPlain,
                                  arith::SubIOp::create(b, end, start), size);
  }
  end = arith::MaxSIOp::create(b, end, index(0));
  return arith::MinSIOp::create(b, end, size);
}

void MaskTails::add(End &end, Value value) {
  if (!end.value)
    end.value = value;
  else if (end.value != value)
    end.value =
        arith::MaxSIOp::create(fe.rewriter, value.getLoc(), end.value, value);
}

bool MaskTails::add(End &end, End other) {
  if (other && other.value)
    add(end, other.value);
  end.isKnown &= other.isKnown;
  return end.isKnown;
}

Value MaskTails::roundUp(Value end, int64_t step, int64_t size) {
  ImplicitLocOpBuilder b(end.getLoc(), fe.rewriter);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  end = arith::AndIOp::create(b, offsetBy(b, end, step - 1), index(-step));
  return arith::MinSIOp::create(b, end, index(size));
}

/// More lanes than a nest has that computes with elements of `tensor`
/// (NestEmitter::choose).
int64_t MaskTails::mostLanes(Value tensor) const {
  unsigned bits =
      getElementTypeOrSelf(tensor.getType()).getIntOrFloatBitWidth();
  return bits < 32 ? 64 : std::max<int64_t>(32, fe.target().vectorBits / 8);
}

/// From where on all elements along `dim` are one number in each row, by a mask
/// that some of what it is computed from is selected by.
Value MaskTails::endOfSame(Value block, unsigned dim,
                           llvm::function_ref<bool(const Outside &)> mayEnd) {
  SmallVector<std::pair<Value, unsigned>> open = {{block, dim}};
  while (!open.empty() && ++visits < mostVisits) {
    auto [tensor, d] = open.pop_back_val();
    Operation *op = tensor.getDefiningOp();
    if (!op || !isElementwise(op))
      continue;
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!type || !isRead(operand))
        continue;
      auto indices = operandIndices(
          operand,
          identityIndices(cast<RankedTensorType>(tensor.getType()).getRank()),
          nullptr);
      if (!indices)
        continue;
      for (auto [from, index] : llvm::enumerate(*indices)) {
        if (index.dim != static_cast<int>(d))
          continue;
        Value mask = findSelectingRows(operand, from), end;
        if (mask && (end = endOf(mask)) &&
            mayEnd(outsideOfMask(block, dim, mask)))
          return end;
        open.push_back({operand.get(), from});
      }
    }
  }
  return {};
}

/// From where on all elements along `dim` are zeros.
Value MaskTails::endOfZeros(Value block, unsigned dim) {
  if (Value end = zeroFrom(block, dim)) {
    Value here = fe.map.lookupOrNull(end);
    return here && fe.isHere(here) ? here : Value();
  }
  // What is gathered by a mask.
  for (const auto &[mask, end] : fe.endsOfMasks) {
    if (sizeOf(mask, 0) != sizeOf(block, dim) || !endOf(mask))
      continue;
    if (isZero(outsideOfMask(block, dim, mask)))
      return end;
  }
  return {};
}

Value MaskTails::stepsOf(linalg::LinalgOp product, bool *isTail) {
  if (isTail)
    *isTail = false;
  if (product->hasAttr(deepAttr) || product->hasAttr(maskedRowsAttr) ||
      !isa<linalg::MatmulOp, linalg::BatchMatmulOp>(product))
    return {};
  auto form = MatmulForm::of(product, fe.target());
  if (failed(form))
    return {};
  ImplicitLocOpBuilder b(product.getLoc(), fe.rewriter);
  auto typeOf = [&](unsigned i) {
    return cast<RankedTensorType>(product->getOperand(i).getType());
  };
  unsigned first = form->isBatch ? 1 : 0,
           dims[] = {first + (form->swapsLhs ? 0 : 1),
                     first + (form->swapsRhs ? 1 : 0)};
  Value zeros[2];
  for (unsigned i : {0, 1})
    zeros[i] = endOfZeros(product->getOperand(i), dims[i]);
  int64_t depth = typeOf(0).getDimSize(dims[0]);
  bool areZeros = zeros[0] && zeros[1];
  auto isSame = [](const Outside &outside) { return outside.isSame; };
  // The other one's end may be a constant.
  for (unsigned i : {0, 1})
    if (!zeros[0] && !zeros[1])
      if (Value end = endOfSame(product->getOperand(i), dims[i], isSame))
        if (auto number = getConstantIntValue(end);
            number && isZero(outsideFrom(product->getOperand(1 - i),
                                         dims[1 - i], *number)))
          zeros[0] = zeros[1] = end;
  for (unsigned i : {0, 1})
    if (!areZeros && zeros[1 - i] && !zeros[i])
      zeros[i] = endOfSame(product->getOperand(i), dims[i], isSame);
  if (!zeros[0] || !zeros[1])
    return {};
  End end;
  add(end, zeros[0]);
  add(end, zeros[1]);
  Value steps = arith::MaxSIOp::create(b, end.value,
                                       arith::ConstantIndexOp::create(b, 0));
  if (!areZeros)
    steps = offsetBy(b, steps, 1);
  if (isTail)
    *isTail = !areZeros;
  auto sums = cast<RankedTensorType>(product->getResult(0).getType());
  MatmulKernel kernel(
      b, typeOf(0).getElementType(), typeOf(1).getElementType(),
      MemRefType::get(sums.getShape().take_back(2), sums.getElementType()),
      depth, form->settings);
  // One column is computed as one row. AMX takes few rows apart.
  if (!areZeros &&
      (sums.getShape().back() == 1 ||
       (kernel.readsTiles() && fe.wantedEnd(product->getResult(0), first))))
    return {};
  return kernel.wholeSteps(steps, depth);
}

/// A reduction along `dim` needs one of the elements that are one number.
MaskTails::End MaskTails::endOfReduction(Operation *op, unsigned dim) {
  auto reduce = dyn_cast<linalg::ReduceOp>(op);
  if (!reduce || reduce.getInputs().size() != 1 ||
      reduce.getDimensions().size() != 1 ||
      reduce.getDimensions().front() != static_cast<int64_t>(dim))
    return unknown();
  Value input = reduce.getInputs().front();
  Operation *combiner = combinerOf(reduce.getCombiner().front());
  auto mayEnd = [&](const Outside &outside) {
    return outside.isSame && staysWhenCombined(combiner, outside.value);
  };
  Value end = combiner ? endOfSame(input, dim, mayEnd) : Value();
  if (!end)
    return unknown();
  ImplicitLocOpBuilder b(op->getLoc(), fe.rewriter);
  return {offsetBy(b, end, 1)};
}

/// What a nest computes along its dimension `dim`: whoever plans what it reads,
/// and the nest itself, find the same. Of more lanes than one of the outputs
/// wants all are computed.
MaskTails::End
MaskTails::endOfAll(ArrayRef<std::pair<Operation *, Value>> outputs,
                    unsigned dim) {
  int64_t lanes = 0, size = 0;
  End end;
  for (auto [reduce, tensor] : outputs) {
    lanes = std::max(lanes, mostLanes(tensor));
    size = sizeOf(tensor, dim);
    if (size <= lanes || !add(end, reduce ? endOfReduction(reduce, dim)
                                          : endOfReads(tensor, dim)))
      return unknown();
  }
  if (!end.value)
    return unknown();
  return {roundUp(end.value, lanes, size)};
}

/// The same for the nest of `op`.
MaskTails::End MaskTails::endOfGroup(Operation *op, unsigned dim) {
  ArrayRef<Operation *> group = fe.plan.groupOf(op);
  if (group.empty())
    group = op;
  SmallVector<std::pair<Operation *, Value>> outputs;
  for (Operation *member : group) {
    // A store, which has a mask of its own, or none.
    if (member->getNumResults() == 0)
      return unknown();
    if (kindOf(member) == OpKind::NestRoot) {
      outputs.push_back({member, reduceInputs(member).front()});
      continue;
    }
    for (Value result : member->getResults())
      outputs.push_back({nullptr, result});
  }
  return endOfAll(outputs, dim);
}

MaskTails::End MaskTails::endOfReads(Value tensor, unsigned dim) {
  End end;
  if (++visits > mostVisits || tensor.use_empty())
    return unknown();
  for (OpOperand &use : tensor.getUses())
    if (!add(end, endOfUse(use, dim)))
      return end;
  return end;
}

MaskTails::End MaskTails::endOfUse(OpOperand &use, unsigned dim) {
  Operation *user = use.getOwner();
  auto linalgOp = dyn_cast<linalg::LinalgOp>(user);
  if (linalgOp && isProduct(user)) {
    if (!linalgOp.isDpsInput(&use))
      return unknown();
    auto loop = dyn_cast<AffineDimExpr>(
        linalgOp.getMatchingIndexingMap(&use).getResult(dim));
    if (!loop || linalgOp.getIteratorTypesArray()[loop.getPosition()] !=
                     utils::IteratorType::reduction)
      return unknown();
    // Of few rows that are multiplied by columns all zeros are taken along.
    bool isTail = false;
    Value steps = stepsOf(linalgOp, &isTail);
    if (!steps || !isTail)
      return unknown();
    return {steps};
  }
  if (isa<linalg::ReduceOp>(user))
    return endOfGroup(user, dim);
  if (!isElementwise(user) || user->getNumResults() != 1 ||
      (linalgOp && linalgOp.isDpsInit(&use)))
    return unknown();
  Value result = user->getResult(0);
  unsigned rank = cast<RankedTensorType>(result.getType()).getRank();
  auto indices = operandIndices(use, identityIndices(rank), nullptr);
  if (!indices || (*indices)[dim].dim < 0)
    return unknown();
  auto to = static_cast<unsigned>((*indices)[dim].dim);
  return fe.plan.isBuffer(result) ? endOfGroup(user, to)
                                  : endOfReads(result, to);
}

Value MaskTails::endOfNest(const Nest &nest, unsigned dim) {
  constexpr int64_t least = 32;
  if (nest.shape[dim] < least || !nest.places.empty())
    return {};
  SmallVector<std::pair<Operation *, Value>> outputs;
  for (const NestOutput &output : nest.outputs) {
    if (output.isStore || output.source || output.mask)
      return {};
    Value tensor =
        output.reduce ? reduceInputs(output.reduce).front() : output.tensor;
    // Rows may be one long row here.
    auto shape = cast<RankedTensorType>(tensor.getType()).getShape();
    if (shape != ArrayRef(nest.shape))
      return {};
    outputs.push_back({output.reduce, tensor});
  }
  return hasEnds() ? endOfAll(outputs, dim).value : Value();
}
