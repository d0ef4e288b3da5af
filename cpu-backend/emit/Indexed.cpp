//===- Indexed.cpp - linalg_ext.histogram and linalg_ext.gather_along -----===//
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

/// An unsigned number as an index that is at most `bound`.
static Value clampedIndex(OpBuilder &b, Location loc, Value number,
                          int64_t bound) {
  Type i64 = b.getI64Type();
  if (number.getType() != i64)
    number = arith::ExtUIOp::create(b, loc, i64, number);
  Value limit = arith::ConstantIntOp::create(b, loc, i64, bound);
  return arith::IndexCastOp::create(
      b, loc, b.getIndexType(), arith::MinUIOp::create(b, loc, number, limit));
}

LogicalResult tilebridge::cpu::emitHistogram(Emitter &emitter, Operation *op) {
  auto histogram = cast<linalg_ext::HistogramOp>(op);
  OpBuilder &b = emitter.builder();
  Location loc = op->getLoc();
  auto inputType = cast<RankedTensorType>(histogram.getInput().getType());
  auto resultType = cast<RankedTensorType>(histogram.getResult().getType());
  Value input = emitter.bufferOf(histogram.getInput());
  Value mask =
      histogram.getMask() ? emitter.bufferOf(histogram.getMask()) : Value();
  if (!input || (histogram.getMask() && !mask))
    return failure();
  Value result = emitter.resultBuffer(histogram.getResult());
  int64_t bins = resultType.getDimSize(0);
  Type stored = cast<MemRefType>(result.getType()).getElementType();

  // One more bin, which is thrown away, takes what is masked off and what is
  // out of range: no branch in the loop.
  int64_t lanes = emitter.target().vectorBits / stored.getIntOrFloatBitWidth();
  lanes = std::min(lanes, bins & -bins);
  auto vector = VectorType::get({lanes}, stored);
  Value counts = emitter.allocate(MemRefType::get({bins + 1}, stored));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(stored));
  Value zeros = arith::ConstantOp::create(b, loc, b.getZeroAttr(vector));
  Value one = arith::ConstantOp::create(b, loc, b.getIntegerAttr(stored, 1));
  Value thrownAway = arith::ConstantIndexOp::create(b, loc, bins);
  ImplicitLocOpBuilder at(loc, b);
  emitLoop(at, bins, lanes,
           [&](Value bin) { vector::StoreOp::create(at, zeros, counts, bin); });
  memref::StoreOp::create(b, loc, zero, counts, thrownAway);
  LogicalResult ok = forEachElement(
      emitter, loc, inputType.getShape(), [&](Position position) {
        Value number =
            loadElements(b, loc, input, position, inputType.getElementType());
        Value bin = clampedIndex(b, loc, number, bins);
        if (mask) {
          Value isCounted = loadElements(b, loc, mask, position, b.getI1Type());
          bin = arith::SelectOp::create(b, loc, isCounted, bin, thrownAway);
        }
        Value count = memref::LoadOp::create(b, loc, counts, bin);
        memref::StoreOp::create(
            b, loc, arith::AddIOp::create(b, loc, count, one), counts, bin);
        return success();
      });
  emitLoop(at, bins, lanes, [&](Value bin) {
    vector::StoreOp::create(at, vector::LoadOp::create(at, vector, counts, bin),
                            result, bin);
  });
  return ok;
}

LogicalResult tilebridge::cpu::emitGatherAlong(Emitter &emitter,
                                               Operation *op) {
  auto gather = cast<linalg_ext::GatherAlongOp>(op);
  OpBuilder &b = emitter.builder();
  Location loc = op->getLoc();
  auto sourceType = cast<RankedTensorType>(gather.getSource().getType());
  auto indexType = cast<RankedTensorType>(gather.getIndices().getType());
  Value source = emitter.bufferOf(gather.getSource()),
        indices = emitter.bufferOf(gather.getIndices());
  if (!source || !indices)
    return failure();
  Value result = emitter.resultBuffer(gather.getResult());
  unsigned dim = gather.getDimension();
  return forEachElement(emitter, loc, indexType.getShape(), [&](Position at) {
    Value number =
        loadElements(b, loc, indices, at, indexType.getElementType());
    SmallVector<Value> from(at);
    from[dim] = clampedIndex(b, loc, number, sourceType.getDimSize(dim) - 1);
    memref::StoreOp::create(
        b, loc, memref::LoadOp::create(b, loc, source, from), result, at);
    return success();
  });
}
