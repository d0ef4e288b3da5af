//===- Transfers.cpp - what transfers touch -------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/lower/Transfers.h"

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

bool tilebridge::accel::areApart(Value rootA, Value rootB) {
  if (rootA == rootB)
    return false;
  auto a = dyn_cast<BlockArgument>(rootA);
  auto b = dyn_cast<BlockArgument>(rootB);
  if (!a || !b || a.getOwner() != b.getOwner())
    return false;
  auto function = dyn_cast<FunctionOpInterface>(a.getOwner()->getParentOp());
  return function && (function.getArgAttr(a.getArgNumber(), noaliasAttr) ||
                      function.getArgAttr(b.getArgNumber(), noaliasAttr));
}

/// Adds the operands of `op` that are in chip memory, by what it does to them.
static void addEffects(Operation *op, MemoryEffectOpInterface interface,
                       ChipAccesses &accesses) {
  // What a wait completes is counted where it started.
  if (isa<WaitOp>(op))
    return;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    // Messages to the host are in no memory of the chip.
    if (isa<linalg_ext::PrintOp, linalg_ext::AssertOp, linalg_ext::ClockOp>(op))
      continue;
    Value value = effect.getValue();
    if (!value || !isa<MemRefType>(value.getType())) {
      accesses.unknown = true;
      continue;
    }
    if (!isInChipMemory(value.getType()))
      continue;
    if (isa<MemoryEffects::Read>(effect.getEffect()))
      accesses.read.push_back(transferRoot(value));
    else
      accesses.written.push_back(transferRoot(value));
  }
}

void ChipAccesses::add(Operation *root) {
  root->walk([&](Operation *op) {
    if (auto interface = dyn_cast<MemoryEffectOpInterface>(op))
      addEffects(op, interface, *this);
    else if (!op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
             !op->hasTrait<OpTrait::IsTerminator>())
      unknown = true;
  });
}
