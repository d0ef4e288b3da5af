//===- LoopBuffers.cpp - several buffers for what a loop moves ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With D buffers the load of iteration i + D - 1 is started in iteration i, if
// there is such an iteration; before the loop those of the first D - 1 are.
// What computes the load's address is done again for that iteration: from the
// induction variable, and from carried scalars whose values D - 1 iterations
// ahead are carried too. A store is waited for where the next iteration has the
// same store, so that stores stay in order; it has two buffers.
// A load of rows is started when the blocks that it needs have been computed
// for its iteration (LoopChains.h); loads that these are computed from are one
// more iteration ahead, in one more buffer.
//
//===----------------------------------------------------------------------===//

#include "accel-backend/lower/LoopBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

CopyStartOp tilebridge::accel::startOf(OpBuilder &builder, CopyOp copy,
                                       ValueRange operands) {
  OperationState state(copy.getLoc(), CopyStartOp::getOperationName(), operands,
                       TypeRange(TokenType::get(copy.getContext())));
  state.addAttributes(llvm::to_vector(copy->getDiscardableAttrs()));
  state.propertiesAttr = copy->getPropertiesAsAttribute();
  return cast<CopyStartOp>(builder.create(state));
}

/// True if `value` can be computed for another iteration; collects the carried
/// values it needs. `always`: also for iterations that there are not.
static bool canRepeat(Value value, LoopWork &work, bool always) {
  scf::ForOp loop = work.loop;
  if (!loop.getRegion().isAncestor(value.getParentRegion()))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument == loop.getInductionVar() || work.carried.contains(argument))
      return true;
    if (argument.getOwner() != loop.getBody() ||
        !argument.getType().isIntOrIndex())
      return false;
    work.carried.insert(argument);
    Value update = loop.getTiedLoopYieldedValue(argument)->get();
    return canRepeat(update, work, /*always=*/true);
  }
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != loop.getBody() || op->getNumRegions() != 0)
    return false;
  // A scalar of memory that the loop does not write, such as a page's number.
  auto scalar = dyn_cast<memref::LoadOp>(op);
  bool isKept = scalar && isInChipMemory(scalar.getMemRefType()) &&
                llvm::all_of(work.accesses.written, [&](Value other) {
                  return areApart(transferRoot(scalar.getMemRef()), other);
                });
  if ((!isKept && !isMemoryEffectFree(op)) ||
      (always && (isKept || !isSpeculatable(op))))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return canRepeat(operand, work, always);
  });
}

/// True if nothing says that there is memory for one buffer only.
static bool hasRoomForStores(scf::ForOp loop) {
  auto function = loop->getParentOfType<FunctionOpInterface>();
  return !function
              ->walk([](Operation *op) {
                auto depth = op->getAttrOfType<IntegerAttr>(depthAttr);
                return depth && depth.getInt() < 2 ? WalkResult::interrupt()
                                                   : WalkResult::advance();
              })
              .wasInterrupted();
}

/// True if nothing in the loop uses the buffer before the copy fills it: what
/// is written there, such as the values outside of the box, would otherwise
/// overwrite what has come ahead of it.
static bool isFirstUse(CopyOp copy, AllocOp buffer) {
  Block *body = copy->getBlock();
  SmallVector<Value> views = {buffer.getMemref()};
  for (size_t i = 0; i < views.size(); ++i)
    for (Operation *user : views[i].getUsers()) {
      if (auto view = dyn_cast<memref::SubViewOp>(user))
        views.push_back(view);
      else if (body->findAncestorOpInBlock(*user)->isBeforeInBlock(copy))
        return false;
    }
  return true;
}

/// True if an iteration may write to the buffer behind a store of it, which
/// must then be waited for at once.
static bool isWrittenBehind(Operation *store, AllocOp buffer) {
  Block *body = store->getBlock();
  SmallVector<Value> views = {buffer.getMemref()};
  for (size_t i = 0; i < views.size(); ++i)
    for (OpOperand &use : views[i].getUses()) {
      Operation *user = use.getOwner();
      if (isa<ViewLikeOpInterface>(user)) {
        llvm::append_range(views, user->getResults());
        continue;
      }
      if (!store->isBeforeInBlock(body->findAncestorOpInBlock(*user)))
        continue;
      auto onBlocks = dyn_cast<DestinationStyleOpInterface>(user);
      bool isRead =
          isa<memref::LoadOp>(user) || (onBlocks && onBlocks.isDpsInput(&use));
      if (!isRead)
        return true;
    }
  return false;
}

