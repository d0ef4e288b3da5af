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
  return isComputed();
}

/// From element `at` of the piece on.
LogicalResult ScatterPieces::storeVector(const Piece &piece, Value place,
                                         Value at) {
  Indices from = piece.at;
  Value begin = arith::AddIOp::create(b, from.back().base, at);
  from.back() = {begin, 1, static_cast<unsigned>(fe.frame->levels.size() - 1),
                 from.back().dim};
  Value elements = fe.evaluate(scatter.getValue(), from);
  if (!elements)
    return failure();
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
  // The last vector ends with the piece.
  Value last = arith::SubIOp::create(b, piece.length, constant(lanes));
  Block *block = b.getInsertionBlock();
  Operation *behind = &*b.getInsertionPoint();
  unsigned levels = fe.frame->levels.size();
  Index at = openLoop(dim, constant(0), last, lanes, true);
  if (failed(storeVector(piece, place, at.base)))
    return failure();
  fe.frame->levels.truncate(levels);
  b.setInsertionPoint(block, behind->getIterator());
  // As a level of its own, so that elements are read here.
  auto level = std::make_unique<Level>();
  level->block = block;
  level->before = behind;
  fe.frame->levels.push_back(std::move(level));
  fe.builder().setInsertionPoint(behind);
  return storeVector(piece, place, last);
}

LogicalResult ScatterPieces::emitPart(Indices at, Value begin, Value end) {
  at.back() = openLoop(dim, begin, end, lanes, true);
  Value offsets = fe.evaluate(scatter.getOffsets(), at), exists;
  if (mask)
    exists = fe.evaluate(mask, at);
  Value elements = fe.evaluate(scatter.getValue(), at);
  if (!offsets || !elements || (mask && !exists))
    return failure();
  return fe.scatterLanes(to.base, toValue(b, op->getLoc(), to.offset), offsets,
                         exists, elements, op->getLoc());
}

/// False where it is not stored here.
FailureOr<bool> FunctionEmitter::emitScatterPieces(Operation *op,
                                                   const View &to) {
  ScatterPieces pieces(*this, cast<linalg_ext::ScatterOp>(op), to);
  if (!pieces.isPossible())
    return false;
  // Elements that lie in memory may be read from anywhere on.
  Value value = op->getOperand(0);
  bool isNew = !buffers.count(value);
  if (isNew) {
    Value buffer = bufferOf(value);
    if (!buffer)
      return failure();
    setBuffer(value, buffer);
  }
  auto isDone = pieces.emit();
  // What follows may not be behind it: this may be in a branch.
  if (isNew)
    buffers.erase(value);
  return isDone;
}
