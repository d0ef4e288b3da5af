//===- PlanMasks.cpp - loads that are masked by place ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/PlanMasks.h"
#include "cpu-backend/emit/NestEmitter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge::cpu;

void PlaceMasks::add(Operation *op) {
  auto type = op->getNumResults() == 1
                  ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                  : RankedTensorType();
  if (!type || !type.getElementType().isIntOrIndex() ||
      !(isElementwise(op) || isUnitReshape(op) ||
        isa<tensor::SplatOp, tensor::EmptyOp, arith::ConstantOp,
            linalg::BroadcastOp>(op)))
    return;
  for (Value operand : op->getOperands())
    if (isa<ShapedType>(operand.getType()) &&
        !places.contains(operand.getDefiningOp()))
      return;
  places.insert(op);
  if (type.getElementType().isInteger(1))
    masks.insert(op);
}

/// `op` is a load, or at most `depth` elementwise ops follow one: beyond that
/// the mask is a small part of what `op` costs.
static bool followsLoad(Operation *op, int depth) {
  if (!op || op->getNumResults() != 1)
    return false;
  if (matchLoad(op->getResult(0)))
    return true;
  return depth > 0 && isElementwise(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return followsLoad(operand.getDefiningOp(), depth - 1);
         });
}

Operation *PlaceMasks::ofLoad(Operation *op) const {
  if (!isElementwise(op))
    return nullptr;
  Operation *mask = nullptr;
  for (Value operand : op->getOperands())
    if (Operation *from = operand.getDefiningOp(); masks.contains(from))
      mask = from;
  bool isLoad = mask && llvm::any_of(op->getOperands(), [](Value operand) {
                  return followsLoad(operand.getDefiningOp(), 3);
                });
  return isLoad ? mask : nullptr;
}
