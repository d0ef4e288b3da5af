//===- PlainAccesses.cpp - what kernels read and write --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/PlainAccesses.h"
#include "cpu-backend/emit/ShareOperands.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

Value tilebridge::cpu::baseOf(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (!isa<memref::ReinterpretCastOp, memref::CastOp, memref::SubViewOp>(op))
      break;
    memref = op->getOperand(0);
  }
  return memref;
}

Value tilebridge::cpu::accessedMemory(Operation *op) {
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
         accessedMemory(op) || isMemoryEffectFree(op);
}

bool tilebridge::cpu::isWholeName(Operation *op) {
  if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op))
    return op->getNumOperands() == 1 &&
           cast.getStaticOffsets() == ArrayRef<int64_t>{0} &&
           cast.getStaticStrides() == ArrayRef<int64_t>{1};
  return isa<memref::CastOp>(op);
}

bool tilebridge::cpu::onlyAsks(Operation *op) {
  if (isa<memref::PrefetchOp>(op))
    return true;
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && !op->getNumResults())
    return !op->walk([&](Operation *inner) {
                return inner == op || isPure(inner) ||
                               isa<memref::PrefetchOp, scf::YieldOp>(inner)
                           ? WalkResult::advance()
                           : WalkResult::interrupt();
              }).wasInterrupted();
  return isPure(op) && op->getNumResults() != 0 && !op->use_empty() &&
         llvm::all_of(op->getUsers(), onlyAsks);
}
