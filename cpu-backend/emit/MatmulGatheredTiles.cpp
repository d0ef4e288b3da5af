//===- MatmulGatheredTiles.cpp - tiles of gathered rows where they lie ----===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// AMX's tiles are 16 rows at any distance: pixels that follow one another in a
// row of a picture, none of which is missing, are not packed. The micro-kernel
// is told for each tile and iteration where its rows are.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/MatmulGatheredRows.h"
#include "cpu-backend/emit/RowRun.h"
#include "cpu-backend/emit/TileCalls.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// The micro-kernel finds the 16 rows from `first` on there, in this iteration.
void GatheredRows::putTile(Value first, Value address, Value rowBytes) {
  Value tile = arith::DivUIOp::create(b, first, constant(tileSide)),
        iteration =
            arith::DivUIOp::create(b, product.filled, constant(product.depth));
  SmallVector<Value> fields = {address, rowBytes};
  for (auto [i, value] : llvm::enumerate(fields))
    memref::StoreOp::create(
        b, arith::IndexCastOp::create(b, b.getI64Type(), value),
        product.rowTiles,
        ValueRange{tile, iteration, constant(static_cast<int64_t>(i))});
}

void GatheredRows::packTile(Value first) {
  Value end = plus(first, constant(tileSide));
  if (product.wanted)
    end = arith::MinSIOp::create(b, end, product.wanted);
  {
    auto loop = scf::ForOp::create(b, first, end, constant(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    copyAll(loop.getInductionVar());
  }
  RowsInMemory packed = rowsOf(b, product.lhs);
  Value address =
      plus(packed.address,
           plus(arith::MulIOp::create(b, first, packed.rowBytes),
                arith::MulIOp::create(b, product.filled,
                                      constant(kernel.packedBytes()))));
  putTile(first, address, packed.rowBytes);
}

LogicalResult GatheredRows::emitTile(const Index &rows) {
  FailureOr<RowLanes> tile = RowLanes::of(fe, view, rows, tileSide);
  if (failed(tile))
    return failure();
  Value numbers = tile->numbers, mask = tile->mask;
  b.setInsertionPoint(fe.builder().getInsertionBlock(),
                      fe.builder().getInsertionPoint());
  auto vector = cast<VectorType>(numbers.getType());
  auto everywhere = [&](Value value) -> Value {
    return vector::BroadcastOp::create(b, vector, value);
  };
  auto areAll = [&](Value lanes) -> Value {
    return vector::ReductionOp::create(b, vector::CombiningKind::AND, lanes);
  };
  auto asIndex = [&](Value value) -> Value {
    return arith::IndexCastOp::create(b, b.getIndexType(), value);
  };
  Value stride =
      arith::IndexCastOp::create(b, b.getI64Type(), at(view.strides[0]));
  numbers = arith::MulIOp::create(b, numbers, everywhere(stride));
  Value first = vector::ExtractOp::create(b, numbers, ArrayRef<int64_t>{0}),
        second = vector::ExtractOp::create(b, numbers, ArrayRef<int64_t>{1}),
        distance = arith::SubIOp::create(b, second, first);
  Value even = arith::MulIOp::create(b, numbersFrom0(b, b.getLoc(), vector),
                                     everywhere(distance));
  even = arith::AddIOp::create(b, even, everywhere(first));
  Value stays =
      areAll(arith::CmpIOp::create(b, arith::CmpIPredicate::eq, numbers, even));
  if (mask)
    stays = arith::AndIOp::create(b, stays, areAll(mask));
  if (!view.isFull(1))
    stays = arith::AndIOp::create(b, stays, hasAllColumns());
  Value bytes = constant(kernel.packedBytes());
  emitChoice(
      b, stays,
      [&] {
        Value begin = plus(at(view.offset), asIndex(first));
        putTile(rows.base,
                plus(addressOf(b, view.base, kernel.packedBytes()),
                     arith::MulIOp::create(b, begin, bytes)),
                arith::MulIOp::create(b, asIndex(distance), bytes));
      },
      [&] {
        if (mask)
          numbers = arith::SelectOp::create(
              b, mask, numbers,
              everywhere(arith::ConstantIntOp::create(b, nowhere, 64)));
        vector::StoreOp::create(b, numbers, places, rows.base);
        packTile(rows.base);
      });
  return success();
}

LogicalResult GatheredRows::emitTiles() {
  OpBuilder &builder = fe.builder();
  OpBuilder::InsertionGuard guard(builder);
  Location loc = b.getLoc();
  others =
      view.pad ? fe.mapScalar(view.pad) : fe.zeroOf(view.elementType(), loc);
  if (!others)
    return failure();
  others = fe.toLanes(others, lanes);
  places = fe.allocate(MemRefType::get({view.shape[0]}, b.getI64Type()));
  Frame own;
  own.open(builder);
  own.lanes = tileSide;
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Index rows = own.openLoop(builder, loc, 0, index(0), index(view.shape[0]),
                            tileSide, true);
  Frame *outer = std::exchange(fe.frame, &own);
  LogicalResult result = emitTile(rows);
  fe.frame = outer;
  return result;
}

/// Rows that are contiguous, at places that are computed from their numbers:
/// they follow one another more often than not.
static bool areEvenRows(Value rows, const Plan &plan) {
  auto gather = rows.getDefiningOp<linalg_ext::GatherRowsOp>();
  return gather && !plan.isBuffer(rows) && gather.getDim() == 0 &&
         gather.getView().getType().getStridesAndOffset().first.back() == 1 &&
         PlacesOfPieces().isFromIndices(gather.getRows());
}

bool FunctionEmitter::readsRowTiles(const DeepMatmul &product) {
  linalg::MatmulOp op = product.op;
  Value left = op.getInputs()[0];
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  MatmulKernel kernel = product.kernel(b);
  if (!kernel.readsTiles() ||
      !kernel.readsRowsOf(getElementTypeOrSelf(left.getType())))
    return false;
  auto branch = left.getDefiningOp<scf::IfOp>();
  if (!branch)
    return areEvenRows(left, plan);
  if (!isPackedInBranches(left, op))
    return false;
  unsigned i = cast<OpResult>(left).getResultNumber();
  return areEvenRows(branch.thenYield()->getOperand(i), plan) &&
         areEvenRows(branch.elseYield()->getOperand(i), plan);
}
