//===- NumberRange.cpp - the values that integers can have ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Four bits of a byte are a number below 16, whatever the byte is.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/NumberRange.h"

#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge::cpu;

static ConstantIntRanges anyOf(Value value) {
  return ConstantIntRanges::maxRange(
      ConstantIntRanges::getStorageBitwidth(value.getType()));
}

static bool isInteger(Value value) {
  return getElementTypeOrSelf(value.getType()).isIntOrIndex();
}

/// Of `op`'s only result, whose type is an integer's, or a tensor's of such.
static ConstantIntRanges inferred(Operation *op,
                                  function_ref<ConstantIntRanges(Value)> of) {
  Value result = op->getResult(0);
  std::optional<ConstantIntRanges> found;
  auto inferrable = dyn_cast<InferIntRangeInterface>(op);
  if (inferrable && llvm::all_of(op->getOperands(), isInteger)) {
    SmallVector<IntegerValueRange> operands;
    for (Value operand : op->getOperands())
      operands.push_back(IntegerValueRange(of(operand)));
    inferrable.inferResultRangesFromOptional(
        operands, [&](Value, const IntegerValueRange &range) {
          if (!range.isUninitialized())
            found = range.getValue();
        });
  }
  return found.value_or(anyOf(result));
}

namespace {
/// What is asked for twice is computed twice: the budget is of all of it.
class Search {
public:
  ConstantIntRanges visit(Value numbers) {
    Operation *op = numbers.getDefiningOp();
    if (!op || --budget < 0 || !isInteger(numbers))
      return anyOf(numbers);
    auto visitOperand = [&](Value operand) { return visit(operand); };
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return visitConstant(constant);
    if (isa<tensor::SplatOp, linalg::BroadcastOp, linalg::TransposeOp,
            tensor::ExpandShapeOp, tensor::CollapseShapeOp,
            tensor::ExtractSliceOp, tensor::CastOp>(op))
      return visit(op->getOperand(0));
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      return visitBody(generic, cast<OpResult>(numbers).getResultNumber());
    bool isPlain = op->getNumResults() == 1 &&
                   (!isa<TensorType>(numbers.getType()) || isElementwise(op));
    return isPlain ? inferred(op, visitOperand) : anyOf(numbers);
  }

private:
  static ConstantIntRanges visitConstant(arith::ConstantOp op) {
    if (auto number = dyn_cast<IntegerAttr>(op.getValue()))
      return ConstantIntRanges::constant(number.getValue());
    constexpr int64_t most = 1024;
    auto elements = dyn_cast<DenseIntElementsAttr>(op.getValue());
    if (!elements || elements.empty() || elements.getNumElements() > most)
      return anyOf(op.getResult());
    std::optional<ConstantIntRanges> all;
    for (const APInt &number : elements) {
      ConstantIntRanges one = ConstantIntRanges::constant(number);
      all = all ? all->rangeUnion(one) : one;
      if (elements.isSplat())
        break;
    }
    return *all;
  }

  ConstantIntRanges visitBody(linalg::GenericOp op, unsigned number) {
    if (!isElementwise(op))
      return anyOf(op.getResult(number));
    llvm::DenseMap<Value, ConstantIntRanges> known;
    auto find = [&](Value value) {
      auto it = known.find(value);
      return it != known.end() ? it->second : visit(value);
    };
    for (OpOperand &operand : op->getOpOperands())
      if (BlockArgument argument = op.getMatchingBlockArgument(&operand);
          isInteger(argument) && !argument.use_empty())
        known.try_emplace(argument, visit(operand.get()));
    for (Operation &inner : op.getBody()->without_terminator()) {
      if (inner.getNumResults() != 1 || !isInteger(inner.getResult(0)))
        continue;
      Value result = inner.getResult(0);
      if (auto index = dyn_cast<linalg::IndexOp>(inner))
        known.try_emplace(result, rangeOfIndex(op, index));
      else if (auto constant = dyn_cast<arith::ConstantOp>(inner))
        known.try_emplace(result, visitConstant(constant));
      else
        known.try_emplace(result, inferred(&inner, find));
    }
    return find(op.getBody()->getTerminator()->getOperand(number));
  }

  static ConstantIntRanges rangeOfIndex(linalg::GenericOp op,
                                        linalg::IndexOp index) {
    int64_t size = op.getStaticLoopRanges()[index.getDim()];
    ConstantIntRanges any = anyOf(index.getResult());
    if (ShapedType::isDynamic(size) || size < 1)
      return any;
    unsigned width = any.smin().getBitWidth();
    return ConstantIntRanges::fromSigned(APInt(width, 0),
                                         APInt(width, size - 1));
  }

  int budget = 64;
};
} // namespace

ConstantIntRanges tilebridge::cpu::rangeOfNumbers(Value numbers) {
  return Search().visit(numbers);
}
