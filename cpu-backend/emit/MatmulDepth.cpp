//===- MatmulDepth.cpp - how many steps of a block's K there are ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// K is rarely a multiple of the block's: what both operands are zero in is not
// multiplied. Of K = 100 in blocks of 64 that is a fifth.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/DeepMatmul.h"
#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/MaskTails.h"
#include "cpu-backend/emit/MaskedRows.h"
#include "cpu-backend/emit/View.h"
#include "cpu-backend/emit/Wanted.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

static bool isZero(Value value) {
  return value && (matchPattern(value, m_Zero()) ||
                   matchPattern(value, m_AnyZeroFloat()));
}

OpFoldResult tilebridge::cpu::sizeAlong(Value view, unsigned dim) {
  while (auto cast = view.getDefiningOp<memref::CastOp>())
    view = cast.getSource();
  auto part = view.getDefiningOp<memref::SubViewOp>();
  if (!part || part.getDroppedDims().any())
    return {};
  return part.getMixedSizes()[dim];
}

/// Elements become others of the same index, zeros others that are zero.
static Value convertedFrom(linalg::GenericOp op) {
  Block &body = *op.getBody();
  if (op.getNumDpsInputs() != 1 ||
      op.getNumLoops() != op.getNumParallelLoops() ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }) ||
      !llvm::hasNItems(body, 2))
    return {};
  Operation &convert = body.front();
  if (!keepsZero(&convert) || convert.getOperand(0) != body.getArgument(0) ||
      body.getTerminator()->getOperand(0) != convert.getResult(0))
    return {};
  return op.getDpsInputOperand(0)->get();
}

/// As zeroFrom; what the branches of the program give may end elsewhere in
/// each: the last of `ends`. False if that is not known, or none are zero.
static bool addZerosFrom(Value block, unsigned dim,
                         SmallVectorImpl<StepEnd> &ends) {
  auto addEnd = [&](StepEnd end) {
    if (!llvm::is_contained(ends, end))
      ends.push_back(end);
    return true;
  };
  auto add = [&](OpFoldResult size) {
    auto end = dyn_cast_if_present<Value>(size);
    return end && addEnd({end});
  };
  // One of the masks whose lanes are only on where all of them are.
  auto addMask = [&](Value mask, bool isRows = false) {
    if (mask)
      for (Value row : findRowMasks(mask, isRows ? 0 : dim))
        if (auto below = findBelow(row, Index{Value(), 1, 1, 0}, 0))
          return addEnd({below->n, below->start,
                         cast<RankedTensorType>(row.getType()).getDimSize(0)});
    return false;
  };
  Operation *op = block.getDefiningOp();
  if (!op)
    return false;
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    auto read = pad.getSource().getDefiningOp<bufferization::ToTensorOp>();
    return read && isZero(pad.getConstantPaddingValue()) &&
           constantOf(pad.getMixedLowPad()[dim]) == 0 &&
           add(sizeAlong(read.getBuffer(), dim));
  }
  if (auto rows = dyn_cast<linalg_ext::GatherRowsOp>(op)) {
    if (rows.getOther() && !isZero(rows.getOther()))
      return false;
    return static_cast<unsigned>(rows.getDim()) == dim
               ? addMask(rows.getRowmask(), /*isRows=*/true)
               : add(sizeAlong(rows.getView(), dim));
  }
  if (auto load = dyn_cast<linalg_ext::MaskedLoadOp>(op))
    return (!load.getOther() || isZero(load.getOther())) &&
           addMask(load.getMask());
  if (auto load = dyn_cast<linalg_ext::GatherOp>(op))
    return (!load.getOther() || isZero(load.getOther())) &&
           addMask(load.getMask());
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned i = cast<OpResult>(block).getResultNumber();
    for (Operation *yield : {branch.thenBlock()->getTerminator(),
                             branch.elseBlock()->getTerminator()}) {
      Value chosen = yield->getOperand(i);
      // What is packed already.
      if (!chosen.getDefiningOp<tensor::EmptyOp>() &&
          !addZerosFrom(chosen, dim, ends))
        return false;
    }
    return true;
  }
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
    return addZerosFrom(transpose.getInput(), transpose.getPermutation()[dim],
                        ends);
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    if (Value from = convertedFrom(generic))
      return addZerosFrom(from, dim, ends);
  return false;
}

