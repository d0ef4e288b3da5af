//===- FlattenBranches.cpp - branches over elements become selections -----===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"
#include "triton-to-linalg/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilebridge::ttl {
#define GEN_PASS_DEF_FLATTENBRANCHESPASS
#include "triton-to-linalg/Passes.h.inc"
} // namespace tilebridge::ttl

using namespace mlir;
using namespace tilebridge;

static bool isDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
      op);
}

/// The op may run for elements whose branch it is not in. A division may, once
/// it divides by 1 for these.
static bool mayRunAlways(Operation &op) {
  if (isa<scf::YieldOp>(op))
    return true;
  return op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
         (isDivision(&op) || isSpeculatable(&op));
}

static void moveBefore(scf::IfOp op, Block &block, bool whenTrue) {
  for (Operation &inner :
       llvm::make_early_inc_range(block.without_terminator())) {
    inner.moveBefore(op);
    if (!isDivision(&inner))
      continue;
    OpBuilder builder(&inner);
    Value divisor = inner.getOperand(1);
    Value one = arith::ConstantOp::create(
        builder, inner.getLoc(), builder.getOneAttr(divisor.getType()));
    inner.setOperand(1, arith::SelectOp::create(builder, inner.getLoc(),
                                                op.getCondition(),
                                                whenTrue ? divisor : one,
                                                whenTrue ? one : divisor));
  }
}

/// Computes both branches and selects, where all that they do is to compute.
static void flatten(scf::IfOp op) {
  if (!llvm::all_of(*op.thenBlock(), mayRunAlways) ||
      (op.elseBlock() && !llvm::all_of(*op.elseBlock(), mayRunAlways)))
    return;
  moveBefore(op, *op.thenBlock(), /*whenTrue=*/true);
  if (op.elseBlock())
    moveBefore(op, *op.elseBlock(), /*whenTrue=*/false);
  OpBuilder builder(op);
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    result.replaceAllUsesWith(arith::SelectOp::create(
        builder, op.getLoc(), op.getCondition(), op.thenYield().getOperand(i),
        op.elseYield().getOperand(i)));
  op.erase();
}

namespace {
struct FlattenBranches : ttl::impl::FlattenBranchesPassBase<FlattenBranches> {
  void runOnOperation() override {
    getOperation()->walk([](tt::MapElementwiseOp map) {
      // Inner branches first: what is left of them may stand in the way.
      map.walk<WalkOrder::PostOrder>(flatten);
    });
  }
};
} // namespace
