//===- Transfers.cpp - copies: what they move, and when -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/simulator/Simulator.h"

using namespace mlir;
using tilebridge::reference::Datum;

namespace tilebridge::accel {

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Step Simulator::start(Pe &pe, Operation *op, size_t &number) {
  if (letOthersGoFirst(pe))
    return Step::Parked;
  Transfer transfer;
  if (!readOperands(pe, op, transfer))
    return Step::Failed;
  const DmaEngine *kind = nullptr;
  Engine *engine =
      chooseEngine(pe, transfer.from.memory, transfer.to.memory, kind);
  if (!kind) {
    error(pe, op) << "copies from '"
                  << target.memories[transfer.from.memory].name << "' to '"
                  << target.memories[transfer.to.memory].name
                  << "', which no engine of the target does";
    return Step::Failed;
  }
  if (!engine)
    return Step::Parked;
  transfer.engine = size_t(engine->number);
  if (!checkTransfer(pe, transfer) ||
      (isLegalized && !checkDescriptor(pe, transfer)))
    return Step::Failed;
  charge(transfer);
  number = transfers.size();
  transfer.number = number;
  pe.time +=
      1 /
      target.unitFor(operations::scalar, "i32").rate(operations::scalar, "i32");
  transfer.issued = pe.time;
  if (!transfer.multicast.empty()) {
    std::optional<size_t> group = join(pe, op, transfer.multicast, number);
    if (!group)
      return Step::Failed;
    transfer.group = group;
    transfer.isLeader = groups[*group].arrived.front() == number;
  }
  transfers.push_back(transfer);
  if (transfer.group && !checkMulticast(pe, transfer))
    return Step::Failed;
  mark(transfers.back(), 1);
  engine->queue.push_back(number);
  tryStart(*engine, pe.time);
  return Step::Next;
}

Step Simulator::await(Pe &pe, Operation *op, size_t number) {
  Transfer &transfer = transfers[number];
  if (transfer.isWaited) {
    error(pe, op) << "waits for a transfer that was waited for before";
    return Step::Failed;
  }
  if (!transfer.isComplete) {
    transfer.hasWaiter = true;
    if (!pe.parkedSince)
      pe.parkedSince = pe.time;
    bool isIncomplete =
        transfer.group && groups[*transfer.group].arrived.size() <
                              groups[*transfer.group].members;
    pe.waitsFor = isIncomplete
                      ? "a multicast that not all PEs of the line take part in"
                      : "a transfer";
    return Step::Parked;
  }
  pe.time = std::max(pe.time, transfer.completeAt);
  if (!transfer.hasLanded && !land(transfer))
    return Step::Failed;
  transfer.isWaited = true;
  mark(transfer, -1);
  return Step::Next;
}

Step Simulator::executeCopyStart(Pe &pe, Operation *op) {
  size_t number = 0;
  Step step = start(pe, op, number);
  if (step == Step::Next)
    pe.program->set(op->getResult(0),
                    Datum(op->getResult(0).getType(), {}, {number + 1}));
  return step;
}

Step Simulator::executeCopy(Pe &pe, Operation *op) {
  if (!pe.ownTransfer) {
    size_t number = 0;
    Step step = start(pe, op, number);
    if (step != Step::Next)
      return step;
    pe.ownTransfer = number;
  }
  double before = pe.time;
  Step step = await(pe, op, *pe.ownTransfer);
  if (step == Step::Next) {
    pe.ownTransfer.reset();
    endWait(pe, before);
  }
  return step;
}

void Simulator::endWait(Pe &pe, double before) {
  double since = pe.parkedSince.value_or(before);
  pe.parkedSince.reset();
  pe.waitCycles += pe.time - since;
  trace.add(Trace::Kind::Pe, size_t(pe.number), "wait", since, pe.time);
}

/// The token of no transfer is 0.
Step Simulator::executeCompleted(Pe &pe, Operation *op) {
  pe.program->set(op->getResult(0),
                  Datum(op->getResult(0).getType(), {}, {uint64_t(0)}));
  return Step::Next;
}

Step Simulator::executeWait(Pe &pe, Operation *op) {
  if (letOthersGoFirst(pe))
    return Step::Parked;
  // All of them are there before any is ended, as the instruction may run
  // again.
  for (Value token : op->getOperands()) {
    uint64_t number = pe.program->lanes(token).front();
    if (number == 0 || transfers[number - 1].isComplete)
      continue;
    assert(transfers[number - 1].pe == size_t(pe.number) &&
           "tokens do not leave a PE");
    return await(pe, op, number - 1);
  }
  double before = pe.time;
  for (Value token : op->getOperands()) {
    uint64_t number = pe.program->lanes(token).front();
    if (number == 0)
      continue;
    Step step = await(pe, op, number - 1);
    if (step != Step::Next)
      return step;
  }
  endWait(pe, before);
  return Step::Next;
}

} // namespace tilebridge::accel
