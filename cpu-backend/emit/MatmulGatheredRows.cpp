//===- MatmulGatheredRows.cpp - rows of `a` from anywhere -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Rows that lie anywhere, and are contiguous, such as the channels of pixels,
// are packed from where they lie, without a copy in between. Where that is, is
// computed before by vectors, as it often takes divisions and comparisons. Rows
// of single elements that follow one another are transposed while they are
// packed, where the micro-kernel reads rows.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/MatmulGatheredRows.h"
#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/RowRun.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

LogicalResult GatheredRows::findPlaces() {
  OpBuilder &builder = fe.builder();
  OpBuilder::InsertionGuard guard(builder);
  Location loc = b.getLoc();
  Type i64 = b.getI64Type();
  places = fe.allocate(MemRefType::get({view.shape[0]}, i64));
  Frame own;
  own.open(builder);
  own.lanes = lanesAlong(view.shape[0], fe.target().vectorBits / 32);
  Frame *outer = std::exchange(fe.frame, &own);
  LogicalResult result = fe.inOrder(
      {view.shape[0]}, {0}, loc, [&](ArrayRef<Index> index) -> LogicalResult {
        FailureOr<RowLanes> rows = RowLanes::of(fe, view, index, own.lanes);
        if (failed(rows))
          return failure();
        Value numbers = rows->numbers, mask = rows->mask;
        auto vector = cast<VectorType>(numbers.getType());
        auto all = [&](Value value) -> Value {
          return vector::BroadcastOp::create(builder, loc, vector, value);
        };
        Value stride = arith::IndexCastOp::create(
            builder, loc, i64, toValue(builder, loc, view.strides[0]));
        numbers = arith::MulIOp::create(builder, loc, numbers, all(stride));
        if (mask)
          numbers = arith::SelectOp::create(
              builder, loc, mask, numbers,
              all(arith::ConstantIntOp::create(builder, loc, nowhere, 64)));
        vector::StoreOp::create(builder, loc, numbers, places, index[0].base);
        return success();
      });
  fe.frame = outer;
  return result;
}

/// Packs what `load` gives of the vector that begins at a column.
void GatheredRows::forVectors(llvm::function_ref<Value(Value)> load) {
  auto store = [&](Value column) {
    vector::StoreOp::create(b, kernel.asLeft(load(column)), product.lhs,
                            ValueRange{row, plus(product.filled, column)});
  };
  if (!product.ownSteps)
    return emitLoop(b, view.shape[1], lanes, store);
  auto loop =
      scf::ForOp::create(b, constant(0), product.ownSteps, constant(lanes));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  store(loop.getInductionVar());
}

/// A row whose elements are all there.
void GatheredRows::copy(Value place) {
  forVectors([&](Value column) -> Value {
    return vector::LoadOp::create(b, type, view.base, plus(place, column));
  });
}

Value GatheredRows::isBelow(Value column, OpFoldResult bound) {
  Value left = arith::SubIOp::create(b, at(bound), column);
  return vector::CreateMaskOp::create(
      b, VectorType::get({lanes}, b.getI1Type()), ValueRange{left});
}

/// A row some of whose elements are there, if it is there itself.
void GatheredRows::copyPart(Value place, Value exists) {
  emitChoice(
      b, exists,
      [&] {
        forVectors([&](Value column) -> Value {
          Value mask = isBelow(column, view.hi[1]);
          if (constantOf(view.lo[1]) != 0)
            mask = arith::AndIOp::create(
                b, mask,
                arith::XOrIOp::create(b, isBelow(column, view.lo[1]),
                                      allLanes(b, b.getLoc(), lanes)));
          // Behind the row's end there may be no memory.
          Value isAny = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                              column, at(view.hi[1])),
                from = arith::SelectOp::create(b, isAny, plus(place, column),
                                               constant(0));
          return vector::MaskedLoadOp::create(b, type, view.base, from, mask,
                                              others);
        });
      },
      [&] { forVectors([&](Value) { return others; }); });
}

Value GatheredRows::hasAllColumns() {
  Value isWhole =
            arith::CmpIOp::create(b, arith::CmpIPredicate::sge, at(view.hi[1]),
                                  constant(view.shape[1])),
        isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::sle,
                                        at(view.lo[1]), constant(0));
  return arith::AndIOp::create(b, isWhole, isFirst);
}

