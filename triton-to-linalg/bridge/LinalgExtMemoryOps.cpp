//===- LinalgExtMemoryOps.cpp - accesses that are not boxes
//------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "triton-to-linalg/bridge/LinalgExtDialect.h"

#include "triton-to-linalg/bridge/LinalgExtMemoryEnums.cpp.inc"

#define GET_OP_CLASSES
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.cpp.inc"

using namespace mlir;
using namespace tilebridge::linalg_ext;

/// The shape of a tensor; none for a scalar.
static std::optional<ArrayRef<int64_t>> shapeOf(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getShape();
  return std::nullopt;
}

/// (c1): every one of `values` that is present has the shape of `type`.
static LogicalResult verifyOneShape(Operation *op, Type type,
                                    ArrayRef<Value> values) {
  for (Value value : values)
    if (value && shapeOf(value.getType()) != shapeOf(type))
      return op->emitOpError("expects operands and result of one shape, got ")
             << value.getType() << " and " << type;
  return success();
}

/// (c2): `type` holds elements of the memref's type.
static LogicalResult verifyElement(Operation *op, Value memref, Type type) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  if (element != getElementTypeOrSelf(type))
    return op->emitOpError("expects elements of type ")
           << element << ", as the memory has, got " << type;
  return success();
}

/// `other` is a scalar of the memory's element type or, where `result` is
/// given, a tensor of that type.
static LogicalResult verifyOther(Operation *op, Value memref, Value other,
                                 Type result) {
  if (!other)
    return success();
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  if (other.getType() == element || (result && other.getType() == result))
    return success();
  return op->emitOpError("expects 'other' to be a scalar of type ")
         << element << ", got " << other.getType();
}

LogicalResult GatherOp::verify() {
  if (failed(verifyOneShape(*this, getType(), {getOffsets(), getMask()})) ||
      failed(verifyElement(*this, getBase(), getType())))
    return failure();
  return verifyOther(*this, getBase(), getOther(), getType());
}

LogicalResult ScatterOp::verify() {
  if (failed(verifyOneShape(*this, getValue().getType(),
                            {getOffsets(), getMask()})))
    return failure();
  return verifyElement(*this, getBase(), getValue().getType());
}

/// The constraints that gather_rows and scatter_rows share; `type` is the
/// block's.
static LogicalResult verifyRows(Operation *op, Value view, Value rows,
                                Value rowMask, int64_t dim,
                                RankedTensorType type) {
  auto viewType = cast<MemRefType>(view.getType());
  if (viewType.getRank() != type.getRank())
    return op->emitOpError("expects a view of rank ")
           << type.getRank() << ", got " << viewType;
  if (failed(verifyElement(op, view, type)))
    return failure();
  if (dim < 0 || dim >= type.getRank() || !viewType.isDynamicDim(dim))
    return op->emitOpError("expects 'dim' to be a dimension of the view with a "
                           "dynamic size, got ")
           << dim << " of " << viewType;
  for (Value value : {rows, rowMask})
    if (value && cast<RankedTensorType>(value.getType()).getDimSize(0) !=
                     type.getDimSize(dim))
      return op->emitOpError("expects ")
             << type.getDimSize(dim) << " rows, got " << value.getType();
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i != dim && !viewType.isDynamicDim(i) &&
        viewType.getDimSize(i) > type.getDimSize(i))
      return op->emitOpError(
                 "expects a view not larger than the block in dimension ")
             << i << ": " << viewType << " and " << type;
  return success();
}

LogicalResult GatherRowsOp::verify() {
  if (failed(verifyRows(*this, getView(), getRows(), getRowmask(), getDim(),
                        cast<RankedTensorType>(getType()))))
    return failure();
  return verifyOther(*this, getView(), getOther(), {});
}

LogicalResult ScatterRowsOp::verify() {
  return verifyRows(*this, getView(), getRows(), getRowmask(), getDim(),
                    cast<RankedTensorType>(getValue().getType()));
}

/// A masked access: the view has the block's shape.
static LogicalResult verifyMasked(Operation *op, Value view, Value mask,
                                  RankedTensorType type) {
  if (cast<MemRefType>(view.getType()).getShape() != type.getShape())
    return op->emitOpError("expects a view of the block's shape, got ")
           << view.getType() << " and " << type;
  if (failed(verifyOneShape(op, type, {mask})))
    return failure();
  return verifyElement(op, view, type);
}

LogicalResult MaskedLoadOp::verify() {
  if (failed(verifyMasked(*this, getView(), getMask(),
                          cast<RankedTensorType>(getType()))))
    return failure();
  return verifyOther(*this, getView(), getOther(), getType());
}

LogicalResult MaskedStoreOp::verify() {
  return verifyMasked(*this, getView(), getMask(),
                      cast<RankedTensorType>(getValue().getType()));
}

LogicalResult AtomicRMWOp::verify() {
  if (failed(verifyOneShape(*this, getType(),
                            {getOffset(), getValue(), getMask()})) ||
      failed(verifyElement(*this, getBase(), getType())) ||
      failed(verifyElement(*this, getBase(), getValue().getType())))
    return failure();
  Type element = getElementTypeOrSelf(getType());
  bool fits = getKind() == AtomicKind::Xchg   ? element.isIntOrFloat()
              : getKind() == AtomicKind::FAdd ? isa<FloatType>(element)
                                              : isa<IntegerType>(element);
  if (!fits)
    return emitOpError("of kind ")
           << stringifyAtomicKind(getKind()) << " does not work on " << element;
  return success();
}

LogicalResult AtomicCASOp::verify() {
  if (failed(verifyOneShape(*this, getType(),
                            {getOffset(), getCompare(), getValue()})))
    return failure();
  for (Type type : {getType(), getCompare().getType(), getValue().getType()})
    if (failed(verifyElement(*this, getBase(), type)))
      return failure();
  return success();
}

LogicalResult AtomicLoadOp::verify() {
  if (failed(verifyOneShape(*this, getType(), {getOffset(), getMask()})))
    return failure();
  return verifyElement(*this, getBase(), getType());
}

LogicalResult AtomicStoreOp::verify() {
  if (failed(verifyOneShape(*this, getValue().getType(),
                            {getOffset(), getMask()})))
    return failure();
  return verifyElement(*this, getBase(), getValue().getType());
}

LogicalResult ViewAddressOp::verify() {
  MemRefType type = getType();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      strides != ArrayRef<int64_t>{1} || !type.isDynamicDim(0))
    return emitOpError("expects a result like memref<?xf32, strided<[1], "
                       "offset: ?>>, got ")
           << type;
  return success();
}
