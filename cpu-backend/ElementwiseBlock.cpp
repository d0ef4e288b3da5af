//===- ElementwiseBlock.cpp - blocks computed element by element ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/ElementwiseBlock.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

Value tilebridge::cpu::elementwiseBlock(
    OpBuilder &b, Location loc, RankedTensorType type, ValueRange inputs,
    llvm::function_ref<Value(OpBuilder &, ValueRange)> element) {
  Value empty = tensor::EmptyOp::create(b, loc, type, ValueRange());
  SmallVector<AffineMap> maps(inputs.size() + 1,
                              b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, type, inputs, empty, maps, kinds,
             [&](OpBuilder &inner, Location at, ValueRange arguments) {
               linalg::YieldOp::create(inner, at,
                                       element(inner, arguments.drop_back()));
             })
      .getResult(0);
}
