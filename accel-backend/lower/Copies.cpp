//===- Copies.cpp - every access to a block is a copy ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/lower/Copies.h"

#include "accel-backend/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELCOPIESPASS
#include "accel-backend/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

CopyOp tilebridge::accel::createCopy(OpBuilder &builder, Location loc,
                                     Value source, Value dest, ValueRange low,
                                     Value pad) {
  SmallVector<Type, 1> results;
  if (isa<RankedTensorType>(dest.getType()))
    results.push_back(dest.getType());
  return CopyOp::create(builder, loc, TypeRange(results), source, dest,
                        /*rows=*/Value(), /*dim=*/uint64_t(0),
                        /*scatter=*/false, low, pad, /*mask=*/Value(),
                        CombiningKindAttr(), DenseI64ArrayAttr());
}

namespace {
struct AccelCopies : public accel::impl::AccelCopiesPassBase<AccelCopies> {
  void runOnOperation() override;
};
} // namespace

void AccelCopies::runOnOperation() {
  SmallVector<Operation *> structured, indexed, atomics;
  getOperation()->walk([&](Operation *op) {
    if (isa<bufferization::ToTensorOp,
            bufferization::MaterializeInDestinationOp>(op))
      structured.push_back(op);
    else if (isa<linalg_ext::GatherOp, linalg_ext::ScatterOp,
                 linalg_ext::GatherRowsOp, linalg_ext::ScatterRowsOp,
                 linalg_ext::MaskedLoadOp, linalg_ext::MaskedStoreOp>(op))
      indexed.push_back(op);
    else if (isa<linalg_ext::AtomicRMWOp, linalg_ext::AtomicCASOp,
                 linalg_ext::AtomicLoadOp, linalg_ext::AtomicStoreOp>(op))
      atomics.push_back(op);
  });
  IRRewriter rewriter(&getContext());
  for (Operation *op : structured)
    if (failed(lowerStructuredAccess(rewriter, op)))
      return signalPassFailure();
  for (Operation *op : indexed)
    if (failed(lowerIndexedAccess(rewriter, op)))
      return signalPassFailure();
  for (Operation *op : atomics)
    if (failed(lowerAtomicAccess(rewriter, op)))
      return signalPassFailure();
}
