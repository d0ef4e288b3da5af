//===- SinkScalars.cpp - results of reductions as late as they are needed -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The sum over a block as a scalar is there when the sum's nest has ended. A
// program that divides it before it sums something else would end the nest too
// early: what follows from such a scalar moves down to where it is used, so
// that reductions over one block meet in one nest.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/PlanGroups.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// A scalar that only the end of a nest gives.
static bool isReduced(Operation *op) {
  auto extract = dyn_cast<tensor::ExtractOp>(op);
  return extract && isa_and_nonnull<linalg::ReduceOp, linalg_ext::ReduceOp>(
                        extract.getTensor().getDefiningOp());
}

/// Where it stands does not matter, as long as it is before its uses.
static bool isMovable(Operation *op) {
  if (isReduced(op))
    return true;
  if (mayRead(op) || mayWrite(op) || op->hasTrait<OpTrait::IsTerminator>())
    return false;
  OpKind kind = kindOf(op);
  return kind == OpKind::Inlineable ||
         (kind == OpKind::Scalar && op->getNumRegions() == 0);
}

static void sinkIn(Block &block) {
  llvm::DenseSet<Operation *> late;
  for (Operation &op : block)
    if (isReduced(&op) ||
        (llvm::any_of(op.getOperands(),
                      [&](Value operand) {
                        return late.contains(operand.getDefiningOp());
                      }) &&
         isMovable(&op)))
      late.insert(&op);
  if (late.empty())
    return;
  // What writes stays where it is.
  Operation *nextWrite = nullptr;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (!late.contains(&op)) {
      if (mayWrite(&op))
        nextWrite = &op;
      continue;
    }
    if (op.use_empty())
      continue;
    Operation *place = block.getTerminator();
    for (Operation *user : op.getUsers())
      if (Operation *ancestor = block.findAncestorOpInBlock(*user);
          ancestor && ancestor->isBeforeInBlock(place))
        place = ancestor;
    // What the plan may turn into memory is to be computed before anything that
    // it reads is overwritten.
    if (nextWrite && nextWrite->isBeforeInBlock(place))
      place = nextWrite;
    if (place != op.getNextNode())
      op.moveBefore(place);
  }
}

void tilebridge::cpu::sinkScalars(func::FuncOp func) {
  func.walk([](Block *block) {
    if (!isa<linalg::LinalgOp, linalg_ext::ReduceOp>(block->getParentOp()))
      sinkIn(*block);
  });
}
