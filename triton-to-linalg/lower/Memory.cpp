//===- Memory.cpp - pointers as memrefs, values as memory holds them --------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/lower/Memory.h"

#include "frontend/TTOps.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge;

Type ttl::memoryElement(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  if (isa<tt::PointerType>(element))
    return IntegerType::get(element.getContext(), 64);
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), integer.getWidth());
  return element;
}

Type ttl::memoryType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.clone(memoryElement(tensor.getElementType()));
  return memoryElement(type);
}

Value ttl::toMemory(OpBuilder &builder, Location loc, Value value) {
  Type type = memoryType(value.getType());
  if (isa<tt::PointerType>(getElementTypeOrSelf(value.getType())))
    return tt::PtrToIntOp::create(builder, loc, type, value);
  return type == value.getType()
             ? value
             : builder.createOrFold<arith::ExtUIOp>(loc, type, value);
}

Value ttl::fromMemory(OpBuilder &builder, Location loc, Value value,
                      Type type) {
  if (value.getType() == type)
    return value;
  if (isa<tt::PointerType>(getElementTypeOrSelf(type)))
    return tt::IntToPtrOp::create(builder, loc, type, value);
  Value zero = arith::ConstantOp::create(builder, loc,
                                         builder.getZeroAttr(value.getType()));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                               zero);
}

MemRefType ttl::pointerMemref(Type element) {
  auto layout =
      StridedLayoutAttr::get(element.getContext(), ShapedType::kDynamic, {1});
  return MemRefType::get({ShapedType::kDynamic}, element, layout);
}

Value ttl::memrefOf(OpBuilder &builder, Location loc, Value pointer,
                    Type element) {
  auto type = cast<tt::PointerType>(pointer.getType());
  if (memoryElement(type.getPointeeType()) != element)
    pointer = tt::BitcastOp::create(
        builder, loc, tt::PointerType::get(element, type.getAddressSpace()),
        pointer);
  return UnrealizedConversionCastOp::create(builder, loc,
                                            pointerMemref(element), pointer)
      .getResult(0);
}

OpFoldResult ttl::offsetOf(OpBuilder &builder, Location loc, Value pointer,
                           Value memref) {
  // A kernel's own arguments begin at their addresses.
  if (auto argument = dyn_cast<BlockArgument>(pointer)) {
    auto function =
        dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
    if (function && argument.getOwner()->isEntryBlock() && function.isPublic())
      return builder.getIndexAttr(0);
  }
  return memref::ExtractStridedMetadataOp::create(builder, loc, memref)
      .getOffset();
}

Value ttl::zeroOf(OpBuilder &builder, Location loc, Type scalar) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(scalar));
}

Value ttl::uniformValue(OpBuilder &builder, Location loc, Value tensor) {
  DenseElementsAttr attr;
  if (matchPattern(tensor, m_Constant(&attr)) && attr.isSplat())
    return arith::ConstantOp::create(builder, loc,
                                     attr.getSplatValue<TypedAttr>());
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return {};
  if (isa<tt::SplatOp, tensor::SplatOp>(op))
    return op->getOperand(0);
  if (isa<tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp>(op))
    return uniformValue(builder, loc, op->getOperand(0));
  // The cast that toMemory makes of a boolean.
  if (auto extend = dyn_cast<arith::ExtUIOp>(op))
    if (Value scalar = uniformValue(builder, loc, extend.getIn()))
      return arith::ExtUIOp::create(
          builder, loc, getElementTypeOrSelf(tensor.getType()), scalar);
  return {};
}
