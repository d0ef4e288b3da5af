//===- LoadsInStep.cpp - loads that PEs of a line could do together -------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/LoadsInStep.h"

#include "accel-backend/plan/Effects.h"
#include "accel-backend/plan/Readings.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

static bool isLoad(CopyOp copy) {
  return isInChipMemory(copy.getSource().getType()) &&
         !isInChipMemory(copy.getDest().getType());
}

SmallVector<CopyOp> tilebridge::accel::loadsOf(scf::ForOp loop) {
  SmallVector<CopyOp> loads;
  bool areDirect = true;
  loop->walk([&](CopyOp copy) {
    if (!isLoad(copy))
      return;
    areDirect &= copy->getBlock() == loop.getBody();
    loads.push_back(copy);
  });
  return areDirect ? loads : SmallVector<CopyOp>();
}

std::optional<NeededByLoads> tilebridge::accel::neededBy(ArrayRef<CopyOp> loads,
                                                         scf::ForOp loop) {
  NeededByLoads needed;
  SmallVector<Value> worklist;
  auto add = [&](Operation *op) {
    if (!needed.ops.insert(op))
      return;
    llvm::append_range(worklist, op->getOperands());
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    llvm::append_range(worklist, captured);
  };
  for (CopyOp load : loads)
    add(load);
  Block *body = loop.getBody();
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!loop->isAncestor(value.getParentBlock()->getParentOp()))
      continue;
    if (Operation *made = value.getDefiningOp()) {
      if (!isa<CopyOp>(made) && !isMemoryEffectFree(made))
        return std::nullopt;
      add(made);
      continue;
    }
    if (value == loop.getInductionVar())
      continue;
    // A block that is loaded into over and over belongs to the computation.
    if (!value.getType().isIntOrIndex())
      return std::nullopt;
    unsigned number = cast<BlockArgument>(value).getArgNumber() - 1;
    if (needed.carried.insert(number))
      worklist.push_back(body->getTerminator()->getOperand(number));
  }
  // They come before everything else.
  for (CopyOp load : loads)
    for (Operation &op : *body) {
      if (&op == load)
        break;
      if (!needed.ops.contains(&op) && containsWriteTo(&op, load))
        return std::nullopt;
    }
  return needed;
}

Sharing tilebridge::accel::linesOf(ArrayRef<CopyOp> loads, scf::ForOp loop,
                                   const Target &target, Turns &turns) {
  SmallVector<Value> values{loop.getLowerBound(), loop.getStep()};
  for (CopyOp load : loads)
    llvm::append_range(values, sourceOf(load));
  Sharing lines = turns.ofAccess(loop, values);
  for (CopyOp load : loads) {
    const DmaEngine *engine = target.findEngine(
        memoryOf(load.getSource(), target).name, target.localMemory().name);
    lines.alongRows &= engine && hasRows(engine->multicast);
    lines.alongColumns &= engine && hasColumns(engine->multicast);
  }
  return lines;
}