void GatheredRows::copyAll(Value number) {
  row = number;
  Value start = memref::LoadOp::create(b, places, number),
        exists =
            arith::CmpIOp::create(b, arith::CmpIPredicate::ne, start,
                                  arith::ConstantIntOp::create(b, nowhere, 64)),
        place = plus(at(view.offset),
                     arith::IndexCastOp::create(b, b.getIndexType(), start));
  bool isFull = view.isFull(1);
  if (isFull && !view.rowMask)
    return copy(place);
  Value isAll = exists;
  if (!isFull)
    isAll = arith::AndIOp::create(b, exists, hasAllColumns());
  emitChoice(
      b, isAll, [&] { copy(place); },
      [&] {
        if (isFull)
          forVectors([&](Value) { return others; });
        else
          copyPart(place, exists);
      });
}

LogicalResult GatheredRows::emit() {
  others = view.pad ? fe.mapScalar(view.pad)
                    : fe.zeroOf(view.elementType(), b.getLoc());
  if (!others || failed(findPlaces()))
    return failure();
  others = fe.toLanes(others, lanes);
  b.setInsertionPoint(fe.builder().getInsertionBlock(),
                      fe.builder().getInsertionPoint());
  Value end = constant(view.shape[0]);
  if (product.wanted)
    end = arith::MinSIOp::create(b, end, product.wanted);
  auto loop = scf::ForOp::create(b, constant(0), end, constant(1));
  b.setInsertionPointToStart(loop.getBody());
  copyAll(loop.getInductionVar());
  return success();
}

LogicalResult GatheredRows::emitSquares(int64_t side) {
  OpBuilder &builder = fe.builder();
  OpBuilder::InsertionGuard guard(builder);
  Location loc = b.getLoc();
  others =
      view.pad ? fe.mapScalar(view.pad) : fe.zeroOf(view.elementType(), loc);
  if (!others)
    return failure();
  others = fe.toLanes(others, side);
  SmallVector<OpFoldResult> offsets = {builder.getIndexAttr(0), product.filled},
                            strides(2, builder.getIndexAttr(1));
  Value part = memref::SubViewOp::create(
      builder, loc, product.lhs, offsets,
      getAsIndexOpFoldResult(b.getContext(), view.shape), strides);
  View to = makeView(builder, loc, part, view.shape);
  auto asLeft = [&](ImplicitLocOpBuilder &at, Value value) {
    b.setInsertionPoint(at.getInsertionBlock(), at.getInsertionPoint());
    return kernel.asLeft(value);
  };
  Frame own;
  own.open(builder);
  own.lanes = side;
  Frame *outer = std::exchange(fe.frame, &own);
  LogicalResult result = fe.inOrder(
      {view.shape[0]}, {0}, loc, [&](ArrayRef<Index> index) -> LogicalResult {
        FailureOr<RowLanes> rows = RowLanes::of(fe, view, index, side);
        if (failed(rows))
          return failure();
        copyRun(builder, view, to, index[0].base, rows->numbers, rows->mask,
                others, loc, asLeft);
        return success();
      });
  fe.frame = outer;
  return result;
}

/// Packs rows of `a` that are gathered, and nothing else; whether it has.
FailureOr<bool> FunctionEmitter::packGatheredRows(const DeepMatmul &product,
                                                  Value tensor) {
  auto known = irregular.find(tensor);
  if (known == irregular.end() || buffers.count(tensor) ||
      product.form.swapsLhs)
    return false;
  const View &view = *known->second;
  Type element = view.elementType();
  bool isByte = element.getIntOrFloatBitWidth() <= 8;
  if (view.rowDim != 0 || view.shape.size() != 2 ||
      (isByte && !element.isInteger(8)))
    return false;
  bool isContiguous = constantOf(view.strides[1]) == 1;
  // More rows than a vector has of 32 bits take more steps to transpose.
  int64_t most = target().vectorBits >= 512 ? 16 : 8,
          side = std::min(
              {lanesAlong(view.shape[0], most), lanesAlong(view.shape[1], most),
               target().vectorBits / element.getIntOrFloatBitWidth()});
  if (!isContiguous && (constantOf(view.strides[0]) != 1 || side < 4))
    return false;
  LogicalResult result = success();
  auto pack = [&] {
    GatheredRows rows(*this, product, view);
    result = product.rowTiles ? rows.emitTiles()
             : isContiguous   ? rows.emit()
                              : rows.emitSquares(side);
  };
  if (!product.place) {
    pack();
  } else {
    ImplicitLocOpBuilder b(product.op->getLoc(), rewriter);
    placeRows(b, product, view.base, {}, [&] {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
      pack();
    });
  }
  if (failed(result))
    return failure();
  return true;
}
