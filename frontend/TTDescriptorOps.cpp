//===- TTDescriptorOps.cpp - tensor descriptors ---------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"

#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "frontend/TTDescriptorOps.cpp.inc"

using namespace mlir;
using namespace tilebridge::tt;

void TTDialect::registerDescriptorOps() {
  addOperations<
#define GET_OP_LIST
#include "frontend/TTDescriptorOps.cpp.inc"
      >();
}

LogicalResult MakeTensorDescriptorOp::verify() {
  // Counted over all operands: the two lists are told apart by their common
  // size alone.
  TensorDescType type = getType();
  size_t rank = type.getShape().size();
  if (getNumOperands() != 1 + 2 * rank)
    return emitOpError() << "(MTD1) expected a shape and a stride for each of "
                         << rank << " dimensions, got " << getNumOperands() - 1
                         << " values in all";
  Type pointee = getBase().getType().getPointeeType();
  Type element = type.getSignlessBlockType().getElementType();
  if (pointee != element && pointee != type.getElementType())
    return emitOpError() << "(MTD2) base points to " << pointee
                         << ", the block has elements of "
                         << type.getElementType();
  if (getPadding() == PaddingOption::PAD_NAN && !isa<FloatType>(element))
    return emitOpError() << "(MTD3) padding with NaN needs float elements, not "
                         << element;
  return success();
}

static LogicalResult verifyIndices(Operation *op, StringRef constraint,
                                   TensorDescType desc, size_t count) {
  if (count == desc.getShape().size())
    return success();
  return op->emitOpError() << constraint << " expected an index for each of "
                           << desc.getShape().size() << " dimensions, got "
                           << count;
}

/// The tensor is the descriptor's block, dimensions of size 1 aside.
static LogicalResult verifyBlock(Operation *op, StringRef constraint,
                                 TensorDescType desc, RankedTensorType tensor) {
  RankedTensorType block = desc.getSignlessBlockType();
  auto withoutOnes = [](ArrayRef<int64_t> shape) {
    return llvm::filter_to_vector(shape,
                                  [](int64_t size) { return size != 1; });
  };
  if (block.getElementType() == tensor.getElementType() &&
      withoutOnes(block.getShape()) == withoutOnes(tensor.getShape()))
    return success();
  return op->emitOpError() << constraint << " the descriptor's block is "
                           << block << ", which " << tensor
                           << " is not a form of";
}

LogicalResult DescriptorLoadOp::verify() {
  TensorDescType desc = getDesc().getType();
  if (failed(verifyIndices(*this, "(DL1)", desc, getIndices().size())))
    return failure();
  return verifyBlock(*this, "(DL2)", desc, getType());
}

LogicalResult DescriptorStoreOp::verify() {
  TensorDescType desc = getDesc().getType();
  if (failed(verifyIndices(*this, "(DS1)", desc, getIndices().size())))
    return failure();
  return verifyBlock(*this, "(DS2)", desc, getSrc().getType());
}

LogicalResult DescriptorReduceOp::verify() {
  TensorDescType desc = getDesc().getType();
  if (failed(verifyIndices(*this, "(DR1)", desc, getIndices().size())) ||
      failed(verifyBlock(*this, "(DR2)", desc, getSrc().getType())))
    return failure();
  switch (getKind()) {
  case DescriptorReduceKind::ADD:
  case DescriptorReduceKind::MIN:
  case DescriptorReduceKind::MAX:
    return success();
  default:
    break;
  }
  if (isa<IntegerType>(desc.getElementType()))
    return success();
  return emitOpError() << "(DR3) '" << stringifyDescriptorReduceKind(getKind())
                       << "' needs integers, not " << desc.getElementType();
}

/// A gather or a scatter: a block of one row, and a tensor with a row for each
/// offset.
static LogicalResult verifyRows(Operation *op, TensorDescType desc,
                                RankedTensorType offsets,
                                RankedTensorType tensor) {
  RankedTensorType block = desc.getSignlessBlockType();
  if (block.getRank() != 2 || block.getDimSize(0) != 1)
    return op->emitOpError()
           << "(DG1) the descriptor's block is one row of rank 2, not "
           << block;
  if (offsets.getRank() != 1)
    return op->emitOpError()
           << "(DG2) the row offsets have rank 1, not " << offsets.getRank();
  SmallVector<int64_t> shape = {offsets.getDimSize(0), block.getDimSize(1)};
  RankedTensorType expected =
      RankedTensorType::get(shape, block.getElementType());
  if (tensor != expected)
    return op->emitOpError() << "(DG3) expected a tensor of type " << expected
                             << ", got " << tensor;
  return success();
}

LogicalResult DescriptorGatherOp::verify() {
  return verifyRows(*this, getDesc().getType(), getXOffsets().getType(),
                    getType());
}

LogicalResult DescriptorScatterOp::verify() {
  return verifyRows(*this, getDesc().getType(), getXOffsets().getType(),
                    getSrc().getType());
}
