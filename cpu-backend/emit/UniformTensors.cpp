//===- UniformTensors.cpp - blocks that a loop carries as one number ------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// In a loop that ends with a row, `i + lane < n` is true of all lanes where
// there is a next iteration. So what is chosen by it is of one number whenever
// an iteration begins, even if the last one leaves lanes as they were.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/UniformTensors.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge::cpu;

std::pair<Value, Value> tilebridge::cpu::choicesOf(scf::IfOp branch,
                                                   OpResult result) {
  if (!branch.elseBlock())
    return {};
  unsigned i = result.getResultNumber();
  Value then = branch.thenYield()->getOperand(i),
        otherwise = branch.elseYield()->getOperand(i);
  for (Value value : {then, otherwise})
    if (branch->isProperAncestor(value.getParentBlock()->getParentOp()) ||
        value.getParentBlock()->getParentOp() == branch)
      return {};
  return {then, otherwise};
}

Value tilebridge::cpu::blockOf(linalg::GenericOp generic, Value element) {
  auto argument = dyn_cast<BlockArgument>(element);
  return argument && argument.getOwner() == generic.getBody()
             ? generic->getOperand(argument.getArgNumber())
             : Value();
}

bool tilebridge::cpu::keepsElements(Operation *op) {
  return isa<linalg::BroadcastOp, linalg::TransposeOp, tensor::ExpandShapeOp,
             tensor::CollapseShapeOp>(op);
}

/// The largest element of a block of indices, which are 0 and more.
static std::optional<int64_t> largestIndex(Value block) {
  Operation *op = block.getDefiningOp();
  if (op && keepsElements(op))
    return largestIndex(op->getOperand(0));
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!generic || !readsOnlyInputs(generic))
    return std::nullopt;
  Value element = generic.getBody()->getTerminator()->getOperand(0);
  if (auto cast = element.getDefiningOp<arith::IndexCastOp>())
    element = cast.getIn();
  auto index = element.getDefiningOp<linalg::IndexOp>();
  auto type = cast<RankedTensorType>(block.getType());
  int64_t size = index ? type.getDimSize(index.getDim()) : 0;
  if (size < 1 || !llvm::isIntN(getElementTypeOrSelf(type).isIndex()
                                    ? 64
                                    : type.getElementTypeBitWidth(),
                                size - 1))
    return std::nullopt;
  return size - 1;
}

UniformTensors::UniformTensors(scf::ForOp loop) : loop(loop) {
  for (auto [argument, init] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs()))
    if (isa<RankedTensorType>(argument.getType()) && isUniform(init))
      arguments.insert(argument);
  // What is assumed of one may depend on another.
  for (size_t before = 0; before != arguments.size();) {
    before = arguments.size();
    known.clear();
    for (auto [argument, yielded] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()))
      if (arguments.contains(argument) && !isUniform(yielded) &&
          !isUniformButLast(yielded))
        arguments.erase(argument);
  }
}

bool UniformTensors::isUniform(Value value) {
  if (!isa<RankedTensorType>(value.getType()) || arguments.contains(value))
    return true;
  auto [place, isNew] = known.try_emplace(value, false);
  if (isNew && isComputedFromNumbers(value))
    known[value] = true;
  return known[value];
}

/// The elements of `block` are the loop's index and up to so many behind it.
std::optional<int64_t> UniformTensors::distanceFromIndex(Value block) {
  Operation *op = block.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return splat.getInput() == loop.getInductionVar()
               ? std::optional<int64_t>(0)
               : std::nullopt;
  if (keepsElements(op))
    return distanceFromIndex(op->getOperand(0));
  auto generic = dyn_cast<linalg::GenericOp>(op);
  Operation *sum = generic ? onlyOperation(generic) : nullptr;
  if (!isa_and_present<arith::AddIOp>(sum))
    return std::nullopt;
  for (unsigned i : {0, 1}) {
    Value from = blockOf(generic, sum->getOperand(i)),
          added = blockOf(generic, sum->getOperand(1 - i));
    auto distance = from ? distanceFromIndex(from) : std::nullopt;
    auto most = added ? largestIndex(added) : std::nullopt;
    if (distance && most)
      return *distance + *most;
  }
  return std::nullopt;
}

