//===- UniformCarried.cpp - tilebridge-cpu-uniform-carried ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Kernels that find means and variances in one pass count, for each lane, how
// many elements it has seen, and divide by that. Where no lane is masked, all
// counts are one number: the loop carries it as one, and the division is a
// product with one reciprocal. A row's end masks lanes in the last iteration
// only: until then it is one number, and behind the loop a choice of two.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/UniformTensors.h"
#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUUNIFORMCARRIEDPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge::cpu;

namespace {

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

  /// What a mask is in all iterations but the last; null: true.
  Value untilLast(Value mask, scf::ForOp loop) {
    if (loop.isDefinedOutsideOfLoop(mask))
      return of(mask);
    Operation *op = mask.getDefiningOp();
    if (keepsElements(op))
      return untilLast(op->getOperand(0), loop);
    auto generic = cast<linalg::GenericOp>(op);
    Operation *only = onlyOperation(generic);
    if (isa<arith::CmpIOp>(only))
      return {};
    Value left = untilLast(blockOf(generic, only->getOperand(0)), loop),
          right = untilLast(blockOf(generic, only->getOperand(1)), loop);
    if (!left || !right)
      return left ? left : right;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(op);
    return arith::AndIOp::create(b, op->getLoc(), left, right);
  }

private:
  IRRewriter &b;
  llvm::DenseMap<Value, Value> numbers;
};

/// `value`, as it is computed from the index of the loop that `map` has another
/// value for.
Value copied(OpBuilder &b, Value value, scf::ForOp loop, IRMapping &map) {
  if (map.contains(value) || loop.isDefinedOutsideOfLoop(value))
    return map.lookupOrDefault(value);
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    map.map(operand, copied(b, operand, loop, map));
  b.clone(*op, map);
  return map.lookup(value);
}

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
    llvm::MapVector<unsigned, Ending> endings;
    for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
      if (!uniform.contains(argument))
        continue;
      places.push_back(i);
      Value yielded = loop.getYieldedValues()[i];
      if (!uniform.isUniform(yielded))
        endings.insert({i, Ending(yielded)});
    }
    Numbers numbers(rewriter);
    SmallVector<Value> inits;
    for (unsigned i : places)
      inits.push_back(numbers.of(loop.getInitArgs()[i]));
    // What the last iteration chooses from, and its index.
    for (auto &[i, ending] : endings)
      inits.append(2, numbers.of(loop.getInitArgs()[i]));
    if (!endings.empty())
      inits.push_back(loop.getLowerBound());
    // Loops with the numbers behind what they carried.
    auto added = loop.replaceWithAdditionalYields(
        rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
          // The code is in the old loop yet.
          rewriter.setInsertionPointToStart(loop.getBody());
          for (auto [i, number] : llvm::zip(places, arguments)) {
            Value tensor = loop.getRegionIterArgs()[i];
            Value splat = tensor::SplatOp::create(rewriter, loop.getLoc(),
                                                  tensor.getType(), number);
            rewriter.replaceAllUsesWith(tensor, splat);
          }
          SmallVector<Value> yielded, last;
          for (unsigned i : places) {
            auto *ending = endings.find(i);
            if (ending == endings.end()) {
              yielded.push_back(numbers.of(loop.getYieldedValues()[i]));
              continue;
            }
            // An argument of the loop is a splat by now.
            Ending now(loop.getYieldedValues()[i]);
            Value chosen = numbers.of(now.choices[0]),
                  other = numbers.of(now.choices[1]);
            last.append({chosen, other});
            rewriter.setInsertionPoint(now.choice);
            if (Value mask = numbers.untilLast(now.mask, loop))
              chosen = arith::SelectOp::create(rewriter, now.choice.getLoc(),
                                               mask, chosen, other);
            yielded.push_back(chosen);
          }
          llvm::append_range(yielded, last);
          if (!endings.empty())
            yielded.push_back(loop.getInductionVar());
          return yielded;
        });
    if (failed(added))
      return;
    auto self = cast<scf::ForOp>(added->getOperation());
    unsigned first = self.getNumResults() - inits.size(),
             last = first + places.size();
    rewriter.setInsertionPointAfter(self);
    IRMapping atEnd;
    atEnd.map(self.getInductionVar(), self.getResults().back());
    auto yield = cast<scf::YieldOp>(self.getBody()->getTerminator());
    for (auto [n, i] : llvm::enumerate(places)) {
      Value result = self.getResult(i), whole;
      auto splat = [&](unsigned number) -> Value {
        return tensor::SplatOp::create(
            rewriter, self.getLoc(), result.getType(), self.getResult(number));
      };
      if (endings.contains(i)) {
        Ending ending(yield.getOperand(i));
        Value mask = copied(rewriter, ending.mask, self, atEnd);
        Value init =
            copied(rewriter, ending.choice.getDpsInits().front(), self, atEnd);
        IRMapping map;
        map.map(ending.choices[0], splat(last));
        if (ending.choices[1] != ending.choices[0])
          map.map(ending.choices[1], splat(last + 1));
        map.map(ending.mask, mask);
        map.map(ending.choice.getDpsInits().front(), init);
        whole = rewriter.clone(*ending.choice, map)->getResult(0);
        last += 2;
      } else {
        whole = splat(first + n);
      }
      rewriter.replaceAllUsesWith(result, whole);
      // Carried no longer: what canonicalization takes away.
      yield.setOperand(i, self.getRegionIterArgs()[i]);
    }
  }
};

} // namespace
