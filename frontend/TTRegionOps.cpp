//===- TTRegionOps.cpp - reductions, scans and maps -----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

#define GET_OP_CLASSES
#include "frontend/TTRegionOps.cpp.inc"

using namespace mlir;
using namespace tilebridge::tt;

void TTDialect::registerRegionOps() {
  addOperations<
#define GET_OP_LIST
#include "frontend/TTRegionOps.cpp.inc"
      >();
}

static SmallVector<Type> elementsOf(TypeRange tensors) {
  return llvm::map_to_vector(
      tensors, [](Type type) { return getElementTypeOrSelf(type); });
}

/// There is an operand, and all tensors have the shape of the first.
static LogicalResult verifyOneShape(Operation *op, StringRef constraint,
                                    TypeRange types) {
  if (op->getNumOperands() == 0)
    return op->emitOpError() << constraint << " expected at least one operand";
  ArrayRef<int64_t> shape = cast<RankedTensorType>(types.front()).getShape();
  for (Type type : types)
    if (cast<RankedTensorType>(type).getShape() != shape)
      return op->emitOpError()
             << constraint << " all tensors have one shape, which "
             << types.front() << " and " << type << " do not";
  return success();
}

static LogicalResult verifyAxis(Operation *op, StringRef constraint,
                                int64_t axis, Type operand) {
  int64_t rank = cast<RankedTensorType>(operand).getRank();
  if (axis >= 0 && axis < rank)
    return success();
  return op->emitOpError() << constraint << " axis " << axis
                           << " is no dimension of " << operand;
}

static LogicalResult verifyTypes(Operation *op, StringRef constraint,
                                 StringRef what, TypeRange expected,
                                 TypeRange got) {
  if (expected == got)
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << constraint << " expected " << what << " (";
  llvm::interleaveComma(expected, diag);
  diag << "), got (";
  llvm::interleaveComma(got, diag);
  return diag << ")";
}

/// The region of a reduction or scan takes two groups of elements and returns
/// one.
template <typename ReturnOp>
static LogicalResult verifyCombiner(Operation *op, StringRef arguments,
                                    StringRef results) {
  SmallVector<Type> group = elementsOf(op->getOperandTypes());
  SmallVector<Type> pair = group;
  pair.append(group);
  Block &body = op->getRegion(0).front();
  if (failed(verifyTypes(op, arguments, "region arguments", pair,
                         body.getArgumentTypes())))
    return failure();
  auto ret = dyn_cast<ReturnOp>(body.getTerminator());
  if (!ret)
    return op->emitOpError() << results << " the region ends with '"
                             << ReturnOp::getOperationName() << "', not '"
                             << body.getTerminator()->getName() << "'";
  return verifyTypes(ret, results, "values", group, ret.getOperandTypes());
}

LogicalResult ReduceOp::verify() {
  TypeRange operands = getSrcs().getTypes();
  if (failed(verifyOneShape(*this, "(RD1)", operands)) ||
      failed(
          verifyAxis(*this, "(RD2)", getAxisAttr().getInt(), operands.front())))
    return failure();
  SmallVector<Type> expected;
  for (Type type : operands) {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape());
    shape.erase(shape.begin() + getAxisAttr().getInt());
    expected.push_back(shape.empty() ? tensor.getElementType()
                                     : Type(tensor.clone(shape)));
  }
  return verifyTypes(*this, "(RD3)", "results", expected, getResultTypes());
}

LogicalResult ReduceOp::verifyRegions() {
  return verifyCombiner<ReduceReturnOp>(*this, "(RD4)", "(RD5)");
}

LogicalResult ScanOp::verify() {
  TypeRange operands = getSrcs().getTypes();
  if (failed(verifyOneShape(*this, "(SC1)", operands)) ||
      failed(
          verifyAxis(*this, "(SC2)", getAxisAttr().getInt(), operands.front())))
    return failure();
  return verifyTypes(*this, "(SC3)", "results", operands, getResultTypes());
}

LogicalResult ScanOp::verifyRegions() {
  return verifyCombiner<ScanReturnOp>(*this, "(SC4)", "(SC5)");
}

/// `pack` of each tensor's elements, those of one tensor beside each other.
static SmallVector<Type> packedElements(TypeRange tensors, int64_t pack) {
  SmallVector<Type> types;
  for (Type type : tensors)
    types.append(pack, getElementTypeOrSelf(type));
  return types;
}

LogicalResult MapElementwiseOp::verify() {
  SmallVector<Type> types(getOperandTypes());
  llvm::append_range(types, getResultTypes());
  if (failed(verifyOneShape(*this, "(ME1)", types)))
    return failure();
  int64_t count = cast<RankedTensorType>(types.front()).getNumElements();
  int64_t pack = getPackAttr().getInt();
  if (pack < 1 || count % pack != 0)
    return emitOpError() << "(ME2) pack is at least 1 and divides " << count
                         << ", which " << pack << " does not";
  return verifyTypes(*this, "(ME3)", "region arguments",
                     packedElements(getOperandTypes(), pack),
                     getScalarOp().getArgumentTypes());
}

LogicalResult MapElementwiseReturnOp::verify() {
  auto map = cast<MapElementwiseOp>((*this)->getParentOp());
  // The map's own verifier, which bounds pack, may not have run yet.
  int64_t pack = map.getPackAttr().getInt();
  if (pack < 1 ||
      static_cast<uint64_t>(pack) * map.getNumResults() != getNumOperands())
    return emitOpError() << "(ME4) expected " << pack << " values for each of "
                         << map.getNumResults() << " results, got "
                         << getNumOperands();
  return verifyTypes(*this, "(ME4)", "values",
                     packedElements(map.getResultTypes(), pack),
                     getOperandTypes());
}