/// All elements are the loop's end, or more.
bool UniformTensors::isEndOfLoop(Value block) {
  if (auto splat = block.getDefiningOp<tensor::SplatOp>())
    return splat.getInput() == loop.getUpperBound();
  SplatElementsAttr elements;
  APInt end;
  return matchPattern(block, m_Constant(&elements)) &&
         matchPattern(loop.getUpperBound(), m_ConstantInt(&end)) &&
         elements.getElementType().isInteger(end.getBitWidth()) &&
         elements.getSplatValue<APInt>().sge(end);
}

/// All of `mask` is what its parts from outside of the loop are, but perhaps
/// in the last iteration.
bool UniformTensors::isTrueButLast(Value mask) {
  if (loop.isDefinedOutsideOfLoop(mask))
    return isUniform(mask);
  Operation *op = mask.getDefiningOp();
  if (op && keepsElements(op))
    return isTrueButLast(op->getOperand(0));
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  Operation *only = generic ? onlyOperation(generic) : nullptr;
  if (!only || only->getNumOperands() != 2)
    return false;
  Value left = blockOf(generic, only->getOperand(0)),
        right = blockOf(generic, only->getOperand(1));
  if (!left || !right)
    return false;
  if (isa<arith::AndIOp>(only))
    return isTrueButLast(left) && isTrueButLast(right);
  // Where there is a next iteration, all indices of this one are before it.
  auto compare = dyn_cast<arith::CmpIOp>(only);
  APInt step;
  auto behind = distanceFromIndex(left);
  return compare && compare.getPredicate() == arith::CmpIPredicate::slt &&
         !loop.getUnsignedCmp() && behind &&
         matchPattern(loop.getStep(), m_ConstantInt(&step)) &&
         step.sgt(*behind) && isEndOfLoop(right);
}

/// A choice of two uniform tensors by a mask that ends in the last iteration.
bool UniformTensors::isUniformButLast(Value value) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  Operation *select = generic ? onlyOperation(generic) : nullptr;
  if (!isa_and_present<arith::SelectOp>(select) ||
      loop.isDefinedOutsideOfLoop(value))
    return false;
  Value mask = blockOf(generic, select->getOperand(0));
  return mask && isTrueButLast(mask) &&
         llvm::all_of(select->getOperands().drop_front(), [&](Value choice) {
           Value block = blockOf(generic, choice);
           return block && isUniform(block);
         });
}

bool UniformTensors::isComputedFromNumbers(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    auto [then, otherwise] = choicesOf(branch, cast<OpResult>(value));
    return then && isUniform(then) && isUniform(otherwise);
  }
  if (isOneNumber(op))
    return !isa<tensor::EmptyOp>(op);
  if (keepsElements(op))
    return isUniform(op->getOperand(0));
  if (isa<arith::SelectOp>(op))
    return llvm::all_of(op->getOperands(),
                        [&](Value operand) { return isUniform(operand); });
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return readsOnlyInputs(op) && isPure(op) &&
         llvm::all_of(*generic.getBody(),
                      [](Operation &inner) {
                        return inner.getNumRegions() == 0 &&
                               !isa<linalg::IndexOp>(inner);
                      }) &&
         llvm::all_of(generic.getInputs(),
                      [&](Value input) { return isUniform(input); });
}

Ending::Ending(Value yielded)
    : choice(yielded.getDefiningOp<linalg::GenericOp>()) {
  Operation *select = onlyOperation(choice);
  mask = blockOf(choice, select->getOperand(0));
  for (unsigned i : {0, 1})
    choices[i] = blockOf(choice, select->getOperand(1 + i));
}
