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
#include "cpu-backend/emit/MaskedRows.h"
#include "cpu-backend/emit/View.h"
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

/// How many elements a view has along a dimension; null if all are there, or
/// that is not known.
static Value sizeAlong(Value view, unsigned dim) {
  while (auto cast = view.getDefiningOp<memref::CastOp>())
    view = cast.getSource();
  auto part = view.getDefiningOp<memref::SubViewOp>();
  if (!part || part.getDroppedDims().any())
    return {};
  return dyn_cast<Value>(part.getMixedSizes()[dim]);
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

Value tilebridge::cpu::zeroFrom(Value block, unsigned dim) {
  Operation *op = block.getDefiningOp();
  if (!op)
    return {};
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    auto read = pad.getSource().getDefiningOp<bufferization::ToTensorOp>();
    if (!read || !isZero(pad.getConstantPaddingValue()) ||
        constantOf(pad.getMixedLowPad()[dim]) != 0)
      return {};
    return sizeAlong(read.getBuffer(), dim);
  }
  if (auto rows = dyn_cast<linalg_ext::GatherRowsOp>(op))
    return static_cast<unsigned>(rows.getDim()) != dim &&
                   isZero(rows.getOther())
               ? sizeAlong(rows.getView(), dim)
               : Value();
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned i = cast<OpResult>(block).getResultNumber();
    Value end;
    for (Operation *yield : {branch.thenBlock()->getTerminator(),
                             branch.elseBlock()->getTerminator()}) {
      Value chosen = yield->getOperand(i);
      // What is packed already.
      if (chosen.getDefiningOp<tensor::EmptyOp>())
        continue;
      Value other = zeroFrom(chosen, dim);
      if (!other || (end && other != end))
        return {};
      end = other;
    }
    return end;
  }
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
    return zeroFrom(transpose.getInput(), transpose.getPermutation()[dim]);
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    if (Value from = convertedFrom(generic))
      return zeroFrom(from, dim);
  return {};
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

Value MatmulForm::endOfSteps(ImplicitLocOpBuilder &b, linalg::LinalgOp op,
                             function_ref<Value(Value)> mapped) const {
  Value ends[2];
  for (unsigned i : {0, 1}) {
    bool isSwapped = i == 0 ? swapsLhs : swapsRhs;
    unsigned dim = (i == 0) == isSwapped ? 0 : 1;
    ends[i] = zeroFrom(op->getOperand(i), isBatch ? dim + 1 : dim);
    if (!ends[i] ||
        !ends[i].getParentRegion()->isAncestor(op->getParentRegion()))
      return {};
  }
  Value end = mapped(ends[0]), other = mapped(ends[1]);
  if (!end || !other)
    return {};
  if (end != other)
    end = arith::MaxSIOp::create(b, end, other);
  return arith::MaxSIOp::create(b, end, arith::ConstantIndexOp::create(b, 0));
}
