//===- TakenValues.cpp - what is left to another program ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/TakenValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Kept numbers are few, or another program costs more than it saves.
static constexpr unsigned maxKept = 8;

static bool isNumber(Value value) {
  return value.getType().isIntOrIndexOrFloat();
}

TakenValues::From TakenValues::originOf(Value value) {
  if (isThere(value))
    return From::Arguments;
  if (auto found = origins.find(value); found != origins.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  From from = From::Arguments;
  if (op->getNumRegions() != 0 || !isPure(op)) {
    from = isNumber(value) ? From::Numbers : From::Others;
  } else {
    for (Value operand : op->getOperands())
      from = std::max(from, originOf(operand));
    // A quotient by what was not computed would be an error.
    if (from == From::Numbers &&
        isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
      from = From::Others;
  }
  return origins[value] = from;
}

bool TakenValues::add(Value value) {
  if (isThere(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (slice.contains(op) || kept.contains(value))
    return true;
  bool isComputed = op->getNumRegions() == 0 && isPure(op);
  if (isNumber(value) && (!isComputed || originOf(value) == From::Others)) {
    kept.insert(value);
    return kept.size() <= maxKept;
  }
  if (!isComputed)
    return false;
  for (Value operand : op->getOperands())
    if (!add(operand))
      return false;
  slice.insert(op);
  return true;
}

bool TakenValues::add(ArrayRef<Operation *> operations) {
  DenseSet<Operation *> inside(operations.begin(), operations.end());
  Block *block = operations.front()->getBlock();
  auto isInside = [&](Value value) {
    Operation *owner = value.getDefiningOp();
    if (!owner)
      owner = value.getParentBlock()->getParentOp();
    Operation *top = block->findAncestorOpInBlock(*owner);
    return top && inside.contains(top);
  };
  for (Operation *root : operations) {
    WalkResult walked = root->walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (!isInside(operand) && !add(operand))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return false;
  }
  return true;
}
