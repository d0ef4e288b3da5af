//===- UniformCarried.cpp - tilebridge-cpu-uniform-carried ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Kernels that find means and variances in one pass count, for each lane, how
// many elements it has seen, and divide by that. Where no lane is masked, all
// counts are one number: the loop carries it as one, and the division is a
// product with one reciprocal.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUUNIFORMCARRIEDPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge::cpu;

/// What a branch that only chooses gives as `result`: one of two values from
/// before it.
static std::pair<Value, Value> choicesOf(scf::IfOp branch, OpResult result) {
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

namespace {

/// The tensors of a loop that have one number in all their elements.
class UniformTensors {
public:
  UniformTensors(scf::ForOp loop) : loop(loop) {
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
        if (arguments.contains(argument) && !isUniform(yielded))
          arguments.erase(argument);
    }
  }

  bool contains(Value value) const { return arguments.contains(value); }
  bool empty() const { return arguments.empty(); }

  bool isUniform(Value value) {
    if (!isa<RankedTensorType>(value.getType()) || arguments.contains(value))
      return true;
    auto [place, isNew] = known.try_emplace(value, false);
    if (isNew && isComputedFromNumbers(value))
      known[value] = true;
    return known[value];
  }

private:
  bool isComputedFromNumbers(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      auto [then, otherwise] = choicesOf(branch, cast<OpResult>(value));
      return then && isUniform(then) && isUniform(otherwise);
    }
    if (isOneNumber(op))
      return !isa<tensor::EmptyOp>(op);
    if (isa<linalg::BroadcastOp, linalg::TransposeOp, tensor::ExpandShapeOp,
            tensor::CollapseShapeOp>(op))
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

  scf::ForOp loop;
  llvm::DenseSet<Value> arguments;
  llvm::DenseMap<Value, bool> known;
};

/// The number that all elements of a uniform tensor are, computed where the
/// tensor is.
class Numbers {
public:
  explicit Numbers(IRRewriter &rewriter) : b(rewriter) {}

  Value of(Value value) {
    if (!isa<RankedTensorType>(value.getType()))
      return value;
    Value &number = numbers[value];
    if (number)
      return number;
    Operation *op = value.getDefiningOp();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(op);
    Value result;
    if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
      result = splat.getInput();
    } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      result =
          arith::ConstantOp::create(b, op->getLoc(),
                                    cast<SplatElementsAttr>(constant.getValue())
                                        .getSplatValue<TypedAttr>());
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      auto [then, otherwise] = choicesOf(branch, cast<OpResult>(value));
      result = arith::SelectOp::create(b, op->getLoc(), branch.getCondition(),
                                       of(then), of(otherwise));
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      Value condition = of(select.getCondition());
      result = arith::SelectOp::create(b, op->getLoc(), condition,
                                       of(select.getTrueValue()),
                                       of(select.getFalseValue()));
    } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      IRMapping mapping;
      for (OpOperand *input : generic.getDpsInputOperands())
        mapping.map(generic.getMatchingBlockArgument(input), of(input->get()));
      for (Operation &inner : generic.getBody()->without_terminator())
        b.clone(inner, mapping);
      result = mapping.lookupOrDefault(
          generic.getBody()->getTerminator()->getOperand(0));
    } else {
      result = of(op->getOperand(0));
    }
    return numbers[value] = result;
  }

private:
  IRRewriter &b;
  llvm::DenseMap<Value, Value> numbers;
};

struct UniformCarriedPass
    : public tilebridge::cpu::impl::CpuUniformCarriedPassBase<
          UniformCarriedPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    IRRewriter rewriter(&getContext());
    for (scf::ForOp loop : loops)
      carryNumbers(loop, rewriter);
  }

private:
  static void carryNumbers(scf::ForOp loop, IRRewriter &rewriter) {
    UniformTensors uniform(loop);
    if (uniform.empty())
      return;
    SmallVector<unsigned> places;
    for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
      if (uniform.contains(argument))
        places.push_back(i);
    Numbers numbers(rewriter);
    SmallVector<Value> inits;
    for (unsigned i : places)
      inits.push_back(numbers.of(loop.getInitArgs()[i]));
    // Loops with the numbers behind what they carried.
    auto added = loop.replaceWithAdditionalYields(
        rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
          // The code is in the old loop yet.
          rewriter.setInsertionPointToStart(loop.getBody());
          for (auto [i, number] : llvm::zip_equal(places, arguments)) {
            Value tensor = loop.getRegionIterArgs()[i];
            Value splat = tensor::SplatOp::create(rewriter, loop.getLoc(),
                                                  tensor.getType(), number);
            rewriter.replaceAllUsesWith(tensor, splat);
          }
          SmallVector<Value> yielded;
          for (unsigned i : places)
            yielded.push_back(numbers.of(loop.getYieldedValues()[i]));
          return yielded;
        });
    if (failed(added))
      return;
    auto self = cast<scf::ForOp>(added->getOperation());
    unsigned first = self.getNumResults() - places.size();
    rewriter.setInsertionPointAfter(self);
    auto yield = cast<scf::YieldOp>(self.getBody()->getTerminator());
    for (auto [n, i] : llvm::enumerate(places)) {
      Value result = self.getResult(i);
      rewriter.replaceAllUsesWith(
          result,
          tensor::SplatOp::create(rewriter, self.getLoc(), result.getType(),
                                  self.getResult(first + n)));
      // Carried no longer: what canonicalization takes away.
      yield.setOperand(i, self.getRegionIterArgs()[i]);
    }
  }
};

} // namespace
