//===- UniformLanes.cpp - tilebridge-cpu-uniform-lanes --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A reduction to a mean and a variance counts, in each lane, how many elements
// it has seen, and divides by that. As long as no lane is masked all counts are
// one number. A vector of divisions takes ten cycles and more, a single one is
// hidden behind the rest.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUUNIFORMLANESPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge::cpu;

/// What all lanes of `vector` are, as its definition says; null where it does
/// not.
static OpFoldResult numberAtHand(Value vector) {
  if (auto broadcast = vector.getDefiningOp<vector::BroadcastOp>();
      broadcast && !isa<VectorType>(broadcast.getSource().getType()))
    return broadcast.getSource();
  SplatElementsAttr splat;
  if (matchPattern(vector, m_Constant(&splat)))
    return splat.getSplatValue<Attribute>();
  return {};
}

static bool isElementwise(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) &&
         op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         op->getNumOperands() != 0;
}

namespace {
/// The vectors of a loop whose lanes are one number.
class UniformVectors {
public:
  explicit UniformVectors(scf::ForOp loop) : loop(loop) {
    for (auto [argument, init] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs()))
      if (isa<VectorType>(argument.getType()) && numberAtHand(init))
        uniform.insert(argument);
    // What is assumed of one may depend on another.
    for (size_t before = 0; before != arguments().size();) {
      before = arguments().size();
      for (Operation &op : *loop.getBody())
        if (!op.getResults().empty())
          visit(op);
      for (auto [argument, yielded] :
           llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()))
        if (!isUniform(yielded))
          uniform.erase(argument);
    }
  }

  SmallVector<unsigned> arguments() {
    SmallVector<unsigned> result;
    for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
      if (uniform.contains(argument))
        result.push_back(i);
    return result;
  }

  /// Numbers are, too.
  bool isUniform(Value value) const {
    return !isa<VectorType>(value.getType()) || uniform.contains(value) ||
           numberAtHand(value);
  }

private:
  void visit(Operation &op) {
    Value result = op.getResult(0);
    if (isa<VectorType>(result.getType()) && isElementwise(&op) &&
        llvm::all_of(op.getOperands(),
                     [&](Value operand) { return isUniform(operand); }))
      uniform.insert(result);
    else
      uniform.erase(result);
  }

  scf::ForOp loop;
  llvm::DenseSet<Value> uniform;
};

class Numbers {
public:
  explicit Numbers(IRRewriter &rewriter) : b(rewriter) {}

  void set(Value vector, Value number) { numbers[vector] = number; }

  /// What all lanes of a uniform vector are, where that is computed.
  Value of(Value vector) {
    if (!isa<VectorType>(vector.getType()))
      return vector;
    if (Value known = numbers.lookup(vector))
      return known;
    OpBuilder::InsertionGuard guard(b);
    if (OpFoldResult number = numberAtHand(vector)) {
      if (auto value = dyn_cast<Value>(number))
        return value;
      b.setInsertionPointAfterValue(vector);
      return numbers[vector] = arith::ConstantOp::create(
                 b, vector.getLoc(), cast<TypedAttr>(cast<Attribute>(number)));
    }
    Operation *op = vector.getDefiningOp();
    auto operands = llvm::map_to_vector(
        op->getOperands(), [&](Value operand) { return of(operand); });
    b.setInsertionPoint(op);
    SmallVector<Type> types = {getElementTypeOrSelf(vector.getType())};
    Operation *copy = Operation::create(
        op->getLoc(), op->getName(), types, operands,
        op->getDiscardableAttrDictionary(), op->getPropertiesStorage(), {}, 0);
    return numbers[vector] = b.insert(copy)->getResult(0);
  }

private:
  IRRewriter &b;
  llvm::DenseMap<Value, Value> numbers;
};

struct UniformLanesPass
    : public tilebridge::cpu::impl::CpuUniformLanesPassBase<UniformLanesPass> {
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
    UniformVectors uniform(loop);
    SmallVector<unsigned> places = uniform.arguments();
    if (places.empty())
      return;
    Numbers numbers(rewriter);
    SmallVector<Value> inits;
    for (unsigned i : places)
      inits.push_back(numbers.of(loop.getInitArgs()[i]));
    SmallVector<Operation *> computed;
    for (Operation &op : *loop.getBody())
      if (isElementwise(&op) && isa<VectorType>(op.getResult(0).getType()) &&
          uniform.isUniform(op.getResult(0)))
        computed.push_back(&op);
    auto widen = [&](Value vector, Value number) {
      Value wide = vector::BroadcastOp::create(rewriter, number.getLoc(),
                                               vector.getType(), number);
      rewriter.replaceAllUsesWith(vector, wide);
    };
    auto added = loop.replaceWithAdditionalYields(
        rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
          // The code is in the old loop yet.
          for (auto [i, number] : llvm::zip_equal(places, arguments))
            numbers.set(loop.getRegionIterArgs()[i], number);
          SmallVector<Value> yielded;
          for (unsigned i : places)
            yielded.push_back(numbers.of(loop.getYieldedValues()[i]));
          for (Operation *op : computed) {
            Value number = numbers.of(op->getResult(0));
            rewriter.setInsertionPointAfter(op);
            widen(op->getResult(0), number);
          }
          rewriter.setInsertionPointToStart(loop.getBody());
          for (auto [i, number] : llvm::zip_equal(places, arguments))
            widen(loop.getRegionIterArgs()[i], number);
          return yielded;
        });
    if (failed(added))
      return;
    auto self = cast<scf::ForOp>(added->getOperation());
    unsigned first = self.getNumResults() - places.size();
    rewriter.setInsertionPointAfter(self);
    auto yield = cast<scf::YieldOp>(self.getBody()->getTerminator());
    for (auto [n, i] : llvm::enumerate(places)) {
      widen(self.getResult(i), self.getResult(first + n));
      // Carried no longer: what canonicalization takes away.
      yield.setOperand(i, self.getRegionIterArgs()[i]);
    }
  }
};

} // namespace
