//===- Effects.cpp - what a kernel's accesses do to the chip's memory -----===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/Effects.h"

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Readings.h"

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

bool tilebridge::accel::isSeen(Operation *op) {
  if (auto copy = dyn_cast<CopyOp>(op))
    return isInChipMemory(copy.getDest().getType());
  return isa<AtomicOp, memref::StoreOp, linalg_ext::PrintOp,
             linalg_ext::AssertOp, linalg_ext::AtomicRMWOp,
             linalg_ext::AtomicCASOp, linalg_ext::AtomicLoadOp,
             linalg_ext::AtomicStoreOp>(op);
}

bool tilebridge::accel::isPlainStore(Operation *op) {
  auto copy = dyn_cast<CopyOp>(op);
  return isa<memref::StoreOp>(op) || (copy && !copy.getAccumulate());
}

bool tilebridge::accel::readsChipMemory(Operation *op) {
  if (auto copy = dyn_cast<CopyOp>(op))
    return isInChipMemory(copy.getSource().getType());
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return isInChipMemory(load.getMemRefType());
  return isa<linalg_ext::AtomicLoadOp>(op);
}

// The memory of the chip that an operation accesses: it has one such operand.
static Value memoryOfAccess(Operation *op) {
  for (Value operand : op->getOperands())
    if (isInChipMemory(operand.getType()))
      return operand;
  return nullptr;
}

static bool isNoalias(BlockArgument argument) {
  auto kernel = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return kernel && kernel.getArgAttr(argument.getArgNumber(), noaliasAttr);
}

static bool mayOverlap(Value a, Value b) {
  if (!a || !b)
    return false;
  BlockArgument first = rootOf(a), second = rootOf(b);
  if (!first || !second || first == second)
    return true;
  return !isNoalias(first) && !isNoalias(second);
}

bool tilebridge::accel::mayTouchSameMemory(Operation *a, Operation *b) {
  return mayOverlap(memoryOfAccess(a), memoryOfAccess(b));
}

bool tilebridge::accel::isSameView(Value a, Value b) {
  if (a == b)
    return true;
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  if (!first || !second ||
      !isa<memref::SubViewOp, memref::ReinterpretCastOp, memref::CastOp>(first))
    return false;
  return OperationEquivalence::isEquivalentTo(
      first, second, [](Value x, Value y) { return success(isSameView(x, y)); },
      /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

bool tilebridge::accel::accessesSamePlaces(Operation *a, Operation *b) {
  auto first = dyn_cast<CopyOp>(a), second = dyn_cast<CopyOp>(b);
  if (!first || !second || first.getRows() || second.getRows())
    return false;
  return isSameView(memoryOfAccess(a), memoryOfAccess(b));
}

bool tilebridge::accel::containsWriteTo(Operation *op, Operation *reader) {
  return op
      ->walk([&](Operation *nested) {
        return isSeen(nested) && mayTouchSameMemory(nested, reader)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}
