//===- FoldUniform.cpp - what is the same in all programs -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Turns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELFOLDUNIFORMPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

namespace {
struct AccelFoldUniformPass
    : accel::impl::AccelFoldUniformPassBase<AccelFoldUniformPass> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(kernelAttr))
      return;
    FailureOr<std::optional<Target>> target = targetOf(kernel);
    if (failed(target))
      return signalPassFailure();
    std::optional<Grids> grids = gridsOf(kernel, *target);
    if (!grids || !grids->programs())
      return;
    Turns turns(kernel, **target, grids);
    SmallVector<std::pair<Operation *, int64_t>> uniform;
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      // The values of a body are those of single elements.
      if (isa<linalg::LinalgOp, ComputeOp>(op))
        return WalkResult::skip();
      if (op->getNumResults() != 1 || isa<arith::ConstantOp, PeCountOp>(op) ||
          op->use_empty())
        return WalkResult::advance();
      const InstanceValues::Row *row = turns.valuesOf(op->getResult(0));
      if (row && llvm::all_equal(*row))
        uniform.push_back({op, row->front()});
      return WalkResult::advance();
    });
    for (auto [op, value] : uniform) {
      OpBuilder builder(op);
      Type type = op->getResult(0).getType();
      op->getResult(0).replaceAllUsesWith(arith::ConstantOp::create(
          builder, op->getLoc(), builder.getIntegerAttr(type, value)));
    }
  }
};
} // namespace
