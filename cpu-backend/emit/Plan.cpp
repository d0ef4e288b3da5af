//===- Plan.cpp - decides which tensors are in memory ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Decisions depend on one another: they are made again until nothing changes.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/PlanBuffers.h"
#include "cpu-backend/emit/PlanWrites.h"
#include "cpu-backend/emit/StreamScans.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

Plan::Plan(func::FuncOp func) {
  llvm::DenseMap<int64_t, Value> reads;
  func.walk([&](Operation *op) {
    if (auto nest = op->getAttrOfType<IntegerAttr>(nestAttr)) {
      nestOf[op] = nest.getInt();
      groups[nest.getInt()].push_back(op);
    }
    if (auto read = op->getAttrOfType<IntegerAttr>(readAttr))
      reads[read.getInt()] = op->getResult(0);
    // The loads are before the stores.
    if (auto numbers = op->getAttrOfType<DenseI64ArrayAttr>(guardsAttr))
      for (int64_t number : numbers.asArrayRef())
        guards[op].push_back(reads.lookup(number));
  });
  findStorages(func, *this, storages);
}

bool Plan::isBuffer(Value tensor) const {
  Operation *op = tensor.getDefiningOp();
  auto attr = op ? op->getAttrOfType<StringAttr>(planAttr) : nullptr;
  return attr && attr.getValue() == "buffer";
}

ArrayRef<Operation *> Plan::groupOf(Operation *op) const {
  auto it = nestOf.find(op);
  if (it == nestOf.end())
    return {};
  return groups.find(it->second)->second;
}

ArrayRef<Value> Plan::guardedBy(Operation *op) const {
  auto it = guards.find(op);
  return it == guards.end() ? ArrayRef<Value>() : ArrayRef(it->second);
}

Value Plan::storageOf(Value tensor) const {
  auto it = storages.find(tensor);
  return it == storages.end() ? tensor : it->second;
}

void tilebridge::cpu::decidePlan(func::FuncOp func) {
  sinkScalars(func);
  findStreamedScans(func);
  DirectOperands direct;
  findDirectOperands(func, direct);
  // Which loads are clobbered depends on which stores share a nest, and that on
  // what is inline.
  PlanChoices choices(func);
  BufferDecider decider(func, direct);
  Grouper grouper(func);
  Writes writes(func);
  while (true) {
    grouper.run(decider.run(choices));
    if (choices.carried.drop(func) || decider.update(choices.passing))
      continue;
    GuardedReads guarded(func);
    auto clobbered = decider.findClobbered(writes, guarded);
    if (clobbered.empty()) {
      guarded.write(func);
      return decider.report();
    }
    choices.forced.insert_range(clobbered);
  }
}
