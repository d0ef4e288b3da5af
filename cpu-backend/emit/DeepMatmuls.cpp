//===- DeepMatmuls.cpp - which products a loop may gather -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/MaskedRows.h"
#include "cpu-backend/emit/Plan.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// The loop does nothing with the accumulator but to add this product to it:
/// nobody sees the sums in between.
bool tilebridge::cpu::isDeepMatmul(linalg::MatmulOp op) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  auto init = dyn_cast<BlockArgument>(op.getDpsInits()[0]);
  if (!loop || !init || init.getOwner() != loop.getBody() ||
      init == loop.getInductionVar() || !init.hasOneUse() ||
      !op->getResult(0).hasOneUse())
    return false;
  auto type = cast<RankedTensorType>(init.getType());
  // Sums that are rounded to a narrow type after each product would be rounded
  // less often.
  if (!type.hasStaticShape() || type.getElementTypeBitWidth() < 32 ||
      type.getDimSize(1) == 1)
    return false;
  // Rows that are not the same ones in each iteration are multiplied in each.
  Value mask = findMaskedRows(op);
  if (mask && loop.getRegion().isAncestor(mask.getParentRegion()))
    return false;
  OpOperand &use = *op->getResult(0).use_begin();
  return use.getOwner() == loop.getBody()->getTerminator() &&
         loop.getTiedLoopRegionIterArg(
             &loop.getInitArgsMutable()[use.getOperandNumber()]) == init;
}

void tilebridge::cpu::findDeepMatmuls(func::FuncOp func) {
  func.walk([](linalg::MatmulOp op) {
    op->removeAttr(deepAttr);
    if (isDeepMatmul(op))
      op->setAttr(deepAttr, UnitAttr::get(op.getContext()));
  });
}