/// Finds what of the loop can be started early or waited for late.
static void findTransfers(LoopWork &work, int64_t defaultDepth) {
  scf::ForOp loop = work.loop;
  ChipAccesses &all = work.accesses;
  for (Operation &op : loop.getBody()->without_terminator())
    all.add(&op);
  if (all.unknown)
    return;
  bool hasRoom = hasRoomForStores(loop);
  llvm::SmallPtrSet<Operation *, 8> taken;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (CopyOp store = storeIn(&op)) {
      Value root = transferRoot(store.getDest());
      auto apart = [&](Value other) { return areApart(root, other); };
      // Its own write is one of those of the loop, and what it adds to its own
      // read.
      bool alone =
          llvm::count(all.written, root) == 1 &&
          llvm::count(all.read, root) == (store.getAccumulate() ? 1 : 0) &&
          llvm::all_of(
              llvm::concat<Value>(all.written, all.read),
              [&](Value other) { return other == root || apart(other); });
      AllocOp buffer = bufferOf(store.getSource(), loop);
      // A buffer that is loaded, or stored twice, has its slots already.
      bool isNew = buffer && taken.insert(buffer).second;
      if (alone && isNew && !store.getRows() && !store.getMask() && hasRoom &&
          !isWrittenBehind(&op, buffer))
        work.stores.push_back(&op);
      continue;
    }
    auto copy = dyn_cast<CopyOp>(op);
    if (!copy || !isInChipMemory(copy.getSource().getType()) ||
        copy.getScatter() || !bufferOf(copy.getDest(), loop) ||
        copy.getDest().getDefiningOp() != bufferOf(copy.getDest(), loop) ||
        !isFirstUse(copy, bufferOf(copy.getDest(), loop)))
      continue;
    int64_t depth = defaultDepth;
    if (auto attribute = copy->getAttrOfType<IntegerAttr>(depthAttr))
      depth = attribute.getInt();
    if (depth < 2)
      continue;
    Value root = transferRoot(copy.getSource());
    bool apart = llvm::all_of(
        all.written, [&](Value other) { return areApart(root, other); });
    // Carried values are kept only if the load can be started early.
    auto carried = work.carried;
    auto isBlock = [&](Value value) {
      return value == copy.getDest() || value == copy.getRows() ||
             value == copy.getMask();
    };
    bool repeats = apart && llvm::all_of(copy->getOperands(), [&](Value value) {
                     return isBlock(value) || canRepeat(value, work, false);
                   });
    std::optional<Chain> chain;
    if (repeats && (copy.getRows() || copy.getMask())) {
      auto isBox = [&](CopyOp load) {
        auto found = llvm::find(work.loads, load);
        return found != work.loads.end() &&
               !work.chains[found - work.loads.begin()];
      };
      chain = chainOf(copy, loop, isBox, [&](Value value) {
        return canRepeat(value, work, false);
      });
      repeats = chain.has_value();
    }
    if (!repeats) {
      work.carried = carried;
      continue;
    }
    // The slots of all loads of a loop advance together.
    work.depth = work.loads.empty() ? depth : std::min(work.depth, depth);
    work.loads.push_back(copy);
    work.chains.push_back(std::move(chain));
    taken.insert(bufferOf(copy.getDest(), loop));
  }
}

void tilebridge::accel::bufferLoop(IRRewriter &rewriter, scf::ForOp loop,
                                   int64_t depth) {
  LoopWork work{loop, depth, {}, {}, {}, {}, {}};
  findTransfers(work, depth);
  if (!work.loads.empty())
    bufferLoads(rewriter, work);
  if (!work.stores.empty())
    bufferStores(rewriter, work);
}
