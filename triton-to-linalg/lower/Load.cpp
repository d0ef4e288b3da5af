//===- Load.cpp - tt.load through pointers ----------------------------------===//
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
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

namespace {

class LoadAccess : public TensorAccess {
public:
  LoadAccess(tt::LoadOp op, const IntegerFacts &facts)
      : TensorAccess(op, op.getPtr(), op.getMask(),
                     cast<RankedTensorType>(op.getType()), facts) {
    // Without `other` what is masked off is zero: GPUs give that, and kernels
    // rely on it.
    if (!op.getOther()) {
      other = zeroOf(builder, loc, type.getElementType());
      return;
    }
    other = toMemory(builder, loc, op.getOther());
    if (Value scalar = uniformValue(builder, loc, other))
      other = scalar;
  }

private:
  bool isLoad() const override { return true; }
  Value structured(Value view, const Box &box) override {
    return loadBox(builder, loc, view, box, blocks.type(type), otherOfBlock());
  }
  Value masked(Value view, Value mask) override {
    return linalg_ext::MaskedLoadOp::create(builder, loc, blocks.type(type),
                                            view, mask, otherOfBlock());
  }
  Value rows(Value view, Value rows, unsigned dim, Value rowMask) override {
    // A tensor for `other` is put in afterwards: rows take one value.
    bool isScalar = !isa<RankedTensorType>(other.getType());
    Value loaded = linalg_ext::GatherRowsOp::create(
        builder, loc, blocks.type(type), view, rows,
        builder.getI64IntegerAttr(dim), rowMask, isScalar ? other : Value());
    if (isScalar || !maskValue)
      return loaded;
    return arith::SelectOp::create(builder, loc,
                                   blocks.expand(builder, loc, maskValue),
                                   loaded, otherOfBlock());
  }
  Value elements(Value base, Value offsets, Value mask) override {
    return linalg_ext::GatherOp::create(builder, loc, type, base, offsets, mask,
                                        mask ? other : Value());
  }
  Value nothing() override {
    if (isa<RankedTensorType>(other.getType()))
      return other;
    return tensor::SplatOp::create(builder, loc, other, type);
  }

  Value otherOfBlock() {
    return isa<RankedTensorType>(other.getType())
               ? blocks.expand(builder, loc, other)
               : other;
  }

  Value other;
};

} // namespace

static Value lowerScalarLoad(tt::LoadOp op) {
  reportAccess(op, "scalar", op.getType(), op.getPtr());
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Type element = memoryElement(op.getType());
  auto read = [&](OpBuilder &b) -> Value {
    ScalarAddress address = scalarAddress(b, loc, op.getPtr(), element);
    return memref::LoadOp::create(b, loc, address.base, address.index);
  };
  if (!op.getMask())
    return read(builder);
  Value other = op.getOther() ? toMemory(builder, loc, op.getOther())
                              : zeroOf(builder, loc, element);
  auto choice =
      scf::IfOp::create(builder, loc, TypeRange(element), op.getMask(), true);
  OpBuilder then = choice.getThenBodyBuilder(),
            otherwise = choice.getElseBodyBuilder();
  scf::YieldOp::create(then, loc, read(then));
  scf::YieldOp::create(otherwise, loc, other);
  return choice.getResult(0);
}

void ttl::lowerLoad(tt::LoadOp op, const IntegerFacts &facts) {
  Value loaded = isa<RankedTensorType>(op.getType())
                     ? LoadAccess(op, facts).lower()
                     : lowerScalarLoad(op);
  OpBuilder builder(op);
  op.replaceAllUsesWith(fromMemory(builder, op.getLoc(), loaded, op.getType()));
  op.erase();
}
