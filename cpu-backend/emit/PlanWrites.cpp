//===- PlanWrites.cpp - where a function writes memory ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/PlanWrites.h"
#include "cpu-backend/emit/MemoryTable.h"
#include "cpu-backend/emit/PlanGroups.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

bool tilebridge::cpu::isDeeper(Operation *root, Operation *op) {
  for (Operation *at = root->getParentOp(); at && at != op->getParentOp();
       at = at->getParentOp())
    if (isa<scf::ForOp, scf::WhileOp>(at))
      return true;
  return false;
}

bool Writes::add(Operation *op) {
  size_t begin = all.size();
  bool hasWrites = false;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block) {
        bool isWrite = inner.getNumRegions() != 0 && add(&inner);
        // Loops and branches write if something inside does.
        if (inner.getNumRegions() == 0 ||
            !isa<scf::SCFDialect>(inner.getDialect()))
          isWrite = mayWrite(&inner);
        if (isWrite) {
          writes.insert(&inner);
          inBlock[&block].push_back(&inner);
          if (inner.getNumRegions() == 0)
            all.push_back(&inner);
        }
        hasWrites |= isWrite;
      }
  insideOf[op] = {begin, all.size()};
  return hasWrites;
}

bool Writes::anyBetween(Operation *from, Operation *to, Predicate is) const {
  auto it = inBlock.find(from->getBlock());
  if (it == inBlock.end())
    return false;
  const auto *at = llvm::partition_point(it->second, [&](Operation *write) {
    return write == from || write->isBeforeInBlock(from);
  });
  for (; at != it->second.end() && (*at)->isBeforeInBlock(to); ++at)
    if (is(*at))
      return true;
  return false;
}

bool Writes::anyInside(Operation *op, Predicate is) const {
  auto [begin, end] = insideOf.lookup(op);
  return llvm::any_of(ArrayRef(all).slice(begin, end - begin), is);
}

/// The range of single elements is not known before they are read, if they are
/// none of a small table and not computed from indices alone.
bool Writes::canGuard(Operation *read) {
  if (!isa<linalg_ext::GatherOp>(read))
    return true;
  auto [it, isNew] = guardable.try_emplace(read);
  if (isNew)
    it->second = tableSizeOf(read) > 0 || isReadInPieces(read);
  return it->second;
}

bool Writes::mayChange(Operation *from, Operation *root) {
  Operation *ancestor = from->getBlock()->findAncestorOpInBlock(*root);
  if (!ancestor)
    return true;
  bool isGuarded = canGuard(from);
  auto changes = [&](Operation *write) {
    return write != root && !(isGuarded && isOneNest(write, root));
  };
  if (anyBetween(from, ancestor, changes))
    return true;
  if (ancestor == root)
    return writes.contains(root) &&
           (kindOf(root) == OpKind::OwnRoot || !isGuarded);
  if (isDeeper(root, from))
    return writes.contains(ancestor);
  return anyInside(ancestor, changes);
}
