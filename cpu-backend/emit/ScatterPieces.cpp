//===- ScatterPieces.cpp - scatters by pieces of rows ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Elements of a block that is in memory are stored by vectors as far as their
// places grow by one. They are stored in their order: of equal places the last
// one wins, also where some are stored again.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/RowPieces.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

namespace tilebridge::cpu {
class ScatterPieces : public RowPieces {
public:
  ScatterPieces(FunctionEmitter &fe, linalg_ext::ScatterOp op, const View &to)
      : RowPieces(fe, op), scatter(op), to(to) {}

  bool isPossible();

private:
  LogicalResult emitPiece(const Piece &piece) override;
  LogicalResult emitPart(Indices at, Value begin, Value end) override;
  LogicalResult storeVector(const Piece &piece, Value place, Value at);

  linalg_ext::ScatterOp scatter;
  const View &to;
};
} // namespace tilebridge::cpu

bool ScatterPieces::isPossible() {
  auto type = cast<RankedTensorType>(scatter.getValue().getType());
  if (type.getRank() == 0 || !type.getElementType().isIntOrFloat() ||
      type.getElementType().isInteger(1))
    return false;
  places = scatter.getOffsets();
  mask = scatter.getMask();
  setRows(type, type.getRank() - 1);
  return isComputed() || isPartlyComputed();
}

/// From element `at` of the piece on.
LogicalResult ScatterPieces::storeVector(const Piece &piece, Value place,
                                         Value at) {
  Value elements = fe.evaluate(scatter.getValue(), vectorOf(piece, at));
  if (!elements)
    return failure();
  if (!reads.empty()) {
    Value offsets = placesOf(piece, at);
    if (!offsets)
      return failure();
    fe.scatterLanes(to.base, toValue(b, op->getLoc(), to.offset), offsets, {},
                    elements, op->getLoc());
    return success();
  }
  Value growth = getConstantIntValue(piece.growth)
                     ? constant(*getConstantIntValue(piece.growth))
                     : asIndex(cast<Value>(piece.growth));
  Value target =
      arith::AddIOp::create(b, place, arith::MulIOp::create(b, at, growth));
  if (getConstantIntValue(piece.growth) == 1) {
    vector::StoreOp::create(b, elements, to.base, target);
    return success();
  }
  auto type = VectorType::get({lanes}, b.getIndexType());
  auto scatterLanes = [&] {
    Value steps =
        arith::MulIOp::create(b, vector::StepOp::create(b, type),
                              vector::BroadcastOp::create(b, type, growth));
    vector::ScatterOp::create(b, Type(), to.base, target, steps,
                              allLanes(b, b.getLoc(), lanes), elements);
  };
  if (getConstantIntValue(piece.growth)) {
    scatterLanes();
    return success();
  }
  Value isOne =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, growth, constant(1));
  auto branch = scf::IfOp::create(b, isOne, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  vector::StoreOp::create(b, elements, to.base, target);
  b.setInsertionPointToStart(branch.elseBlock());
  scatterLanes();
  return success();
}

LogicalResult ScatterPieces::emitPiece(const Piece &piece) {
  if (piece.exists) {
    auto branch = scf::IfOp::create(b, piece.exists, /*withElseRegion=*/false);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  Value place = arith::AddIOp::create(b, toValue(b, op->getLoc(), to.offset),
                                      piece.place);
  return forVectors(piece.length,
                    [&](Value at) { return storeVector(piece, place, at); });
}

LogicalResult ScatterPieces::emitPart(Indices at, Value begin, Value end) {
  at.back() = openLoop(dim, begin, end, lanes, true);
  Value offsets = fe.evaluate(scatter.getOffsets(), at), exists;
  if (mask)
    exists = fe.evaluate(mask, at);
  Value elements = fe.evaluate(scatter.getValue(), at);
  if (!offsets || !elements || (mask && !exists))
    return failure();
  fe.scatterLanes(to.base, toValue(b, op->getLoc(), to.offset), offsets, exists,
                  elements, op->getLoc());
  return success();
}

/// False where it is not stored here.
FailureOr<bool> FunctionEmitter::emitScatterPieces(Operation *op,
                                                   const View &to) {
  ScatterPieces pieces(*this, cast<linalg_ext::ScatterOp>(op), to);
  if (!pieces.isPossible())
    return false;
  return pieces.emit(op->getOperand(0));
}
