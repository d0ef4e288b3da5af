//===- PlanLanes.cpp - what is computed from exchanged lanes --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/PlanLanes.h"
#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Each element is used for the element at the same place only.
static bool isReadInPlace(OpOperand &use) {
  Operation *user = use.getOwner();
  auto linalgOp = dyn_cast<linalg::LinalgOp>(user);
  return isElementwise(user) &&
         (!linalgOp || linalgOp.getMatchingIndexingMap(&use).isIdentity());
}

void ExchangedLanes::add(Operation *op) {
  auto exchange = matchExchange(op);
  if ((exchange && !exchange->isFree) ||
      llvm::any_of(op->getOpOperands(), [&](auto &use) {
        return contains(use.get().getDefiningOp()) && isReadInPlace(use);
      }))
    ops.insert(op);
}

bool ExchangedLanes::areMixed(Operation *op) const {
  return contains(op) && !llvm::all_of(op->getUses(), [](OpOperand &use) {
           return matchExchange(use.getOwner()) || isReadInPlace(use);
         });
}

bool ExchangedLanes::areShared(
    Operation *op, const llvm::SetVector<Operation *> &roots) const {
  constexpr size_t mostBlocks = 4;
  return contains(op) && roots.size() <= mostBlocks &&
         llvm::all_of(roots, [&](Operation *root) {
           return contains(root) && root->getBlock() == op->getBlock();
         });
}
