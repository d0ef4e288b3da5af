//===- LoopStores.cpp - stores that the next iteration waits for ---------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/lower/LoopBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

void tilebridge::accel::bufferStores(IRRewriter &rewriter, LoopWork &work) {
  scf::ForOp loop = work.loop;
  Location loc = loop.getLoc();
  Type token = TokenType::get(rewriter.getContext());
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> inits = {arith::ConstantIndexOp::create(rewriter, loc, 0)};
  SmallVector<Value> slots;
  for (Operation *op : work.stores) {
    AllocOp alloc = bufferOf(storeIn(op).getSource(), loop);
    slots.push_back(makeSlots(rewriter, work, alloc, 2));
    inits.push_back(CompletedOp::create(rewriter, loc, token));
  }
  auto newLoop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
        return SmallVector<Value>(arguments.begin(), arguments.end());
      }));
  work.loop = newLoop;
  ArrayRef<BlockArgument> added =
      newLoop.getRegionIterArgs().take_back(inits.size());
  rewriter.setInsertionPointToStart(newLoop.getBody());
  SmallVector<Value> yields = {nextSlot(rewriter, loc, added[0], 2)};
  for (auto [n, op] : llvm::enumerate(work.stores)) {
    CopyOp store = storeIn(op);
    AllocOp alloc = bufferOf(store.getSource(), newLoop);
    rewriter.setInsertionPoint(alloc);
    Value view = slotOf(rewriter, alloc.getLoc(), slots[n], added[0]);
    replaceBuffer(rewriter, alloc.getMemref(), view);
    rewriter.eraseOp(alloc);
    // The store of the iteration before is complete when this one starts.
    rewriter.setInsertionPoint(op);
    WaitOp::create(rewriter, op->getLoc(), ValueRange(added[1 + n]));
    if (op == store) {
      yields.push_back(startOf(rewriter, store, store.getOperands()));
      rewriter.eraseOp(store);
      continue;
    }
    auto branch = cast<scf::IfOp>(op);
    auto newBranch =
        scf::IfOp::create(rewriter, op->getLoc(), TypeRange(token),
                          branch.getCondition(), /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(newBranch.thenBlock());
    CopyStartOp start = startOf(rewriter, store, store.getOperands());
    scf::YieldOp::create(rewriter, op->getLoc(), start.getToken());
    rewriter.setInsertionPointToStart(newBranch.elseBlock());
    scf::YieldOp::create(
        rewriter, op->getLoc(),
        CompletedOp::create(rewriter, op->getLoc(), token).getToken());
    yields.push_back(newBranch.getResult(0));
    rewriter.eraseOp(branch);
  }
  auto yield = cast<scf::YieldOp>(newLoop.getBody()->getTerminator());
  yield->setOperands(yield->getNumOperands() - yields.size(), yields.size(),
                     yields);
  rewriter.setInsertionPointAfter(newLoop);
  WaitOp::create(rewriter, loc,
                 newLoop.getResults().take_back(work.stores.size()));
}
