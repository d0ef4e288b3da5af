//===- LiftControlFlow.cpp - branches between blocks become scf -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/Passes.h"
#include "frontend/TTOps.h"

#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CFGToSCF.h"
#include "mlir/Transforms/RegionUtils.h"

namespace tilebridge::frontend {
#define GEN_PASS_DEF_LIFTCONTROLFLOWPASS
#include "frontend/Passes.h.inc"
} // namespace tilebridge::frontend

using namespace mlir;
using namespace tilebridge::tt;

namespace {
/// Upstream's lifting to scf; only what ends a region that never returns is
/// ours: it returns poison.
struct Lifting : ControlFlowToSCFTransformation {
  FailureOr<Operation *> createUnreachableTerminator(Location loc,
                                                     OpBuilder &builder,
                                                     Region &region) override {
    SmallVector<Value> values;
    if (auto func = dyn_cast<FuncOp>(region.getParentOp())) {
      for (Type type : func.getResultTypes())
        values.push_back(getUndefValue(loc, builder, type));
      return ReturnOp::create(builder, loc, values).getOperation();
    }
    if (auto map = dyn_cast<MapElementwiseOp>(region.getParentOp())) {
      for (Type type : map.getResultTypes())
        values.append(map.getPackAttr().getInt(),
                      getUndefValue(loc, builder, elementTypeOf(type)));
      return MapElementwiseReturnOp::create(builder, loc, values)
          .getOperation();
    }
    return failure();
  }
};

struct LiftControlFlowPass
    : tilebridge::frontend::impl::LiftControlFlowPassBase<LiftControlFlowPass> {
  using Base::Base;

  void runOnOperation() override {
    // Inner regions first: the code of a map may stand in a block that moves.
    WalkResult result =
        getOperation().walk<WalkOrder::PostOrder>([&](Operation *op) {
          if (!isa<FuncOp, MapElementwiseOp>(op) || op->getRegion(0).empty() ||
              succeeded(lift(op)))
            return WalkResult::advance();
          return WalkResult::interrupt();
        });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult lift(Operation *op) {
    Region &region = op->getRegion(0);
    if (region.hasOneBlock())
      return success();
    IRRewriter rewriter(op->getContext());
    (void)eraseUnreachableBlocks(rewriter, region);
    if (!region.hasOneBlock()) {
      Lifting lifting;
      DominanceInfo dominance(op);
      if (failed(transformCFGToSCF(region, lifting, dominance)))
        return op->emitError() << "its branches could not be turned into "
                                  "loops and conditions";
    }
    if (!region.hasOneBlock())
      return op->emitError() << "its blocks do not all end the same way; "
                                "expected one kind of return";
    return success();
  }
};
} // namespace
