//===- TTShapeOps.cpp - operations that only move elements ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

#define GET_OP_CLASSES
#include "frontend/TTShapeOps.cpp.inc"

using namespace mlir;
using namespace tilebridge::tt;

void TTDialect::registerShapeOps() {
  addOperations<
#define GET_OP_LIST
#include "frontend/TTShapeOps.cpp.inc"
      >();
}

/// A constant of one value keeps it under whatever moves elements.
static OpFoldResult foldOneValue(Attribute source, ShapedType type) {
  if (auto splat = dyn_cast_if_present<SplatElementsAttr>(source))
    return splat.resizeSplat(type);
  return {};
}

static InFlightDiagnostic shapeError(Operation *op, StringRef constraint,
                                     ArrayRef<int64_t> expected,
                                     RankedTensorType got) {
  InFlightDiagnostic diag = op->emitOpError()
                            << constraint << " expected the shape [";
  llvm::interleaveComma(expected, diag);
  return std::move(diag << "], got " << got);
}

LogicalResult MakeRangeOp::verify() {
  auto type = getType();
  if (type.getRank() != 1 || !type.getElementType().isInteger(32))
    return emitOpError() << "(MR1) the result is an i32 tensor of rank 1, not "
                         << type;
  int64_t start = getStartAttr().getInt(), end = getEndAttr().getInt();
  if (end <= start || end - start != type.getDimSize(0))
    return emitOpError() << "(MR2) " << start << " to " << end << " are "
                         << end - start << " numbers, the result has "
                         << type.getDimSize(0);
  return success();
}

LogicalResult SplatOp::verify() {
  if (getSrc().getType() == getType().getElementType())
    return success();
  return emitOpError() << "(SP1) the source is a scalar of type "
                       << getType().getElementType() << ", not "
                       << getSrc().getType();
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  if (isa_and_present<IntegerAttr, FloatAttr>(adaptor.getSrc()))
    return SplatElementsAttr::get(getType(), adaptor.getSrc());
  return {};
}

LogicalResult UnsplatOp::verify() {
  int64_t count = getSrc().getType().getNumElements();
  if (count == 1)
    return success();
  return emitOpError() << "(US1) the source has one element, not " << count;
}

OpFoldResult UnsplatOp::fold(FoldAdaptor adaptor) {
  if (auto splat = dyn_cast_if_present<SplatElementsAttr>(adaptor.getSrc()))
    return splat.getSplatValue<Attribute>();
  if (auto splat = getSrc().getDefiningOp<SplatOp>())
    return splat.getSrc();
  return {};
}

LogicalResult ExpandDimsOp::verify() {
  RankedTensorType source = getSrc().getType();
  int64_t axis = getAxisAttr().getInt();
  if (axis < 0 || axis > source.getRank())
    return emitOpError() << "(ED1) axis is in [0, " << source.getRank()
                         << "], not " << axis;
  SmallVector<int64_t> expected(source.getShape());
  expected.insert(expected.begin() + axis, 1);
  if (getType().getShape() != ArrayRef<int64_t>(expected))
    return shapeError(*this, "(ED2)", expected, getType());
  return success();
}

OpFoldResult ExpandDimsOp::fold(FoldAdaptor adaptor) {
  return foldOneValue(adaptor.getSrc(), getType());
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType source = getSrc().getType(), result = getType();
  if (source.getRank() != result.getRank())
    return emitOpError() << "(BC1) source and result have one rank, not "
                         << source.getRank() << " and " << result.getRank();
  for (auto [index, from, to] :
       llvm::enumerate(source.getShape(), result.getShape()))
    if (from != to && from != 1)
      return emitOpError() << "(BC2) dimension " << index << " of size " << from
                           << " cannot become " << to
                           << "; only size 1 is repeated";
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  return foldOneValue(adaptor.getSrc(), getType());
}

LogicalResult ReshapeOp::verify() {
  int64_t from = getSrc().getType().getNumElements(),
          to = getType().getNumElements();
  if (from == to)
    return success();
  return emitOpError()
         << "(RS1) source and result have one number of elements, not " << from
         << " and " << to;
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  return foldOneValue(adaptor.getSrc(), getType());
}

LogicalResult TransOp::verify() {
  RankedTensorType source = getSrc().getType();
  ArrayRef<int32_t> order = getOrder();
  llvm::SmallBitVector seen(source.getRank());
  for (int32_t dimension : order)
    if (dimension >= 0 && dimension < source.getRank())
      seen.set(dimension);
  if (static_cast<int64_t>(order.size()) != source.getRank() || !seen.all())
    return emitOpError() << "(TR1) order is no permutation of the source's "
                         << source.getRank() << " dimensions";
  auto expected = llvm::map_to_vector(
      order, [&](int32_t d) { return source.getDimSize(d); });
  if (getType().getShape() != ArrayRef<int64_t>(expected))
    return shapeError(*this, "(TR2)", expected, getType());
  return success();
}

OpFoldResult TransOp::fold(FoldAdaptor adaptor) {
  bool identity = llvm::all_of(llvm::enumerate(getOrder()), [](auto entry) {
    return entry.value() == static_cast<int32_t>(entry.index());
  });
  if (identity && getSrc().getType() == getType())
    return getSrc();
  return foldOneValue(adaptor.getSrc(), getType());
}

LogicalResult CatOp::verify() {
  RankedTensorType source = getLhs().getType();
  SmallVector<int64_t> expected(source.getShape());
  if (expected.empty())
    return emitOpError()
           << "(CT1) a tensor without dimensions cannot be concatenated";
  expected[0] *= 2;
  if (getType().getShape() != ArrayRef<int64_t>(expected))
    return shapeError(*this, "(CT1)", expected, getType());
  return success();
}

LogicalResult JoinOp::verify() {
  SmallVector<int64_t> expected(getLhs().getType().getShape());
  expected.push_back(2);
  if (getType().getShape() != ArrayRef<int64_t>(expected))
    return shapeError(*this, "(JN1)", expected, getType());
  return success();
}

LogicalResult SplitOp::verify() {
  RankedTensorType source = getSrc().getType();
  if (source.getRank() == 0 || source.getShape().back() != 2)
    return emitOpError() << "(SL1) the source's last dimension is 2, not as in "
                         << source;
  auto expected = RankedTensorType::get(source.getShape().drop_back(),
                                        source.getElementType());
  if (getOutLHS().getType() != expected)
    return emitOpError() << "(SL2) expected results of type " << expected
                         << ", got " << getOutLHS().getType();
  return success();
}

LogicalResult GatherOp::verify() {
  RankedTensorType source = getSrc().getType(),
                   indices = getIndices().getType();
  int64_t axis = getAxisAttr().getInt(), rank = source.getRank();
  if (indices.getRank() != rank || axis < 0 || axis >= rank)
    return emitOpError() << "(GA1) source and indices have one rank, here "
                         << rank << " and " << indices.getRank()
                         << ", and axis " << axis << " is a dimension";
  if (getType() != indices.clone(source.getElementType()))
    return emitOpError() << "(GA2) expected a result of type "
                         << indices.clone(source.getElementType()) << ", got "
                         << getType();
  for (int64_t d = 0; d < rank; ++d)
    if (d != axis && indices.getDimSize(d) > source.getDimSize(d))
      return emitOpError() << "(GA3) dimension " << d << " of the indices, "
                           << indices.getDimSize(d)
                           << ", is larger than the source's, "
                           << source.getDimSize(d);
  return success();
}
