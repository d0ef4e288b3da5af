//===- AtomicAccesses.cpp - atomic accesses to blocks ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/lower/Copies.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

/// The op in destination style; `type` is that of the old values, null where
/// there are none.
static void replaceAtomic(RewriterBase &rewriter, Operation *op,
                          AtomicAction action, linalg_ext::MemSem sem,
                          linalg_ext::MemScope scope, Value base, Value offsets,
                          Value values, Value compare, Value mask,
                          RankedTensorType type) {
  Value old;
  SmallVector<Type, 1> results;
  if (type) {
    old = tensor::EmptyOp::create(rewriter, op->getLoc(), type.getShape(),
                                  type.getElementType());
    results.push_back(type);
  }
  auto atomic =
      AtomicOp::create(rewriter, op->getLoc(), TypeRange(results), action, sem,
                       scope, base, offsets, values, compare, mask, old);
  rewriter.replaceOp(op, atomic->getResults());
}

LogicalResult tilebridge::accel::lowerAtomicAccess(RewriterBase &rewriter,
                                                   Operation *op) {
  rewriter.setInsertionPoint(op);
  if (auto rmw = dyn_cast<linalg_ext::AtomicRMWOp>(op)) {
    auto type = dyn_cast<RankedTensorType>(rmw.getType());
    if (type) // Kinds have the same numbers in both dialects.
      replaceAtomic(rewriter, op, static_cast<AtomicAction>(rmw.getKind()),
                    rmw.getSem(), rmw.getScope(), rmw.getBase(),
                    rmw.getOffset(), rmw.getValue(), {}, rmw.getMask(), type);
  } else if (auto cas = dyn_cast<linalg_ext::AtomicCASOp>(op)) {
    auto type = dyn_cast<RankedTensorType>(cas.getType());
    if (type)
      replaceAtomic(rewriter, op, AtomicAction::CompareAndSwap, cas.getSem(),
                    cas.getScope(), cas.getBase(), cas.getOffset(),
                    cas.getValue(), cas.getCompare(), {}, type);
  } else if (auto load = dyn_cast<linalg_ext::AtomicLoadOp>(op)) {
    auto type = dyn_cast<RankedTensorType>(load.getType());
    if (type)
      replaceAtomic(rewriter, op, AtomicAction::Load, load.getSem(),
                    load.getScope(), load.getBase(), load.getOffset(), {}, {},
                    load.getMask(), type);
  } else if (auto store = dyn_cast<linalg_ext::AtomicStoreOp>(op)) {
    if (isa<RankedTensorType>(store.getValue().getType()))
      replaceAtomic(rewriter, op, AtomicAction::Store, store.getSem(),
                    store.getScope(), store.getBase(), store.getOffset(),
                    store.getValue(), {}, store.getMask(), {});
  }
  return success();
}
