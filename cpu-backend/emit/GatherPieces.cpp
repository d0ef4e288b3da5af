//===- GatherPieces.cpp - gathers by pieces of rows -----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The buffer of a gather whose places grow evenly up to the ends of rows, of
// single elements or of short rows, is filled by copies of vectors; where only
// a part of their sum grows so, and another is read, by gathers.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/PieceCopy.h"
#include "cpu-backend/emit/RowPieces.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

namespace tilebridge::cpu {
class GatherPieces : public RowPieces {
public:
  GatherPieces(FunctionEmitter &fe, Operation *op)
      : RowPieces(fe, op),
        type(cast<RankedTensorType>(op->getResult(0).getType())) {}

  bool isPossible() {
    return fe.irregular.count(op->getResult(0)) && readShape() &&
           (isComputed(other) || (!isRows() && isPartlyComputed(other)));
  }
  void setBuffer(View view) { to = std::move(view); }

private:
  bool readShape();
  const View &from() { return *fe.irregular.find(op->getResult(0))->second; }
  bool isRows() { return isa<linalg_ext::GatherRowsOp>(op); }

  bool evaluateMore(ArrayRef<Index> at) override {
    outside = from().pad
                  ? fe.mapScalar(from().pad)
                  : fe.otherOf(other, from().elementType(), at, op->getLoc());
    return outside != nullptr;
  }
  bool isSame(LinearPieces &pieces) override { return pieces.isSame(outside); }
  std::optional<OpFoldResult> elementGrowth(OpFoldResult growth) override;
  LogicalResult emitPiece(const Piece &piece) override;
  LogicalResult emitPart(Indices at, Value begin, Value end) override;
  LogicalResult gatherPiece(const Piece &piece, Value target);
  LogicalResult gatherVector(const Piece &piece, Value target, Value at);
  Value areNeighbours(Value offsets);

  RankedTensorType type;
  View to;
  /// What masked-off elements are: a tensor of the old function, and a scalar.
  Value other, outside;
  int64_t columnStride = 1;
};
} // namespace tilebridge::cpu

bool GatherPieces::readShape() {
  unsigned rank = type.getRank();
  if (rank == 0 || !type.getElementType().isIntOrFloat() ||
      type.getElementType().isInteger(1))
    return false;
  if (auto gather = dyn_cast<linalg_ext::GatherOp>(op)) {
    places = gather.getOffsets();
    mask = gather.getMask();
    other = gather.getOther();
    setRows(type, rank - 1);
    return true;
  }
  // Where rows are long a row is as good as a piece.
  constexpr int64_t mostColumns = 128;
  auto rows = dyn_cast<linalg_ext::GatherRowsOp>(op);
  if (!rows)
    return false;
  places = rows.getRows();
  mask = rows.getRowmask();
  unsigned along = rows.getDim();
  auto stride = constantOf(from().strides.back());
  if (along == rank - 1) {
    setRows(type, along);
    return stride == 1;
  }
  if (along != rank - 2 || !from().isFull(rank - 1))
    return false;
  setRows(type, along);
  if (columns > mostColumns || !stride || (stride != 0 && stride != 1))
    return false;
  columnStride = *stride;
  return true;
}

/// The elements of a row lie as one row behind the other does.
std::optional<OpFoldResult> GatherPieces::elementGrowth(OpFoldResult growth) {
  if (columns == 1)
    return growth;
  auto step = getConstantIntValue(growth),
       stride = constantOf(from().strides[dim]);
  if (!step || !stride || *step * *stride != columns * columnStride)
    return std::nullopt;
  return b.getI64IntegerAttr(columnStride);
}

LogicalResult GatherPieces::emitPiece(const Piece &piece) {
  Location loc = op->getLoc();
  Indices first = piece.at;
  first.resize(to.shape.size());
  Value target = fe.address(to, first, -1, loc);
  if (!reads.empty())
    return gatherPiece(piece, target);
  Value source, exists = piece.exists;
  if (isRows()) {
    // Other rows than those of the pieces may be outside of the box, too.
    fe.builder().setInsertionPoint(b.getInsertionBlock(),
                                   b.getInsertionPoint());
    source = fe.address(from(), first, -1, loc);
    exists = fe.inBox(from(), first, 0, loc);
  } else {
    source =
        arith::AddIOp::create(b, toValue(b, loc, from().offset), piece.place);
  }
  PieceCopy(b, loc, from().base, to.base, lanes)
      .run(exists, outside, source, piece.growth, target,
           arith::MulIOp::create(b, piece.length, constant(columns)));
  return success();
}

