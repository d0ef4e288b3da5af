//===- RepeatedBlocks.cpp - what is computed once and repeated ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/RepeatedBlocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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

Value cpu::numberAs(OpBuilder &b, Value block, RankedTensorType type) {
  Location loc = block.getLoc();
  DenseElementsAttr elements;
  if (matchPattern(block, m_Constant(&elements)) && elements.isSplat())
    return arith::ConstantOp::create(b, loc, elements.resizeSplat(type));
  if (auto splat = block.getDefiningOp<tensor::SplatOp>())
    return tensor::SplatOp::create(b, loc, type, splat.getInput());
  return {};
}

Value cpu::computeAs(OpBuilder &b, linalg::GenericOp op, ValueRange inputs,
                     ArrayRef<int64_t> shape) {
  Location loc = op.getLoc();
  auto type = RankedTensorType::get(
      shape, getElementTypeOrSelf(op->getResult(0).getType()));
  Value init = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  SmallVector<AffineMap> maps(inputs.size() + 1,
                              b.getMultiDimIdentityMap(shape.size()));
  SmallVector<utils::IteratorType> kinds(shape.size(),
                                         utils::IteratorType::parallel);
  auto result =
      linalg::GenericOp::create(b, loc, type, inputs, init, maps, kinds);
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  b.cloneRegionBefore(op.getRegion(), result.getRegion(),
                      result.getRegion().end());
  return result->getResult(0);
}
