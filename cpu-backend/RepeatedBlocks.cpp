//===- RepeatedBlocks.cpp - what is computed once and repeated ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/RepeatedBlocks.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilebridge;

bool cpu::isOneNumberBlock(Value block) {
  SplatElementsAttr elements;
  return matchPattern(block, m_Constant(&elements)) ||
         block.getDefiningOp<tensor::SplatOp>();
}

bool cpu::isPlainElementwise(linalg::GenericOp op) {
  return op->getNumResults() == 1 && op.getNumReductionLoops() == 0 &&
         op.hasPureTensorSemantics() && !op.getInputs().empty() &&
         cast<RankedTensorType>(op->getResult(0).getType()).hasStaticShape() &&
         llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isIdentity(); }) &&
         op.getBody()->getArguments().back().use_empty() &&
         llvm::all_of(*op.getBody(), [](Operation &inner) {
           return isPure(&inner) && inner.getNumRegions() == 0 &&
                  !isa<linalg::IndexOp>(inner);
         });
}
