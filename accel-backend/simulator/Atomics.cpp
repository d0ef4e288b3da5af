//===- Atomics.cpp - atomic accesses of PEs -------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/simulator/Combine.h"
#include "accel-backend/simulator/Simulator.h"

#include "accel-backend/dialect/AccelOps.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <cstring>

using namespace mlir;
using tilebridge::reference::Lanes;
using tilebridge::reference::View;

namespace tilebridge::accel {

/// One PE runs at a time, so that each access is atomic.
Step Simulator::executeAtomic(Pe &pe, Operation *op) {
  if (letOthersGoFirst(pe))
    return Step::Parked;
  auto atomic = cast<AtomicOp>(op);
  for (Value block : {atomic.getOffsets(), atomic.getValues(),
                      atomic.getCompare(), atomic.getMask()})
    if (block && !checkBlock(pe, op, block, true, false))
      return Step::Failed;
  if (atomic.getOld() && !checkBlock(pe, op, atomic.getOld(), false, true))
    return Step::Failed;
  auto lanesOf = [&](Value block) {
    return block ? readBlock(pe, block).lanes() : Lanes();
  };
  reference::Datum offsets = readBlock(pe, atomic.getOffsets());
  Lanes values = lanesOf(atomic.getValues());
  Lanes compare = lanesOf(atomic.getCompare());
  Lanes mask = lanesOf(atomic.getMask());
  Type element = cast<MemRefType>(atomic.getBase().getType()).getElementType();
  unsigned bytes = reference::bytesOf(element);
  unsigned width = reference::widthOf(offsets.elementType());
  const View base = pe.program->view(atomic.getBase());
  Lanes olds(offsets.lanes().size(), 0);
  uint64_t accesses = 0;
  AtomicAction action = atomic.getAction();
  for (size_t lane = 0; lane < olds.size(); ++lane) {
    if (!mask.empty() && !mask[lane])
      continue;
    View one = base;
    one.offset += reference::signedValue(offsets.lanes()[lane], width);
    one.sizes.clear();
    one.strides.clear();
    Region region = Region::of(one, bytes);
    if (!checkChip(pe, op, one, region, "accesses"))
      return Step::Failed;
    auto *place = reinterpret_cast<void *>(region.address);
    uint64_t old = 0;
    std::memcpy(&old, place, bytes);
    olds[lane] = old;
    ++accesses;
    bool isStored =
        action != AtomicAction::Load &&
        (action != AtomicAction::CompareAndSwap || old == compare[lane]);
    if (!isStored)
      continue;
    uint64_t next = combined(action, old, values[lane], element);
    std::memcpy(place, &next, bytes);
  }
  if (atomic.getOld())
    writeBlock(pe, atomic.getOld(), olds);
  unsigned memory = memoryOf(atomic.getBase(), base);
  double end = pass(memory, pe, pe.time, accesses * bytes, false, "atomic");
  end = pass(memory, pe, end, accesses * bytes, true, "atomic");
  pe.time = end + target.memories[memory].latencyCycles;
  return Step::Next;
}

/// Those of linalg_ext on one element, as the evaluator does them.
Step Simulator::executeScalarAtomic(Pe &pe, Operation *op) {
  if (letOthersGoFirst(pe))
    return Step::Parked;
  pe.time += target.memories[chipMemory].latencyCycles;
  return evaluateScalar(pe, op);
}

} // namespace tilebridge::accel
