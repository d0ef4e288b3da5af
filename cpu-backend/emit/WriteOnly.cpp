//===- WriteOnly.cpp - arguments that a kernel does not read --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/merge/ProgramBatch.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace tilebridge::cpu;

BlockArgument tilebridge::cpu::argumentOf(Value memref) {
  // Pointers that loops carry lead from loop to loop, never around.
  while (memref) {
    if (auto argument = dyn_cast<BlockArgument>(memref)) {
      Operation *parent = argument.getOwner()->getParentOp();
      if (isa<func::FuncOp>(parent))
        return argument;
      auto loop = dyn_cast<scf::ForOp>(parent);
      if (!loop || argument == loop.getInductionVar())
        return {};
      memref = loop.getTiedLoopInit(argument)->get();
      continue;
    }
    auto view = dyn_cast<ViewLikeOpInterface>(memref.getDefiningOp());
    if (!view)
      return {};
    memref = view.getViewSource();
  }
  return {};
}

/// What an op such as a scatter does with the memory of `operand`.
static bool writesOnly(Operation *op, Value operand) {
  SmallVector<MemoryEffects::EffectInstance> effects;
  if (auto interface = dyn_cast<MemoryEffectOpInterface>(op))
    interface.getEffectsOnValue(operand, effects);
  return !effects.empty() && llvm::all_of(effects, [](const auto &effect) {
    return isa<MemoryEffects::Write>(effect.getEffect());
  });
}

/// The arguments that are only written, or nothing at all where other threads
/// may wait for what is written: ordinary stores are seen in their order.
llvm::DenseSet<Value> tilebridge::cpu::findWriteOnly(func::FuncOp func) {
  llvm::DenseSet<Value> read, written;
  bool isOrdered =
      !func->hasAttr("tilebridge.kernel") && !func->hasAttr(mergedCountAttr);
  func.walk([&](Operation *op) {
    isOrdered |= mayWait(op);
    if (auto store = dyn_cast<bufferization::MaterializeInDestinationOp>(op)) {
      if (Value argument = argumentOf(store.getDest()))
        written.insert(argument);
      return;
    }
    if (isa<ViewLikeOpInterface, scf::ForOp>(op))
      return;
    if (auto yield = dyn_cast<scf::YieldOp>(op))
      if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp())) {
        for (auto [from, init] :
             llvm::zip_equal(yield.getOperands(), loop.getInitArgs()))
          if (isa<MemRefType>(init.getType()) &&
              argumentOf(from) != argumentOf(init))
            isOrdered = true;
        return;
      }
    for (Value operand : op->getOperands())
      if (isa<MemRefType>(operand.getType()))
        if (Value argument = argumentOf(operand))
          (writesOnly(op, operand) ? written : read).insert(argument);
  });
  if (isOrdered)
    return {};
  for (Value argument : read)
    written.erase(argument);
  return written;
}

bool FunctionEmitter::isWriteOnly(Value memref) const {
  Value argument = argumentOf(memref);
  return argument && writeOnly.contains(argument);
}
