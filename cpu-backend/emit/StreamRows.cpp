//===- StreamRows.cpp - rows that go around the caches ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Rows begin and end anywhere, non-temporal stores are of whole lines. The loop
// over lanes begins at the first line of a row; what is left at the row's ends
// is done in steps of one vector. Of those, whole lines go around the caches as
// well, and no store crosses the begin of one that does: an ordinary store to a
// line that is not in a cache, and all stores behind it, wait for memory. One
// such line a row is left, where a row ends and the next one begins, and is
// asked for a row before.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/NextProgram.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// The first index of lanes from `begin` to `end` where a line begins; `begin`
/// itself where there is nothing to be gained. The outputs that can go around
/// the caches from there on are noted in the frame. Without a `begin` lanes are
/// at multiples of their number.
Value NestEmitter::alignStreams(Value begin, Value end) {
  Value start, mask = constant(lineBytes - 1);
  for (auto [output, isLarge] : large) {
    const View &view = output->view;
    int64_t size = view.elementType().getIntOrFloatBitWidth() / 8;
    Value row = fe.address(view, indices, frame.vecDim, loc);
    Value address =
        memref::ExtractAlignedPointerAsIndexOp::create(b, loc, view.base);
    row = arith::MulIOp::create(b, loc, row, constant(size));
    address = arith::AddIOp::create(b, loc, address, row);
    auto isZero = [&](Value bits) -> Value {
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, bits,
                                   constant(0));
    };
    Value streams = isLarge;
    auto advance = [&](Value index) -> Value {
      return arith::AddIOp::create(
          b, loc, address,
          arith::MulIOp::create(b, loc, index, constant(size)));
    };
    if (!start && begin) {
      address = advance(begin);
      Value toLine = arith::AndIOp::create(
          b, loc, arith::SubIOp::create(b, loc, constant(0), address), mask);
      Value inOrder =
          isZero(arith::AndIOp::create(b, loc, address, constant(size - 1)));
      streams = arith::AndIOp::create(b, loc, streams, inOrder);
      Value shift =
          arith::ShRUIOp::create(b, loc, toLine, constant(llvm::Log2_64(size)));
      shift = arith::AddIOp::create(b, loc, shift, begin);
      shift = arith::MinSIOp::create(b, loc, shift, end);
      shift = arith::MaxSIOp::create(b, loc, shift, begin);
      start = arith::SelectOp::create(b, loc, streams, shift, begin);
    } else {
      Value at = start ? advance(start) : address;
      streams = arith::AndIOp::create(
          b, loc, streams, isZero(arith::AndIOp::create(b, loc, at, mask)));
    }
    frame.streams[&view] = streams;
  }
  return start;
}

/// How many elements behind a row the next one begins that the thread stores:
/// of the block, of the loop's next iteration, or of the next program; 0 where
/// that is not known.
OpFoldResult NestEmitter::toNextRow(const View &view) {
  for (int64_t d = nest.shape.size() - 1; d >= 0; --d)
    if (nest.shape[d] > 1 && d != frame.vecDim)
      return view.strides[d];
  if (scf::ForOp around = loopAround(b))
    if (auto growth = growthOf(view, around))
      return *growth;
  if (auto offset = dyn_cast<Value>(view.placed().offset))
    if (NextProgram next(fe, loc, offset); next)
      return next.growth();
  return b.getIndexAttr(0);
}

/// Asks for the line that a row of the next program, or of the block, ends in
/// (`end`: the row here), where that is a part of one: its store would wait for
/// the line, and all others behind it. A row before, it is there in time.
void NestEmitter::claimRowEnds(Value end) {
  for (auto [output, isLarge] : large) {
    const View &view = output->view;
    OpFoldResult ahead = toNextRow(view);
    int64_t size = view.elementType().getIntOrFloatBitWidth() / 8;
    Value row = fe.address(view, indices, frame.vecDim, loc);
    Value behind = arith::AddIOp::create(b, loc, row, end);
    Value address =
        memref::ExtractAlignedPointerAsIndexOp::create(b, loc, view.base);
    address = arith::AddIOp::create(
        b, loc, address, arith::MulIOp::create(b, loc, behind, constant(size)));
    Value isPart = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::ne,
        arith::AndIOp::create(b, loc, address, constant(lineBytes - 1)),
        constant(0));
    auto branch = scf::IfOp::create(
        b, loc, arith::AndIOp::create(b, loc, isLarge, isPart), false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    Value last = toValue(
        b, loc,
        addIndex(b, loc, subIndex(b, loc, behind, b.getIndexAttr(1)), ahead));
    memref::PrefetchOp::create(b, loc, view.base, last, /*isWrite=*/true,
                               hintOf(NearestCache::First),
                               /*isDataCache=*/true);
  }
}

