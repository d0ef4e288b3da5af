//===- HoistCopies.cpp - what was loaded is not loaded again --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Effects.h"
#include "accel-backend/plan/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELHOISTCOPIESPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

// A load that gives a block of its own.
static bool isLoad(CopyOp copy) {
  return isInChipMemory(copy.getSource().getType()) && copy->getNumResults();
}

static bool isDefinedOutside(scf::ForOp loop, Value value) {
  return !loop->isAncestor(value.getParentBlock()->getParentOp());
}

// What an operand of a copy is computed by, as far as it is in the loop; false
// where that changes from iteration to iteration.
static bool collect(scf::ForOp loop, Value value,
                    llvm::SetVector<Operation *> &needed) {
  if (isDefinedOutside(loop, value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() || !isPure(op) ||
      op->getNumRegions())
    return false;
  for (Value operand : op->getOperands())
    if (!collect(loop, operand, needed))
      return false;
  needed.insert(op);
  return true;
}

static bool runsAtLeastOnce(scf::ForOp loop) {
  std::optional<APInt> count = loop.getStaticTripCount();
  return count && !count->isZero();
}

// Out of each loop that does not change what is loaded. A loop that may not run
// at all may not load: there may be nothing.
static void hoist(CopyOp copy) {
  while (auto loop = dyn_cast<scf::ForOp>(copy->getParentOp())) {
    llvm::SetVector<Operation *> needed;
    bool isInvariant = llvm::all_of(copy->getOperands(), [&](Value operand) {
      return collect(loop, operand, needed);
    });
    if (!isInvariant || !runsAtLeastOnce(loop) || containsWriteTo(loop, copy))
      return;
    for (Operation *op : needed)
      op->moveBefore(loop);
    copy->moveBefore(loop);
  }
}

// Whether something between two operations of one block may write what the
// second one reads.
static bool isWrittenBetween(Operation *first, Operation *second) {
  for (Operation *op = first->getNextNode(); op != second;
       op = op->getNextNode())
    if (containsWriteTo(op, second))
      return true;
  return false;
}

static bool isFresh(Value dest) {
  return dest.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

static bool isSameLoad(CopyOp a, CopyOp b) {
  bool isWhole = a.getDest() == b.getDest() ||
                 (isFresh(a.getDest()) && isFresh(b.getDest()) &&
                  a.getDest().getType() == b.getDest().getType());
  if (!isWhole || !isSameView(a.getSource(), b.getSource()))
    return false;
  // Everything but source and dest: the same values and attributes.
  return a.getRows() == b.getRows() && a.getMask() == b.getMask() &&
         a.getPad() == b.getPad() && a.getDim() == b.getDim() &&
         llvm::equal(a.getLow(), b.getLow()) &&
         a->getAttrDictionary() == b->getAttrDictionary();
}

static void mergeIn(Block &block) {
  SmallVector<CopyOp> loads;
  for (CopyOp copy : llvm::make_early_inc_range(block.getOps<CopyOp>())) {
    if (!isLoad(copy))
      continue;
    CopyOp *same = llvm::find_if(loads, [&](CopyOp other) {
      return isSameLoad(other, copy) && !isWrittenBetween(other, copy);
    });
    if (same == loads.end()) {
      loads.push_back(copy);
      continue;
    }
    copy->replaceAllUsesWith(same->getOperation());
    copy->erase();
  }
}

namespace {
struct AccelHoistCopiesPass
    : accel::impl::AccelHoistCopiesPassBase<AccelHoistCopiesPass> {
  void runOnOperation() override {
    SmallVector<CopyOp> loads;
    getOperation().walk([&](CopyOp copy) {
      if (isLoad(copy))
        loads.push_back(copy);
    });
    for (CopyOp copy : loads)
      hoist(copy);
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      mergeIn(*block);
  }
};
} // namespace
