//===- NeededValues.cpp - what later code computes again ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/NeededValues.h"
#include "cpu-backend/emit/ShareOperands.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// Kept numbers are few, or another program costs more than it saves.
static constexpr unsigned maxKept = 8;

static bool isNumber(Value value) {
  return value.getType().isIntOrIndexOrFloat();
}

bool NeededValues::isThere(Value value) const {
  return isa<BlockArgument>(value) || (isGiven && isGiven(value));
}

NeededValues::From NeededValues::originOf(Value value) {
  if (isThere(value))
    return From::Arguments;
  if (auto found = origins.find(value); found != origins.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  From from = From::Arguments;
  if (op->getNumRegions() != 0 || !isPure(op)) {
    from = isNumber(value) ? From::Numbers : From::Others;
  } else {
    for (Value operand : op->getOperands()) {
      From origin = originOf(operand);
      if (keep == Keep::First && isNumber(operand))
        origin = std::min(origin, From::Numbers);
      from = std::max(from, origin);
    }
    // A quotient by what was not computed would be an error.
    if (from == From::Numbers &&
        isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
      from = From::Others;
  }
  return origins[value] = from;
}

bool NeededValues::takesFromLater(Value value) {
  if (!isLater || isThere(value))
    return false;
  if (auto found = fromLater.find(value); found != fromLater.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  bool takes = isLater(op) || llvm::any_of(op->getOperands(), [&](Value from) {
                 return takesFromLater(from);
               });
  return fromLater[value] = takes;
}

bool NeededValues::add(Value value) {
  if (isThere(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (slice.contains(op) || kept.contains(value) || (isLater && isLater(op)))
    return true;
  bool isComputed = op->getNumRegions() == 0 && isPure(op);
  From leastKept = keep == Keep::Last ? From::Numbers : From::Others;
  if (isNumber(value) && !takesFromLater(value) &&
      (!isComputed || originOf(value) >= leastKept)) {
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

bool NeededValues::addOperands(Operation *op) {
  return !op->walk([&](Operation *inner) {
              for (Value operand : inner->getOperands())
                if (!op->isAncestor(operand.getParentBlock()->getParentOp()) &&
                    !add(operand))
                  return WalkResult::interrupt();
              return WalkResult::advance();
            }).wasInterrupted();
}

Value tilebridge::cpu::namedMemory(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (!isa<memref::ReinterpretCastOp, memref::CastOp, memref::SubViewOp>(op))
      break;
    memref = op->getOperand(0);
  }
  return memref;
}

Value tilebridge::cpu::accessedMemref(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return load.getMemRef();
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return store.getMemRef();
  if (auto load = dyn_cast<vector::LoadOp>(op))
    return load.getBase();
  if (auto store = dyn_cast<vector::StoreOp>(op))
    return store.getBase();
  if (auto load = dyn_cast<vector::MaskedLoadOp>(op))
    return load.getBase();
  if (auto store = dyn_cast<vector::MaskedStoreOp>(op))
    return store.getBase();
  if (auto gather = dyn_cast<vector::GatherOp>(op))
    return gather.getBase();
  return {};
}

bool tilebridge::cpu::isPlainWrite(Operation *op) {
  return isa<memref::StoreOp, vector::StoreOp, vector::MaskedStoreOp>(op);
}

/// Calls a function that only computes, such as the one for the programs'
/// order.
static bool isPureCall(func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  return callee && !callee.isExternal() &&
         !callee
              .walk([](Operation *op) {
                return isa<func::FuncOp, func::ReturnOp>(op) ||
                               isMemoryEffectFree(op)
                           ? WalkResult::advance()
                           : WalkResult::interrupt();
              })
              .wasInterrupted();
}

bool tilebridge::cpu::isPlain(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return isPureCall(call);
  return isa<func::FuncOp, func::ReturnOp, scf::ForOp, scf::IfOp, scf::YieldOp,
             memref::PrefetchOp>(op) ||
         (isa<memref::AllocOp>(op) && !op->hasAttr(keptAttr) &&
          !op->hasAttr(zeroedAttr)) ||
         accessedMemref(op) || isMemoryEffectFree(op);
}
