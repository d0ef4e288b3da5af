//===- SeparateUses.cpp - one copy of what is cheap for each use ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/bridge/SeparateUses.h"

using namespace mlir;
using namespace tilebridge::linalg_ext;

SeparateUses::SeparateUses(func::FuncOp func,
                           function_ref<bool(Operation *)> isRepeatable,
                           size_t mostCopies, Place place) {
  SmallVector<Operation *> originals;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getNumResults() == 1 &&
        isa<RankedTensorType>(op->getResult(0).getType()) && isRepeatable(op))
      originals.push_back(op);
  });
  // Users come before what they use, so that a copy's operands are separated
  // as well.
  complete = llvm::all_of(llvm::reverse(originals), [&](Operation *op) {
    return separate(op, mostCopies, place);
  });
}

bool SeparateUses::separate(Operation *op, size_t mostCopies, Place place) {
  if (op->use_empty()) {
    op->erase();
    return true;
  }
  SmallVector<OpOperand *> uses(
      llvm::make_pointer_range(op->getResult(0).getUses()));
  for (OpOperand *use : llvm::drop_begin(uses)) {
    if (copies.size() == mostCopies)
      return false;
    Operation *beside = place == Place::BesideUser ? use->getOwner() : op;
    Operation *copy = OpBuilder(beside).clone(*op);
    use->set(copy->getResult(0));
    copies.push_back({copy, op});
  }
  return true;
}

void SeparateUses::undo() {
  for (auto [copy, original] : copies) {
    copy->replaceAllUsesWith(original);
    copy->erase();
  }
  copies.clear();
}
