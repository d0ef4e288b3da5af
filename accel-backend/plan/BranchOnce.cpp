//===- BranchOnce.cpp - a loop of at most one iteration is a branch -------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELBRANCHONCEPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

// Whether the loop runs once where a condition holds, and else not at all;
// which one. Null for other loops.
static Value conditionOf(scf::ForOp loop) {
  auto times = loop.getUpperBound().getDefiningOp<arith::SelectOp>();
  if (!times || !matchPattern(loop.getLowerBound(), m_Zero()) ||
      !matchPattern(loop.getStep(), m_One()) ||
      !matchPattern(times.getTrueValue(), m_One()) ||
      !matchPattern(times.getFalseValue(), m_Zero()))
    return {};
  // What would need another buffer stays as it is.
  bool carriesBlocks = llvm::any_of(loop.getResultTypes(), [](Type type) {
    return !type.isIntOrIndexOrFloat();
  });
  return carriesBlocks ? Value() : times.getCondition();
}

static void makeBranch(scf::ForOp loop, Value condition) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  bool hasResults = loop.getNumResults();
  auto branch =
      scf::IfOp::create(builder, loc, loop.getResultTypes(), condition,
                        /*addThenBlock=*/true,
                        /*addElseBlock=*/hasResults);
  loop.getInductionVar().replaceAllUsesWith(loop.getLowerBound());
  for (auto [argument, init] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs()))
    argument.replaceAllUsesWith(init);
  Block *then = branch.thenBlock();
  then->clear();
  then->getOperations().splice(then->end(), loop.getBody()->getOperations());
  if (hasResults) {
    builder.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(builder, loc, loop.getInitArgs());
  }
  loop->replaceAllUsesWith(branch);
  loop->erase();
}

namespace {
struct AccelBranchOncePass
    : accel::impl::AccelBranchOncePassBase<AccelBranchOncePass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (Value condition = conditionOf(loop))
        makeBranch(loop, condition);
  }
};
} // namespace
