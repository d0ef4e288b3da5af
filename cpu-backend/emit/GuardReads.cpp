//===- GuardReads.cpp - stores over what later nests read ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A block that is loaded, and used again after a store to another argument, is
// read twice where it lies: hardly ever do the arguments overlap. Before the
// store is done, their ranges are compared; if they overlap, the block is
// copied, and from there on the copy is read. Loops exist once: what they read
// is chosen before.
//===----------------------------------------------------------------------===//

#include "cpu-backend/DecisionRemark.h"
#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/Guard.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Before `stores`, which are done at once, are emitted.
LogicalResult FunctionEmitter::guardReads(ArrayRef<GuardedStore> stores) {
  llvm::SmallSetVector<Value, 4> tensors;
  for (const GuardedStore &store : stores)
    tensors.insert_range(plan.guardedBy(store.op));
  llvm::DenseMap<Operation *, ByteRange> ranges;
  for (Value tensor : tensors) {
    if (!tensor || !loads.count(tensor))
      return stores.front().op->emitError()
             << "'" << guardsAttr << "' names no load before it; "
             << "tilebridge-cpu-plan writes it";
    Location loc = tensor.getLoc();
    GuardBuilder guard(rewriter, loc);
    View &view = *loads.find(tensor)->second;
    ByteRange read = guard.rangeOf(view);
    Value overlaps;
    for (const GuardedStore &store : stores) {
      if (!llvm::is_contained(plan.guardedBy(store.op), tensor))
        continue;
      auto [it, isNew] = ranges.try_emplace(store.op);
      if (isNew)
        it->second = guard.rangeOf(store.view);
      Value pair = guard.overlap(store.view, it->second, view, read,
                                 /*sameIsSafe=*/false);
      overlaps =
          overlaps
              ? arith::OrIOp::create(rewriter, loc, overlaps, pair).getResult()
              : pair;
    }
    // One copy is enough: no store overlaps it.
    auto [scratch, isNew] = readCopies.try_emplace(tensor);
    if (isNew)
      scratch->second = scratchLike(view, loc);
    auto branch =
        scf::IfOp::create(rewriter, loc, overlaps, /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard inside(rewriter);
      rewriter.setInsertionPoint(branch.thenBlock()->getTerminator());
      if (failed(materialize(tensor, scratch->second, /*isCold=*/true)))
        return failure();
    }
    redirect(view, scratch->second, overlaps, loc);
  }
  for (const GuardedStore &store : stores)
    Decision(store.op->getLoc(), "guarded")
        .report("may write where a block was loaded that is used again: the "
                "ranges are compared when the kernel runs, and where they "
                "overlap the block is copied to scratch memory first");
  return success();
}

LogicalResult FunctionEmitter::emitScalarStore(Operation *op) {
  auto store = cast<memref::StoreOp>(op);
  Location loc = op->getLoc();
  // As large as one element.
  SmallVector<int64_t> ones(store.getIndices().size(), 1);
  View view = makeView(rewriter, loc, mapScalar(store.getMemRef()), ones);
  for (auto [index, stride] : llvm::zip_equal(store.getIndices(), view.strides))
    view.offset = addIndex(rewriter, loc, view.offset,
                           mulIndex(rewriter, loc, mapScalar(index), stride));
  view.shape.clear();
  view.strides.clear();
  view.lo.clear();
  view.hi.clear();
  if (failed(guardReads({{op, view}})))
    return failure();
  rewriter.clone(*op, map)->removeDiscardableAttr(guardsAttr);
  return success();
}
