//===- Permute.cpp - views and blocks in another order --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/bridge/Permute.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

Value tilebridge::linalg_ext::permuteView(OpBuilder &builder, Value view,
                                          ArrayRef<int64_t> permutation) {
  Operation *op = view.getDefiningOp();
  if (!op)
    return {};
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(op);
  auto inOrder = [&](ArrayRef<OpFoldResult> values) {
    return applyPermutation(values, permutation);
  };
  if (auto cast = dyn_cast<memref::CastOp>(op)) {
    auto source = dyn_cast<MemRefType>(cast.getSource().getType());
    return source ? permuteView(builder, cast.getSource(), permutation)
                  : Value();
  }
  if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op)) {
    SmallVector<OpFoldResult> offsets = cast.getMixedOffsets();
    return memref::ReinterpretCastOp::create(
        builder, cast.getLoc(), cast.getSource(), offsets.front(),
        inOrder(cast.getMixedSizes()), inOrder(cast.getMixedStrides()));
  }
  auto part = dyn_cast<memref::SubViewOp>(op);
  if (!part || part.getSourceType().getRank() != part.getType().getRank())
    return {};
  Value whole = permuteView(builder, part.getSource(), permutation);
  if (!whole)
    return {};
  return memref::SubViewOp::create(
      builder, part.getLoc(), whole, inOrder(part.getMixedOffsets()),
      inOrder(part.getMixedSizes()), inOrder(part.getMixedStrides()));
}

Value tilebridge::linalg_ext::transposed(OpBuilder &builder, Location loc,
                                         Value block,
                                         ArrayRef<int64_t> permutation) {
  auto type = cast<RankedTensorType>(block.getType());
  SmallVector<int64_t> shape = applyPermutation(type.getShape(), permutation);
  Value init =
      tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  return linalg::TransposeOp::create(builder, loc, block, init, permutation)
      ->getResult(0);
}

bool tilebridge::linalg_ext::keepsOrder(linalg::GenericOp op) {
  return llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isIdentity(); });
}
