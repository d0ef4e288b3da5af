//===- Pipeline.cpp - transfers run beside compute ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/Passes.h"
#include "accel-backend/lower/LoopBuffers.h"
#include "accel-backend/lower/Transfers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELPIPELINEPASS
#include "accel-backend/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

namespace {
struct AccelPipeline
    : public accel::impl::AccelPipelinePassBase<AccelPipeline> {
  using AccelPipelinePassBase::AccelPipelinePassBase;
  void runOnOperation() override;
};
} // namespace

/// A load: from chip memory, without operands that compute has written.
static bool isLoad(Operation *op) {
  auto copy = dyn_cast<CopyOp>(op);
  if (copy)
    return isInChipMemory(copy.getSource().getType()) &&
           !isInChipMemory(copy.getDest().getType());
  auto start = dyn_cast<CopyStartOp>(op);
  return start && isInChipMemory(start.getSource().getType()) &&
         !isInChipMemory(start.getDest().getType());
}

/// True if a load into `buffer` may be under way while `op` runs.
static bool runsBeside(Operation *op, Value buffer) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return false;
  if (isMemoryEffectFree(op) || isa<AllocOp>(op))
    return true;
  return isLoad(op) && llvm::none_of(op->getOperands(), [&](Value operand) {
           return isa<MemRefType>(operand.getType()) &&
                  transferRoot(operand) == buffer;
         });
}

/// The copy becomes a start, and a wait before the first op that needs it.
static void split(IRRewriter &rewriter, CopyOp copy) {
  rewriter.setInsertionPoint(copy);
  Operation *next = copy->getNextNode();
  auto start = startOf(rewriter, copy, copy.getOperands());
  if (isLoad(copy)) {
    Value buffer = transferRoot(copy.getDest());
    while (runsBeside(next, buffer))
      next = next->getNextNode();
  }
  rewriter.setInsertionPoint(next);
  WaitOp::create(rewriter, copy.getLoc(), ValueRange(start.getToken()));
  rewriter.eraseOp(copy);
}

/// Tokens are of transfers between buffers.
static LogicalResult checkBuffers(Operation *root) {
  WalkResult result = root->walk([](CopyOp copy) {
    if (llvm::none_of(copy->getOperandTypes(), llvm::IsaPred<TensorType>))
      return WalkResult::advance();
    copy.emitError("is a copy of tensors, which cannot be started before it "
                   "is waited for: run tilebridge-accel-bufferize first");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

void AccelPipeline::runOnOperation() {
  if (failed(checkBuffers(getOperation())))
    return signalPassFailure();
  IRRewriter rewriter(&getContext());
  SmallVector<scf::ForOp> loops;
  // Inner loops come first.
  getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    bufferLoop(rewriter, loop, depth);
  SmallVector<CopyOp> copies;
  getOperation()->walk([&](CopyOp copy) { copies.push_back(copy); });
  for (CopyOp copy : copies)
    split(rewriter, copy);
}
