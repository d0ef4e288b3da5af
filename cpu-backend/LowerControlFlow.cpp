//===- LowerControlFlow.cpp - loops and branches become blocks ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Rewrite/PatternApplicator.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPULOWERCONTROLFLOWPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge::cpu;

/// All operations of `scf` that have regions, the last ones first, but outer
/// ones before what they hold: the pattern for a `while` that tests at its end
/// looks for that end in the region's first block. Terminators with regions
/// (`scf.reduce`) go with what they end.
static SmallVector<Operation *> structured(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk<WalkOrder::PreOrder, ReverseIterator>([&](Operation *op) {
    if (isa_and_nonnull<scf::SCFDialect>(op->getDialect()) &&
        op->getNumRegions() && !op->hasTrait<OpTrait::IsTerminator>())
      ops.push_back(op);
  });
  return ops;
}

namespace {

struct LowerControlFlowPass
    : public tilebridge::cpu::impl::CpuLowerControlFlowPassBase<
          LowerControlFlowPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet set(&getContext());
    populateSCFToControlFlowConversionPatterns(set);
    FrozenRewritePatternSet patterns(std::move(set));
    PatternApplicator applicator(patterns);
    applicator.applyDefaultCostModel();
    PatternRewriter rewriter(&getContext());
    // Some become loops first: these are for the next round.
    for (SmallVector<Operation *> ops = structured(getOperation());
         !ops.empty(); ops = structured(getOperation()))
      for (Operation *op : ops) {
        rewriter.setInsertionPoint(op);
        if (failed(applicator.matchAndRewrite(op, rewriter))) {
          op->emitOpError("has no form as branches between blocks");
          return signalPassFailure();
        }
      }
  }
};

} // namespace
