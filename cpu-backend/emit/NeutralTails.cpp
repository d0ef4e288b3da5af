//===- NeutralTails.cpp - sums of rows that end before their blocks -------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A row of 781 elements in a block of 1024: from the row's end on a masked load
// gives zeros. Where a sum takes just these, or what is zero for them, such as
// their squares, its loop ends with the row.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/NestEmitter.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge::cpu;

static Attribute constantAttr(Value value) {
  Attribute attr;
  if (!value || !matchPattern(value, m_Constant(&attr)))
    return {};
  if (auto elements = dyn_cast<DenseElementsAttr>(attr))
    return elements.isSplat() ? elements.getSplatValue<Attribute>()
                              : Attribute();
  return attr;
}

/// What `tensor` is at `at` where the lanes are at `limit` or behind it: the
/// same number for all of them; null if it is not known.
Attribute NestEmitter::valueOutside(Value tensor, ArrayRef<Index> at,
                                    Value limit, int &budget) {
  if (--budget < 0)
    return {};
  if (Attribute attr = constantAttr(tensor))
    return attr;
  Operation *op = tensor.getDefiningOp();
  if (!op || !isa<RankedTensorType>(tensor.getType()))
    return {};
  if (const View *view = fe.viewIfInMemory(tensor)) {
    auto load = fe.loads.find(tensor);
    if (load == fe.loads.end() || load->second.get() != view ||
        view->rowDim >= 0 || view->isBool)
      return {};
    for (auto [d, index] : llvm::enumerate(at)) {
      if (index.dim != frame.vecDim || index.step != 1 || view->isFull(d) ||
          fe.rowLimit(*view, at, d, loc) != limit)
        continue;
      if (view->other)
        return valueOutside(view->other, at, limit, budget);
      return view->pad ? constantAttr(view->pad)
                       : b.getZeroAttr(view->elementType());
    }
    return {};
  }
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return constantAttr(splat.getInput());
  if (!isElementwise(op) || op->getNumResults() != 1)
    return {};
  auto generic = dyn_cast<linalg::GenericOp>(op);
  SmallVector<Attribute> arguments;
  for (OpOperand &operand : op->getOpOperands()) {
    Attribute value;
    if (!generic || !generic.getMatchingBlockArgument(&operand).use_empty())
      if (auto from = operandIndices(operand, at, nullptr))
        value = valueOutside(operand.get(), *from, limit, budget);
    arguments.push_back(value);
  }
  if (generic) {
    auto yielded = foldRegion(*generic.getBody(), arguments);
    return yielded ? yielded->front() : Attribute();
  }
  // The operation itself is one of tensors.
  for (auto [value, operand] : llvm::zip_equal(arguments, op->getOperands())) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!value || !type)
      return {};
    value = DenseElementsAttr::get(type, value);
  }
  Operation *copy = op->clone();
  SmallVector<OpFoldResult> results;
  bool folded = op->getNumRegions() == 0 &&
                succeeded(copy->fold(arguments, results)) &&
                results.size() == 1;
  copy->erase();
  auto elements = folded ? dyn_cast_or_null<DenseElementsAttr>(
                               dyn_cast_if_present<Attribute>(results.front()))
                         : DenseElementsAttr();
  return elements && elements.isSplat() ? elements.getSplatValue<Attribute>()
                                        : Attribute();
}

/// Nothing that the nest sums up differs from zero where the lanes are at
/// `limit` or behind it. (Maxima, which drop NaN for a number that is masked,
/// are not so simple.)
bool NestEmitter::isNeutralFrom(Value limit) {
  if (!vecReduced || nest.reduceDims.size() != 1)
    return false;
  Indices at = indices;
  at[frame.vecDim] = {Value(), 1, static_cast<unsigned>(frame.levels.size()),
                      frame.vecDim};
  return llvm::all_of(nest.outputs, [&](const NestOutput &output) {
    auto reduce = dyn_cast_or_null<linalg::ReduceOp>(output.reduce);
    if (!reduce || reduce.getInputs().size() != 1)
      return false;
    Block &body = reduce.getCombiner().front();
    Operation *only = &body.front();
    if (!isa<arith::AddFOp, arith::AddIOp>(only) ||
        body.getTerminator()->getOperand(0) != only->getResult(0) ||
        !llvm::is_contained(only->getOperands(), body.getArgument(0)) ||
        !llvm::is_contained(only->getOperands(), body.getArgument(1)))
      return false;
    int budget = 64;
    Attribute value =
        valueOutside(reduce.getInputs().front(), at, limit, budget);
    if (auto number = dyn_cast_or_null<FloatAttr>(value))
      return number.getValue().isZero();
    auto integer = dyn_cast_or_null<IntegerAttr>(value);
    return integer && integer.getValue().isZero();
  });
}
