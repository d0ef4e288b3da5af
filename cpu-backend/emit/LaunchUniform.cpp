//===- LaunchUniform.cpp - numbers of the launch --------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/LaunchUniform.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"

using namespace mlir;
using namespace tilebridge::cpu;
using tilebridge::linalg_ext::kProgramArguments;

ValueRange tilebridge::cpu::programIdsOf(func::FuncOp kernel) {
  // Their counts follow them.
  return kernel.getArguments().take_back(kProgramArguments).take_front(3);
}

bool LaunchUniform::contains(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner()->getParentOp() == kernel &&
           !llvm::is_contained(programIdsOf(kernel), value);
  Operation *op = value.getDefiningOp();
  if (auto it = known.find(op); it != known.end())
    return it->second;
  bool is = admits(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
              return contains(operand);
            });
  return known[op] = is;
}
