//===- GroupIterations.cpp - tilebridge-cpu-group-iterations --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Products are often written as they are defined: one step along K in each
// iteration, a number of `a` by a row of `b`, or a column by a row. On a GPU
// the sums stay in registers. Here each step reads all of them from scratch
// memory and writes them there, which takes twice as long as the arithmetic.
// Several steps at once do so once.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/CarriedBlocks.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUGROUPITERATIONSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// As many rows are read at once: sums take a fifth of the accesses.
static constexpr int64_t together = 4;
/// Of one iteration: the code becomes five times as much.
static constexpr int64_t mostOps = 60;
/// Of one iteration and element: where there is more to do, the way to memory
/// is hidden by it.
static constexpr int64_t mostCost = 8;
/// An end minus some steps of the usual integers does not run over.
static constexpr int64_t mostStep = 1 << 20;

/// It counts up from a number that is not negative.
static bool countsUp(scf::ForOp loop) {
  APInt first, step;
  return !loop.getUnsignedCmp() &&
         matchPattern(loop.getLowerBound(), m_ConstantInt(&first)) &&
         matchPattern(loop.getStep(), m_ConstantInt(&step)) &&
         first.getBitWidth() >= 32 && !first.isNegative() &&
         step.isStrictlyPositive() && step.slt(mostStep);
}

/// Blocks of floats are multiplied and added up by hardly anything else.
static bool onlyMultiplies(scf::ForOp loop) {
  int64_t ops = 0, cost = 0;
  bool multiplies = false;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isa<linalg_ext::LinalgExtDialect>(op.getDialect()) ||
        isMaskedApart(op) || callsMathFunction(&op))
      return false;
    ops += !op.hasTrait<OpTrait::ConstantLike>();
    if (!isElementwise(&op))
      continue;
    cost += costOfBody(&op);
    multiplies |= anyInside(&op, llvm::IsaPred<arith::MulFOp>);
  }
  return multiplies && ops <= mostOps && cost <= mostCost &&
         llvm::all_of(loop.getRegionIterArgs(), [](Value block) {
           auto type = dyn_cast<RankedTensorType>(block.getType());
           return !type || isa<FloatType>(type.getElementType());
         });
}

/// The iteration at `number`: what it hands on.
static SmallVector<Value> cloneIteration(OpBuilder &b, scf::ForOp loop,
                                         Value number, ValueRange carried) {
  IRMapping map;
  map.map(loop.getInductionVar(), number);
  map.map(loop.getRegionIterArgs(), carried);
  for (Operation &op : loop.getBody()->without_terminator())
    b.clone(op, map);
  return llvm::map_to_vector(loop.getYieldedValues(), [&](Value value) {
    return map.lookupOrDefault(value);
  });
}

/// The loop behind it does what is left, from the number on that it hands on.
static void group(scf::ForOp loop) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Value first = loop.getLowerBound(), end = loop.getUpperBound();
  Type type = first.getType();
  APInt step;
  matchPattern(loop.getStep(), m_ConstantInt(&step));
  auto steps = [&](int64_t count) -> Value {
    return arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(type, step.getSExtValue() * count));
  };
  // The last iteration of a group begins before this one's end.
  Value hasAny =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, first, end);
  Value before = arith::SubIOp::create(b, loc, end, steps(together - 1));
  before = arith::SelectOp::create(b, loc, hasAny, before, first);
  SmallVector<Value> inits(loop.getInitArgs());
  inits.push_back(first);
  auto grouped =
      scf::ForOp::create(b, loc, first, before, steps(together), inits);
  {
    OpBuilder::InsertionGuard guard(b);
    if (!grouped.getBody()->empty())
      grouped.getBody()->getTerminator()->erase();
    b.setInsertionPointToEnd(grouped.getBody());
    Value number = grouped.getInductionVar();
    SmallVector<Value> carried(grouped.getRegionIterArgs().drop_back());
    for (int64_t i = 0; i < together; ++i) {
      if (i != 0)
        number = arith::AddIOp::create(b, loc, number, steps(1));
      carried = cloneIteration(b, loop, number, carried);
    }
    carried.push_back(arith::AddIOp::create(b, loc, number, steps(1)));
    scf::YieldOp::create(b, loc, carried);
  }
  loop.setLowerBound(grouped.getResults().back());
  loop.getInitArgsMutable().assign(grouped.getResults().drop_back());
}

namespace {
struct CpuGroupIterationsPass
    : tilebridge::cpu::impl::CpuGroupIterationsPassBase<
          CpuGroupIterationsPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (countsUp(loop) && carriesInPlace(loop) && onlyMultiplies(loop))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      group(loop);
  }
};
} // namespace