Value tilebridge::cpu::zeroFrom(Value block, unsigned dim) {
  SmallVector<StepEnd> ends;
  return addZerosFrom(block, dim, ends) && ends.size() == 1 &&
                 ends.front().length == 0
             ? ends.front().n
             : Value();
}

std::optional<StepEnds> MatmulForm::endsOfSteps(linalg::LinalgOp op) const {
  StepEnds ends;
  for (unsigned i : {0, 1}) {
    bool isSwapped = i == 0 ? swapsLhs : swapsRhs;
    unsigned dim = (i == 0) == isSwapped ? 0 : 1;
    if (!addZerosFrom(op->getOperand(i), isBatch ? dim + 1 : dim, ends[i]) ||
        ends[i].empty())
      return std::nullopt;
  }
  return ends;
}

Value MatmulForm::endOfSteps(ImplicitLocOpBuilder &b, linalg::LinalgOp op,
                             function_ref<Value(Value)> known) const {
  auto ends = endsOfSteps(op);
  if (!ends)
    return {};
  Value last = arith::ConstantIndexOp::create(b, 0);
  for (const StepEnd &end : llvm::concat<StepEnd>((*ends)[0], (*ends)[1])) {
    Value here = known(end.n), start = end.start ? known(end.start) : Value();
    if (!here || (end.start && !start))
      return {};
    if (end.length != 0)
      here = behindBelow(b, start, here, end.length);
    last = arith::MaxSIOp::create(b, last, here);
  }
  return last;
}

/// Numbers that are computed from few others.
static constexpr size_t mostRecomputed = 32;

static bool isRecomputed(Operation *op) {
  return op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         !isa<TensorType, MemRefType>(op->getResult(0).getType()) &&
         isMemoryEffectFree(op);
}

namespace {
/// Computes a number again, from what is known.
class Recomputed {
public:
  Recomputed(OpBuilder &b, function_ref<Value(Value)> known)
      : b(b), known(known) {}

  Value run(Value value) {
    if (Value here = known(value))
      return here;
    if (Value again = done.lookupOrNull(value))
      return again;
    Operation *op = value.getDefiningOp();
    if (!op || !isRecomputed(op) || ++count > mostRecomputed)
      return {};
    for (Value operand : op->getOperands()) {
      Value here = run(operand);
      if (!here)
        return {};
      done.map(operand, here);
    }
    return b.clone(*op, done)->getResult(0);
  }

private:
  OpBuilder &b;
  function_ref<Value(Value)> known;
  IRMapping done;
  size_t count = 0;
};
} // namespace

Value FunctionEmitter::recomputed(OpBuilder &b, Value value) {
  return Recomputed(b,
                    [&](Value old) {
                      Value here = map.lookupOrNull(old);
                      return here && isHere(here) ? here : Value();
                    })
      .run(value);
}

namespace {
/// What a number of an iteration is computed from.
class Dependence {
public:
  explicit Dependence(scf::ForOp loop) : loop(loop) {}

  /// False where that is not known when the iteration begins.
  bool visit(Value value, bool isEven = true) {
    if (value == loop.getInductionVar()) {
      isOnTurn = true;
      isUneven |= !isEven;
      return true;
    }
    if (!loop.getRegion().isAncestor(value.getParentRegion()))
      return true;
    Operation *op = value.getDefiningOp();
    if (!op || !isRecomputed(op) || seen.size() >= mostRecomputed)
      return false;
    if (!seen.insert(op).second)
      return true;
    isEven &= isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp,
                  arith::MaxSIOp, arith::IndexCastOp, arith::ExtSIOp,
                  arith::TruncIOp>(op);
    return llvm::all_of(op->getOperands(),
                        [&](Value operand) { return visit(operand, isEven); });
  }

