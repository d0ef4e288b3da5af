//===- ElementOffsets.cpp - the offset of each element of an access ---------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/lower/TensorAccess.h"

#include "frontend/TTOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"
#include "triton-to-linalg/lower/Memory.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

/// Bytes of what pointers point to; a boolean takes one.
static int64_t pointeeBytes(Type pointers) {
  Type pointee =
      cast<tt::PointerType>(getElementTypeOrSelf(pointers)).getPointeeType();
  return pointee.isIntOrFloat()
             ? llvm::divideCeil(pointee.getIntOrFloatBitWidth(), 8u)
             : 8;
}

/// An integer tensor or scalar as 64 bits, sign-extended.
static Value as64(OpBuilder &builder, Location loc, Value value) {
  Type type = builder.getI64Type();
  if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
    type = tensor.clone(type);
  return type == value.getType()
             ? value
             : builder.createOrFold<arith::ExtSIOp>(loc, type, value);
}

/// The sum so far; null stands for zero.
static Value plus(OpBuilder &builder, Location loc, Value a, Value b) {
  return a ? builder.createOrFold<arith::AddIOp>(loc, a, b) : b;
}

static Value offsetOrZero(OpBuilder &builder, Location loc, Value pointers) {
  Operation *op = pointers.getDefiningOp();
  RankedTensorType type =
      cast<RankedTensorType>(pointers.getType()).clone(builder.getI64Type());
  if (auto splat = dyn_cast<tt::SplatOp>(op)) {
    Value sum;
    for (Value scalar = splat.getSrc();
         auto add = scalar.getDefiningOp<tt::AddPtrOp>(); scalar = add.getPtr())
      sum = plus(builder, loc, sum, as64(builder, loc, add.getOffset()));
    return sum ? tensor::SplatOp::create(builder, loc, sum, type).getResult()
               : Value();
  }
  if (auto add = dyn_cast<tt::AddPtrOp>(op))
    return plus(builder, loc, offsetOrZero(builder, loc, add.getPtr()),
                as64(builder, loc, add.getOffset()));
  Value source = offsetOrZero(builder, loc, op->getOperand(0));
  if (!source)
    return {};
  if (isa<tt::BitcastOp>(op)) {
    int64_t ratio = pointeeBytes(op->getOperand(0).getType()) /
                    pointeeBytes(op->getResult(0).getType());
    if (ratio == 1)
      return source;
    Value factor = arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, APInt(64, ratio)));
    return arith::MulIOp::create(builder, loc, source, factor);
  }
  // A shape operation does to offsets what it does to pointers.
  IRMapping mapping;
  mapping.map(op->getOperand(0), source);
  Operation *shaped = builder.clone(*op, mapping);
  shaped->getResult(0).setType(type);
  return shaped->getResult(0);
}

Value ttl::offsetTensor(OpBuilder &builder, Location loc, Value pointers) {
  if (Value sum = offsetOrZero(builder, loc, pointers))
    return sum;
  auto type =
      cast<RankedTensorType>(pointers.getType()).clone(builder.getI64Type());
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

ElementAddress ttl::elementAddress(OpBuilder &builder, Location loc,
                                   Value pointers, Value base, Type element) {
  if (base)
    return {memrefOf(builder, loc, base, element),
            offsetTensor(builder, loc, pointers)};
  auto type =
      cast<RankedTensorType>(pointers.getType()).clone(builder.getI64Type());
  Value addresses = tt::PtrToIntOp::create(builder, loc, type, pointers);
  // Elements lie at multiples of their size, which is a power of two.
  int64_t shift = llvm::Log2_64(pointeeBytes(pointers.getType()));
  Value offsets = addresses;
  if (shift) {
    Value amount = arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, APInt(64, shift)));
    // Signed, like the multiplication that turns the offset into bytes again.
    offsets = arith::ShRSIOp::create(builder, loc, addresses, amount);
  }
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
  return {linalg_ext::ViewAddressOp::create(builder, loc,
                                            pointerMemref(element), zero),
          offsets};
}
