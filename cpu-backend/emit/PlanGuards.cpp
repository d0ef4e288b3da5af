//===- PlanGuards.cpp - loads that stores may change before their use -------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A load stays where it lies if all that may change it before it is used are
// stores to other arguments whose ranges are known before they are done:
// emission compares these with the load's range, and hardly ever are they not
// apart.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/PlanGroups.h"
#include "cpu-backend/emit/PlanWrites.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// Each pair of a load and a store is a test and a loop that copies.
static constexpr size_t mostLoads = 4, mostPairs = 8;

/// Where lanes are neighbours, a copy's are, too: loops over both are the same.
static bool hasRows(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         llvm::is_contained(strides, 1);
}

/// The memory that a store of known range writes; null if it is no such store.
static Value destinationOf(Operation *op) {
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return store.getMemRef();
  if (auto store = dyn_cast<linalg_ext::MaskedStoreOp>(op))
    return store.getView();
  if (auto store = matchStore(op))
    return store->write.getDest();
  return {};
}

/// A nest of loops computes it.
static bool isComputedByLoops(Operation *root) {
  if (kindOf(root) == OpKind::NestRoot)
    return true;
  return kindOf(root) == OpKind::Inlineable &&
         !isa<tensor::InsertSliceOp, tensor::ExpandShapeOp,
              tensor::CollapseShapeOp>(root);
}

GuardedReads::GuardedReads(func::FuncOp func) {
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (Attribute nest = op->getAttr(nestAttr))
      firstOfNest.try_emplace(nest, op);
  });
}

/// The store is done with others of its nest, where the last of them stands.
bool GuardedReads::isDoneWithEarlier(Operation *store, Operation *load) const {
  Attribute nest = store->getAttr(nestAttr);
  Operation *first = nest ? firstOfNest.lookup(nest) : nullptr;
  return first && first->getBlock() == load->getBlock() &&
         first->isBeforeInBlock(load);
}

bool GuardedReads::add(Operation *op, ArrayRef<Operation *> roots,
                       const Writes &writes) {
  auto load =
      op->getNumResults() == 1 ? matchLoad(op->getResult(0)) : std::nullopt;
  if (!load || reads.size() >= mostLoads ||
      load->read->getBlock() != op->getBlock())
    return false;
  auto type = cast<MemRefType>(load->read.getBuffer().getType());
  BlockArgument argument = argumentOf(load->read.getBuffer());
  if (!argument || !hasRows(type) || !type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() < 8)
    return false;
  if (writes.anyBetween(load->read, op, [](Operation *) { return true; }))
    return false;
  // Views of the load that are made where it stands.
  if (llvm::any_of(op->getUsers(), isReversal))
    return false;
  llvm::SmallSetVector<Operation *, 4> stores;
  for (Operation *root : roots) {
    if (root->getBlock() != op->getBlock() || !isComputedByLoops(root))
      return false;
    bool areMany = writes.anyBetween(op, root, [&](Operation *write) {
      if (!isOneNest(write, root))
        stores.insert(write);
      return pairs + stores.size() > mostPairs;
    });
    if (areMany)
      return false;
  }
  for (Operation *store : stores) {
    Value destination = destinationOf(store);
    BlockArgument other = destination ? argumentOf(destination) : nullptr;
    if (!other || other == argument || isDoneWithEarlier(store, op))
      return false;
  }
  pairs += stores.size();
  reads.push_back({op, stores.takeVector()});
  return true;
}

void GuardedReads::write(func::FuncOp func) const {
  func.walk([](Operation *op) {
    op->removeDiscardableAttr(readAttr);
    op->removeDiscardableAttr(guardsAttr);
  });
  OpBuilder builder(func.getContext());
  llvm::MapVector<Operation *, SmallVector<int64_t>> numbers;
  for (auto [i, read] : llvm::enumerate(reads)) {
    read.load->setAttr(readAttr, builder.getI64IntegerAttr(i));
    for (Operation *store : read.stores)
      numbers[store].push_back(i);
  }
  for (auto &[store, loads] : numbers)
    store->setAttr(guardsAttr, builder.getDenseI64ArrayAttr(loads));
}
