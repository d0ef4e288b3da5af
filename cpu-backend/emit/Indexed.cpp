//===- Indexed.cpp - linalg_ext.histogram ---------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/Matmul.h"
#include "cpu-backend/emit/Roots.h"

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// The bins of `lanes` elements from `at` on, in memory: what is masked off and
/// what is out of range is in the bin behind the last one.
static LogicalResult computeBins(Emitter &emitter,
                                 linalg_ext::HistogramOp histogram, Value at,
                                 int64_t lanes, int64_t bins, Value chunk) {
  OpBuilder &b = emitter.builder();
  Location loc = histogram.getLoc();
  Value numbers = emitter.vectorAt(histogram.getInput(), at, 0, lanes);
  Value mask = histogram.getMask()
                   ? emitter.vectorAt(histogram.getMask(), at, 0, lanes)
                   : Value();
  if (!numbers || (histogram.getMask() && !mask))
    return failure();
  Type i64 = b.getI64Type();
  auto wide = VectorType::get({lanes}, i64);
  if (numbers.getType() != wide)
    numbers = arith::ExtUIOp::create(b, loc, wide, numbers);
  Value last = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(wide, b.getI64IntegerAttr(bins)));
  numbers = arith::MinUIOp::create(b, loc, numbers, last);
  if (mask)
    numbers = arith::SelectOp::create(b, loc, mask, numbers, last);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  vector::StoreOp::create(b, loc, numbers, chunk, zero);
  return success();
}

/// Elements go to several tables in turn: the count of a bin that comes again
/// at once is not waited for.
LogicalResult tilebridge::cpu::emitHistogram(Emitter &emitter, Operation *op) {
  auto histogram = cast<linalg_ext::HistogramOp>(op);
  OpBuilder &b = emitter.builder();
  Location loc = op->getLoc();
  auto inputType = cast<RankedTensorType>(histogram.getInput().getType());
  auto resultType = cast<RankedTensorType>(histogram.getResult().getType());
  Value result = emitter.resultBuffer(histogram.getResult());
  int64_t bins = resultType.getDimSize(0);
  Type stored = cast<MemRefType>(result.getType()).getElementType();

  // No branch in the loop: one more bin of each table is thrown away.
  constexpr int64_t smallTable = 1024, chunkLanes = 16;
  int64_t step = lanesAlong(inputType.getDimSize(0), chunkLanes);
  int64_t tables = bins <= smallTable ? std::min<int64_t>(step, 4) : 1;
  int64_t lanes = emitter.target().vectorBits / stored.getIntOrFloatBitWidth();
  lanes = std::min(lanes, bins & -bins);
  auto vector = VectorType::get({lanes}, stored);
  SmallVector<Value> counts;
  for (int64_t table = 0; table < tables; ++table)
    counts.push_back(emitter.allocate(MemRefType::get({bins + 1}, stored)));
  Value chunk = emitter.allocate(MemRefType::get({step}, b.getI64Type()));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(stored));
  Value zeros = arith::ConstantOp::create(b, loc, b.getZeroAttr(vector));
  Value one = arith::ConstantOp::create(b, loc, b.getIntegerAttr(stored, 1));
  Value thrownAway = arith::ConstantIndexOp::create(b, loc, bins);
  ImplicitLocOpBuilder at(loc, b);
  emitLoop(at, bins, lanes, [&](Value bin) {
    for (Value table : counts)
      vector::StoreOp::create(at, zeros, table, bin);
  });
  for (Value table : counts)
    memref::StoreOp::create(b, loc, zero, table, thrownAway);
  LogicalResult ok = success();
  emitLoop(at, inputType.getDimSize(0), step, [&](Value position) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(at.getInsertionBlock(), at.getInsertionPoint());
    ok = computeBins(emitter, histogram, position, step, bins, chunk);
    for (int64_t lane = 0; lane < step; ++lane) {
      Value number = memref::LoadOp::create(
          b, loc, chunk,
          ValueRange{arith::ConstantIndexOp::create(b, loc, lane)});
      Value bin = arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
      Value table = counts[lane % tables];
      Value count = memref::LoadOp::create(b, loc, table, bin);
      memref::StoreOp::create(b, loc, arith::AddIOp::create(b, loc, count, one),
                              table, bin);
    }
  });
  emitLoop(at, bins, lanes, [&](Value bin) {
    Value sum;
    for (Value table : counts) {
      Value part = vector::LoadOp::create(at, vector, table, bin);
      sum = sum ? arith::AddIOp::create(at, sum, part).getResult() : part;
    }
    vector::StoreOp::create(at, sum, result, bin);
  });
  return ok;
}
