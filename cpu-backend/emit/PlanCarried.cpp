//===- PlanCarried.cpp - what a loop carries is computed with what it meets ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A tensor that a loop hands to its next iteration is computed where the
// iteration ends, in loops of its own: behind the iteration's stores, so that
// all that it is computed from would have to be kept. As a buffer it is
// computed where it stands, in loops that read the same blocks anyway, and in
// the place of what it follows: the sums over rows of a norm's gradient.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/PlanGroups.h"

using namespace mlir;
using namespace tilebridge::cpu;

CarriedTensors::CarriedTensors(func::FuncOp func) {
  func.walk([&](scf::ForOp loop) {
    for (auto [argument, yielded] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues())) {
      Operation *op = yielded.getDefiningOp();
      if (isa<RankedTensorType>(argument.getType()) && op &&
          op->getBlock() == loop.getBody() &&
          kindOf(op) == OpKind::Inlineable && isElementwise(op))
        arguments[op] = argument;
    }
  });
}

bool CarriedTensors::drop(func::FuncOp func) {
  if (arguments.empty())
    return false;
  Plan plan(func);
  size_t before = arguments.size();
  llvm::MapVector<Operation *, Value> kept;
  for (auto [op, argument] : arguments)
    if (plan.groupOf(op).size() > 1 &&
        plan.storageOf(op->getResult(0)) == plan.storageOf(argument))
      kept.insert({op, argument});
  arguments = std::move(kept);
  return arguments.size() != before;
}
