//===- SeparateUses.cpp - one copy of what is cheap for each use ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/DimensionClasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

// One block, of which nothing was read from memory or carried by a loop.
static bool isCheap(Operation *op, const llvm::DenseSet<Operation *> &cheap) {
  if (op->getNumResults() != 1 ||
      !isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
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
  SmallVector<Operation *> inOrder;
  unsigned size = 0;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    ++size;
    if (isCheap(op, cheap)) {
      cheap.insert(op);
      inOrder.push_back(op);
    }
  });

  // Users first: what the copies of a user use comes later, with all of them.
  unsigned budget = 4 * size + 1000;
  SmallVector<Operation *> open = std::move(inOrder);
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    Value result = op->getResult(0);
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : result.getUses())
      uses.push_back(&use);
    if (uses.empty()) {
      op->erase();
      continue;
    }
    for (OpOperand *use : ArrayRef(uses).drop_front()) {
      if (!budget--)
        return failure();
      OpBuilder builder(use->getOwner());
      Operation *copy = builder.clone(*op);
      use->set(copy->getResult(0));
    }
  }
  return success();
}