  /// It is that of the last iteration alone: what sums and products give of the
  /// number of the iteration.
  bool isAtEnd() const { return isOnTurn && !isUneven; }

private:
  scf::ForOp loop;
  bool isOnTurn = false, isUneven = false;
  SmallPtrSet<Operation *, 16> seen;
};
} // namespace

std::optional<StepEnds>
tilebridge::cpu::findPartialSteps(const MatmulForm &form, linalg::LinalgOp op) {
  auto ends = form.endsOfSteps(op);
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (!ends || !loop)
    return std::nullopt;
  for (const StepEnd &end : llvm::concat<StepEnd>((*ends)[0], (*ends)[1])) {
    Dependence dependence(loop);
    if (!dependence.visit(end.n) ||
        (end.start && !dependence.visit(end.start)) || dependence.isAtEnd())
      return std::nullopt;
  }
  return ends;
}

int64_t MatmulKernel::depthUnit() const {
  if (int64_t turns = chainsInTurn())
    return turns * chainSteps;
  // Lines of a, and several steps in an iteration.
  int64_t unit =
      std::gcd(unitDepth, feedsTwoFmas() ? lineSteps() : mostStepsTogether());
  return std::lcm(unit, step);
}

Value MatmulKernel::wholeSteps(Value end, int64_t depth) const {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  if (int64_t unit = depthUnit(); unit > 1)
    end = arith::MulIOp::create(
        b, arith::CeilDivSIOp::create(b, end, index(unit)), index(unit));
  return arith::MinSIOp::create(b, end, index(depth));
}

/// What is read together of a row of `a`, or of columns of `b`.
static int64_t partOf(const MatmulKernel &kernel, const EmitTarget &target,
                      int64_t depth) {
  int64_t part = std::lcm(target.vectorBits / 8 / kernel.packedBytes(),
                          kernel.depthUnit());
  return depth % part == 0 ? part : depth;
}

void DeepMatmul::forSteps(ImplicitLocOpBuilder &b,
                          function_ref<void(Value, int64_t)> pack) const {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  if (!ownSteps)
    return pack(index(0), depth);
  int64_t part = partOf(kernelOfSteps(b), form.settings.target, depth);
  auto loop = scf::ForOp::create(b, index(0), ownSteps, index(part));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  pack(loop.getInductionVar(), part);
}

void DeepMatmul::packSteps(ImplicitLocOpBuilder &b, Value view, unsigned dim,
                           function_ref<void(Value, Value)> pack) const {
  if (!ownSteps)
    return pack(view, filled);
  forSteps(b, [&](Value at, int64_t size) {
    auto type = cast<MemRefType>(view.getType());
    SmallVector<OpFoldResult> offsets(2, b.getIndexAttr(0)),
        sizes = getAsIndexOpFoldResult(b.getContext(), type.getShape()),
        strides(2, b.getIndexAttr(1));
    offsets[dim] = at;
    sizes[dim] = b.getIndexAttr(size);
    pack(memref::SubViewOp::create(b, view, offsets, sizes, strides),
         arith::AddIOp::create(b, filled, at));
  });
}

SmallVector<Value> DeepMatmul::endsOfCopy(ImplicitLocOpBuilder &b,
                                          bool isLhs) const {
  if (!ownSteps)
    return {};
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  int64_t part = partOf(kernelOfSteps(b), form.settings.target, depth);
  Value steps = arith::MulIOp::create(
      b, arith::CeilDivUIOp::create(b, ownSteps, index(part)), index(part));
  SmallVector<Value> ends = {Value(), steps};
  bool isSwapped = isLhs ? form.swapsLhs : !form.swapsRhs;
  if (isSwapped)
    std::swap(ends[0], ends[1]);
  return ends;
}

Value DeepMatmul::totalBehind(ImplicitLocOpBuilder &b, Value steps,
                              Value isMultiplied) const {
  Value next = arith::AddIOp::create(b, total, steps);
  if (!isClose)
    return next;
  // The next iteration begins with another slot.
  Value size = arith::ConstantIndexOp::create(b, capacity),
        begin = arith::SubIOp::create(b, total, filled);
  return arith::SelectOp::create(b, isMultiplied,
                                 arith::AddIOp::create(b, begin, size), next);
}