LogicalResult GatherPieces::gatherPiece(const Piece &piece, Value target) {
  if (piece.exists) {
    auto branch = scf::IfOp::create(b, piece.exists, /*withElseRegion=*/true);
    b.setInsertionPoint(branch.elseBlock()->getTerminator());
    PieceCopy(b, op->getLoc(), from().base, to.base, lanes)
        .fill(outside, target, piece.length);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  return forVectors(piece.length,
                    [&](Value at) { return gatherVector(piece, target, at); });
}

LogicalResult GatherPieces::gatherVector(const Piece &piece, Value target,
                                         Value at) {
  Value offsets = placesOf(piece, at);
  if (!offsets)
    return failure();
  auto element = VectorType::get({lanes}, from().elementType());
  Location loc = op->getLoc();
  Value start = toValue(b, loc, from().offset), value;
  auto gather = [&]() -> Value {
    Value none = arith::ConstantOp::create(b, b.getZeroAttr(element));
    return vector::GatherOp::create(b, element, from().base, ValueRange{start},
                                    offsets, allLanes(b, loc, lanes), none);
  };
  if (lanes >= 4 && getConstantIntValue(piece.growth).value_or(1) == 1) {
    // What is read is often one number for a row, as the row of a table is.
    auto branch =
        scf::IfOp::create(b, TypeRange{element}, areNeighbours(offsets), true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(branch.thenBlock());
    Value first = vector::ExtractOp::create(b, offsets, 0);
    scf::YieldOp::create(b,
                         vector::LoadOp::create(b, element, from().base,
                                                advanced(b, loc, start, first))
                             .getResult());
    b.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(b, gather());
    value = branch.getResult(0);
  } else {
    value = gather();
  }
  vector::StoreOp::create(b, value, to.base,
                          ValueRange{arith::AddIOp::create(b, target, at)});
  return success();
}

/// Whether each lane is one more than that before it.
Value GatherPieces::areNeighbours(Value offsets) {
  auto type = cast<VectorType>(offsets.getType());
  Value first = vector::ExtractOp::create(b, offsets, 0);
  Value expected =
      arith::AddIOp::create(b, vector::BroadcastOp::create(b, type, first),
                            numbersFrom0(b, op->getLoc(), type));
  Value each =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, offsets, expected);
  return vector::ReductionOp::create(b, vector::CombiningKind::AND, each);
}

LogicalResult GatherPieces::emitPart(Indices at, Value begin, Value end) {
  if (columns > 1) {
    fe.frame->lanes = lanesAlong(columns, lanes);
    at.back() = openLoop(dim, begin, end, 1, false);
    at.push_back(openLoop(dim + 1, constant(0), constant(columns),
                          fe.frame->lanes, fe.frame->lanes > 1));
  } else {
    at.back() = openLoop(dim, begin, end, lanes, true);
  }
  Value value = fe.evaluateIrregular(op, at);
  return value ? fe.write(to, at, value, op->getLoc()) : failure();
}

/// A gather that has a buffer; false where it is not filled here.
FailureOr<bool> FunctionEmitter::emitGatherBuffer(Operation *op) {
  if (!isIrregularLoad(op))
    return false;
  GatherPieces pieces(*this, op);
  if (!pieces.isPossible())
    return false;
  Value tensor = op->getResult(0), buffer = bufferFor(tensor);
  pieces.setBuffer(
      makeView(rewriter, op->getLoc(), buffer,
               cast<RankedTensorType>(tensor.getType()).getShape()));
  auto isDone = pieces.emit();
  if (succeeded(isDone) && *isDone)
    setBuffer(tensor, buffer);
  return isDone;
}
