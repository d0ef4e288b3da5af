//===- SeparateUses.cpp - which blocks are computed for each use ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/bridge/SeparateUses.h"
#include "accel-backend/plan/DimensionClasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tilebridge;

// One block, of which nothing was read from memory or carried by a loop.
static bool isCheap(Operation *op, const llvm::DenseSet<Operation *> &cheap) {
  bool isElementwise = false;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    isElementwise = linalgOp.getNumReductionLoops() == 0;
  if (!isElementwise &&
      !isa<arith::ConstantOp, tensor::EmptyOp, tensor::SplatOp,
           tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    if (!isa<RankedTensorType>(operand.getType()))
      return true;
    return cheap.contains(operand.getDefiningOp());
  });
}

LogicalResult tilebridge::accel::separateUses(func::FuncOp func) {
  llvm::DenseSet<Operation *> cheap;
  auto isRepeatable = [&](Operation *op) {
    return isCheap(op, cheap) && cheap.insert(op).second;
  };
  size_t size = 0;
  func.walk([&](Operation *) { ++size; });
  // A block that lies beside its user needs no local memory in between.
  linalg_ext::SeparateUses separated(
      func, isRepeatable, /*mostCopies=*/4 * size + 1000,
      linalg_ext::SeparateUses::Place::BesideUser);
  return success(separated.isComplete());
}
