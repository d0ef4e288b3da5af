//===- SkipIdle.cpp - PEs without a program do only their part ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What PEs of a line do together is before the branch, and everything else in
// it. In a loop over steps it stays as it is: loads of the next step are early.
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Effects.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/plan/Tiles.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELSKIPIDLEPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

// The one program of a kernel of one step that some PEs have none in.
static ProgramOp onlyProgram(func::FuncOp kernel) {
  ProgramOp found;
  bool isOne = true;
  kernel.walk([&](ProgramOp program) {
    isOne &= !found;
    found = program;
  });
  if (!found || !isOne || found->getParentOp() != kernel ||
      found.getActive().use_empty())
    return {};
  return found;
}

// What PEs of lines do together, in order; none where one of these is in a
// loop or a branch.
static std::optional<SmallVector<CopyOp>> sharedLoads(func::FuncOp kernel,
                                                      Block *block) {
  SmallVector<CopyOp> shared;
  bool areAll = true;
  kernel.walk([&](Operation *op) {
    if (op->hasAttr(reduceAttr) || isa<ReduceLineOp, BarrierOp>(op))
      areAll = false;
    auto copy = dyn_cast<CopyOp>(op);
    if (!copy || !copy.getMulticast())
      return;
    areAll &= copy->getBlock() == block;
    shared.push_back(copy);
  });
  return areAll ? std::optional(shared) : std::nullopt;
}

// What a load needs of the block behind the program; false where that is
// something that has to stay where it is.
static bool collect(CopyOp copy, ProgramOp program,
                    llvm::SetVector<Operation *> &needed) {
  Block *block = program->getBlock();
  SmallVector<Operation *> worklist{copy};
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (!needed.insert(op))
      continue;
    if (op != copy && !isMemoryEffectFree(op))
      return false;
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        Operation *made = operand.getDefiningOp();
        made = made ? block->findAncestorOpInBlock(*made) : nullptr;
        if (made && made != op && program->isBeforeInBlock(made))
          worklist.push_back(made);
      }
    });
  }
  for (Operation *op = program->getNextNode(); op != copy;
       op = op->getNextNode())
    if (containsWriteTo(op, copy))
      return false;
  return true;
}

namespace {
struct AccelSkipIdlePass
    : accel::impl::AccelSkipIdlePassBase<AccelSkipIdlePass> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(kernelAttr))
      return;
    ProgramOp program = onlyProgram(kernel);
    if (!program)
      return;
    Block *block = program->getBlock();
    std::optional<SmallVector<CopyOp>> shared = sharedLoads(kernel, block);
    if (!shared)
      return;
    llvm::SetVector<Operation *> needed;
    for (CopyOp copy : *shared)
      if (program->isBeforeInBlock(copy) && !collect(copy, program, needed))
        return;

    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(program);
    auto guard =
        scf::IfOp::create(builder, program.getLoc(), program.getActive(),
                          /*withElseRegion=*/false);
    for (Operation &op : llvm::make_early_inc_range(llvm::make_range(
             std::next(guard->getIterator()), std::prev(block->end())))) {
      if (needed.contains(&op))
        op.moveBefore(guard);
      else
        op.moveBefore(guard.thenBlock()->getTerminator());
    }
  }
};
} // namespace
