//===- Store.cpp - tt.store through pointers --------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"
#include "triton-to-linalg/lower/AccessReport.h"
#include "triton-to-linalg/lower/Accesses.h"
#include "triton-to-linalg/lower/Memory.h"
#include "triton-to-linalg/lower/Scalar.h"
#include "triton-to-linalg/lower/TensorAccess.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

namespace {

class StoreAccess : public TensorAccess {
public:
  StoreAccess(tt::StoreOp op, const IntegerFacts &facts)
      : TensorAccess(op, op.getPtr(), op.getMask(),
                     cast<RankedTensorType>(op.getValue().getType()), facts),
        stored(toMemory(builder, loc, op.getValue())) {}

private:
  bool isLoad() const override { return false; }
  Value structured(Value view, const Box &box) override {
    storeBox(builder, loc, view, box, blocks.expand(builder, loc, stored));
    return {};
  }
  Value masked(Value view, Value mask) override {
    linalg_ext::MaskedStoreOp::create(
        builder, loc, blocks.expand(builder, loc, stored), view, mask);
    return {};
  }
  Value rows(Value view, Value rows, unsigned dim, Value rowMask) override {
    linalg_ext::ScatterRowsOp::create(
        builder, loc, blocks.expand(builder, loc, stored), view, rows,
        builder.getI64IntegerAttr(dim), rowMask);
    return {};
  }
  Value elements(Value base, Value offsets, Value mask) override {
    linalg_ext::ScatterOp::create(builder, loc, stored, base, offsets, mask);
    return {};
  }
  Value nothing() override { return {}; }

  Value stored;
};

} // namespace

static void lowerScalarStore(tt::StoreOp op) {
  reportAccess(op, "scalar", op.getValue().getType(), op.getPtr());
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value stored = toMemory(builder, loc, op.getValue());
  if (op.getMask())
    builder = scf::IfOp::create(builder, loc, op.getMask(), false)
                  .getThenBodyBuilder();
  ScalarAddress address =
      scalarAddress(builder, loc, op.getPtr(), stored.getType());
  memref::StoreOp::create(builder, loc, stored, address.base, address.index);
}

void ttl::lowerStore(tt::StoreOp op, const IntegerFacts &facts) {
  if (isa<RankedTensorType>(op.getValue().getType()))
    StoreAccess(op, facts).lower();
  else
    lowerScalarStore(op);
  op.erase();
}