/// The loop along the lanes from the first line inside of all boxes on, then
/// one loop over the masked steps at both ends.
LogicalResult NestEmitter::emitShiftedLanes(unsigned position,
                                            ArrayRef<OpFoldResult> lows,
                                            ArrayRef<Value> limits) {
  int64_t lanes = frame.lanes;
  auto [first, last] = ranges[frame.vecDim];
  Value begin = toValue(b, loc, first);
  Value end = toValue(b, loc, last);
  Value inside = begin;
  for (OpFoldResult low : lows)
    if (low != first)
      inside = arith::MaxSIOp::create(b, loc, inside, toValue(b, loc, low));
  inside = arith::MinSIOp::create(b, loc, inside, end);
  Value start = alignStreams(inside, end);
  Value limit = leastOf(end, limits);
  // Where a row ends before its first line does, nothing is left.
  Value length = arith::MaxSIOp::create(
      b, loc, arith::SubIOp::create(b, loc, limit, start), constant(0));
  auto endOfAll = [&](int64_t elements) -> Value {
    return arith::AddIOp::create(
        b, loc, start,
        arith::AndIOp::create(b, loc, length, constant(-elements)));
  };
  Value stop = endOfAll(lanes);
  claimRowEnds(limit);
  if (failed(loop(start, stop, lanes, [&](Value iv, unsigned level) {
        return emitLanesAt(position, iv, level, /*interior=*/true);
      })))
    return failure();

  frame.lanes = edgeLanes;
  Value step = constant(edgeLanes);
  Value before = arith::CeilDivSIOp::create(
      b, loc, arith::SubIOp::create(b, loc, start, begin), step);
  Value rest = arith::MaxSIOp::create(
      b, loc, arith::SubIOp::create(b, loc, end, stop), constant(0));
  Value after = arith::CeilDivSIOp::create(b, loc, rest, step);
  Value count = arith::AddIOp::create(b, loc, before, after);
  // Lines that are left whole go around the caches as well: an ordinary store
  // waits for its line, and all others behind it.
  int64_t inLine = edgeLanes;
  for (auto [output, isLarge] : large)
    inLine = std::max(inLine,
                      8 * lineBytes /
                          output->view.elementType().getIntOrFloatBitWidth());
  Value wholeEnd = endOfAll(inLine);
  auto streams = frame.streams;
  LogicalResult result =
      loop(constant(0), count, 1, [&](Value iv, unsigned level) {
        // Vectors before the first line end where that begins: a store across
        // its begin would touch the line, masked or not, and two of a row
        // made a row of 1.5 KiB take three times as long on a Zen 4.
        Value isBefore = arith::CmpIOp::create(
            b, loc, arith::CmpIPredicate::slt, iv, before);
        Value from = arith::SelectOp::create(b, loc, isBefore, start, stop);
        Value number = arith::SubIOp::create(b, loc, iv, before);
        Value at = arith::AddIOp::create(
            b, loc, from, arith::MulIOp::create(b, loc, number, step));
        auto maskType = VectorType::get({edgeLanes}, b.getI1Type());
        auto lanesBelow = [&](Value bound) -> Value {
          return vector::CreateMaskOp::create(
              b, loc, maskType,
              ValueRange{arith::SubIOp::create(b, loc, bound, at)});
        };
        Value isTooLow = lanesBelow(begin);
        frame.edgeMask = arith::AndIOp::create(
            b, loc, lanesBelow(end),
            arith::XOrIOp::create(b, loc, isTooLow,
                                  allLanes(b, loc, edgeLanes)));
        Value behind = arith::AddIOp::create(b, loc, at, step);
        Value isWhole = arith::AndIOp::create(
            b, loc,
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, iv,
                                  before),
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, behind,
                                  wholeEnd));
        for (auto [output, isLarge] : large)
          frame.streams[&output->view] = arith::AndIOp::create(
              b, loc, isWhole, streams.lookup(&output->view));
        LogicalResult result =
            emitLanesAt(position, at, level, /*interior=*/false);
        frame.edgeMask = {};
        return result;
      });
  frame.streams.clear();
  frame.lanes = lanes;
  return result;
}
