//===- PlanPassing.cpp - costly tensors that stay in registers ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Which loops share a nest is only known when it is decided what is kept in
// memory. So what is kept for several loops may turn out to be written for
// nobody: they have become one.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/PlanGroups.h"

using namespace mlir;
using namespace tilebridge::cpu;

bool PassingTensors::update(Operation *op, ArrayRef<Operation *> roots) {
  if (refused.contains(op) || roots.empty())
    return false;
  bool isPassing = passing.contains(op);
  // As a buffer it has a place in the nest itself.
  Operation *first = isPassing ? roots.front() : op;
  bool isShared = llvm::all_of(
      roots, [&](Operation *root) { return isOneNest(first, root); });
  if (isShared == isPassing)
    return false;
  if (isShared)
    return passing.insert(op).second;
  refused.insert(op);
  return passing.erase(op);
}
