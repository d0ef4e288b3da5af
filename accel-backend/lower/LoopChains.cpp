//===- LoopChains.cpp - indices and masks of early loads ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/lower/LoopChains.h"

#include "accel-backend/lower/LoopBuffers.h"
#include "accel-backend/lower/Transfers.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

void Chain::add(const Chain &other) {
  for (Operation *op : other.ops)
    if (!llvm::is_contained(ops, op))
      ops.push_back(op);
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (AllocOp buffer : other.buffers)
    if (!llvm::is_contained(buffers, buffer))
      buffers.push_back(buffer);
}

// Whether a buffer is a destination of an op.
static bool writesTo(Operation *op, Value buffer) {
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
    return llvm::is_contained(dps.getDpsInits(), buffer);
  return false;
}

static bool isOnBlocks(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.hasPureBufferSemantics();
}

// Whether nothing in the loop writes a buffer from outside of it. What takes a
// view of it may.
static bool isOnlyRead(Value buffer, scf::ForOp loop) {
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    return !loop->isAncestor(user) ||
           ((isOnBlocks(user) || isa<CopyOp>(user)) && !writesTo(user, buffer));
  });
}

namespace {
class ChainFinder {
public:
  ChainFinder(CopyOp load, scf::ForOp loop,
              llvm::function_ref<bool(CopyOp)> isFeed,
              llvm::function_ref<bool(Value)> canRepeat)
      : load(load), loop(loop), isFeed(isFeed), canRepeat(canRepeat) {}

  std::optional<Chain> run() {
    for (Value operand : {load.getRows(), load.getMask()})
      if (operand && !addBuffer(operand))
        return std::nullopt;
    Chain chain;
    chain.ops = llvm::to_vector(ops);
    llvm::sort(chain.ops, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    chain.buffers = llvm::to_vector(buffers);
    chain.feeds = llvm::to_vector(feeds);
    return chain;
  }

private:
  bool addBuffer(Value buffer) {
    auto alloc = buffer.getDefiningOp<AllocOp>();
    if (!alloc || alloc->getBlock() != loop.getBody())
      return !loop.getRegion().isAncestor(buffer.getParentRegion()) &&
             isOnlyRead(buffer, loop);
    if (buffers.contains(alloc) || fed.contains(alloc))
      return true;
    for (Operation *user : buffer.getUsers()) {
      if (auto copy = dyn_cast<CopyOp>(user);
          copy && copy.getDest() == buffer && isFeed(copy)) {
        feeds.insert(copy);
        fed.insert(alloc);
        continue;
      }
      bool isRead =
          (isOnBlocks(user) || isa<CopyOp>(user)) && !writesTo(user, buffer) &&
          !(isa<CopyOp>(user) && cast<CopyOp>(user).getDest() == buffer);
      if (isRead)
        continue;
      if (!isOnBlocks(user) || user->getBlock() != loop.getBody() ||
          !user->isBeforeInBlock(load) || !addOp(user))
        return false;
    }
    // It is either loaded or computed.
    if (fed.contains(alloc))
      return llvm::none_of(buffer.getUsers(), [&](Operation *user) {
        return ops.contains(user) && writesTo(user, buffer);
      });
    buffers.insert(alloc);
    return true;
  }

  bool addOp(Operation *op) {
    if (!ops.insert(op))
      return true;
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    captured.insert(op->operand_begin(), op->operand_end());
    for (Value value : captured) {
      bool isWritten = writesTo(op, value);
      if (!isa<MemRefType>(value.getType())) {
        if (!canRepeat(value))
          return false;
        continue;
      }
      if (isWritten) {
        auto alloc = value.getDefiningOp<AllocOp>();
        if (!alloc || alloc->getBlock() != loop.getBody())
          return false;
        // Its other users are looked at where it is found first.
        if (!visited.insert(alloc))
          continue;
      }
      if (!addBuffer(value))
        return false;
    }
    return true;
  }

  CopyOp load;
  scf::ForOp loop;
  llvm::function_ref<bool(CopyOp)> isFeed;
  llvm::function_ref<bool(Value)> canRepeat;
  llvm::SetVector<Operation *> ops;
  llvm::SetVector<AllocOp> buffers;
  llvm::SetVector<CopyOp> feeds;
  llvm::SetVector<AllocOp> fed, visited;
};
} // namespace

std::optional<Chain>
tilebridge::accel::chainOf(CopyOp load, scf::ForOp loop,
                           llvm::function_ref<bool(CopyOp)> isFeed,
                           llvm::function_ref<bool(Value)> canRepeat) {
  return ChainFinder(load, loop, isFeed, canRepeat).run();
}

void tilebridge::accel::repeatChain(IRRewriter &rewriter, const Chain &chain,
                                    IRMapping &mapping,
                                    llvm::function_ref<Value(Value)> scalar) {
  for (AllocOp buffer : chain.buffers)
    if (!mapping.contains(buffer.getMemref()))
      rewriter.clone(*buffer, mapping);
  for (Operation *op : chain.ops) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    captured.insert(op->operand_begin(), op->operand_end());
    for (Value value : captured)
      if (!isa<MemRefType>(value.getType()) && !mapping.contains(value))
        mapping.map(value, scalar(value));
    rewriter.clone(*op, mapping);
  }
}

void tilebridge::accel::eraseUnused(IRRewriter &rewriter, const Chain &chain) {
  for (Operation *op : llvm::reverse(chain.ops)) {
    auto dps = cast<DestinationStyleOpInterface>(op);
    bool isUsed = llvm::any_of(dps.getDpsInits(), [&](Value init) {
      return !init.hasOneUse() || !init.getDefiningOp<AllocOp>();
    });
    if (!isUsed)
      rewriter.eraseOp(op);
  }
  for (AllocOp buffer : chain.buffers)
    if (buffer->use_empty())
      rewriter.eraseOp(buffer);
}
