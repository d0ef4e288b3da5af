//===- Nest.cpp - one nest of loops over vectors -----------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Loops run over the dimensions of a nest, those that are reduced inside of the
// others. One dimension has lanes. Its loop is up to three loops, of which the
// middle one is inside of every box and has no masks. Every index of that loop
// is a multiple of the lanes, which divide the dimension: no vector reaches
// beyond a tensor's end.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/NestEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilebridge::cpu;

LogicalResult FunctionEmitter::emitNest(Nest &nest) {
  LoadedViews flat = flattenRows(nest);
  if (flat.empty())
    flat = NestEmitter::exchangeRows(*this, nest);
  return NestEmitter(*this, nest).run(std::move(flat));
}

LogicalResult NestEmitter::run(LoadedViews flat) {
  LoadedViews outer = std::exchange(fe.staged, std::move(flat));
  auto forget = llvm::scope_exit([&] { fe.staged = std::move(outer); });
  frame.open(b);
  choose();
  if (squares)
    takeSquares();
  if (rowsAreFar && !isVersion)
    return emitBothOrders();
  findRanges();
  indices = ownIndices(nest.shape.size());
  if (auto found = part ? std::nullopt : findSquares())
    return emitInSquares(*found);
  if (Value whole = findWhole())
    return emitWholeOrNot(whole);
  report();
  size_t seen = fe.staged.size();
  if (squares)
    prepareSquares();
  else if (failed(stageCrossings()))
    return failure();
  fe.onlyStreams &= fe.staged.size() == seen;
  restrictToBox();
  findStreams();
  findPrefetches();
  findClaims();
  Frame *outerFrame = std::exchange(fe.frame, &frame);
  LogicalResult result = emitLoops(0);
  fe.frame = outerFrame;
  if (succeeded(result))
    clearUnwanted();
  return result;
}

LogicalResult
NestEmitter::loop(Value from, Value to, int64_t step,
                  function_ref<LogicalResult(Value, unsigned)> body) {
  Value stepValue = constant(step);
  auto forOp = scf::ForOp::create(b, loc, from, to, stepValue, accumulators);
  Level &outside = *frame.levels.back();
  if (!outside.hasLoop)
    outside.before = forOp;
  outside.hasLoop = true;
  auto inside = std::make_unique<Level>();
  inside->block = forOp.getBody();
  frame.levels.push_back(std::move(inside));
  accumulators.assign(forOp.getRegionIterArgs().begin(),
                      forOp.getRegionIterArgs().end());
  fe.moveTo(frame.levels.size() - 1);
  if (failed(body(forOp.getInductionVar(), frame.levels.size() - 1)))
    return failure();
  if (!accumulators.empty())
    scf::YieldOp::create(b, loc, accumulators);
  frame.levels.pop_back();
  accumulators.assign(forOp.getResults().begin(), forOp.getResults().end());
  b.setInsertionPointAfter(forOp);
  return success();
}

LogicalResult NestEmitter::emitLoops(unsigned position) {
  if (position == firstReduced && !nest.reduceDims.empty() && !reducing) {
    reducing = true;
    bool seeded = startReductions();
    LogicalResult result = failure();
    if (!failedToStart)
      result = seeded ? emitLoops(position) : emitSeededLoop(position);
    reducing = false;
    if (failed(result))
      return failure();
    return finishReductions();
  }
  if (position == order.size())
    return emitBody();
  unsigned d = order[position];
  if (static_cast<int>(d) == frame.vecDim) {
    startScans();
    LogicalResult result = emitLanesLoop(position, 0);
    if (!scans.empty())
      accumulators.clear();
    return result;
  }
  bool isInGroup = groupSize > 1 && d + 1 == nest.shape.size();
  if (isInGroup || (nest.shape[d] == 1 && !restricted.count(d))) {
    indices[d] = {outermostZero(), 0, 0, static_cast<int>(d)};
    return emitLoops(position + 1);
  }
  if (!rowsAtOnce.empty() && d == rowsDim)
    return emitRowsAtOnce(position);
  if (int64_t rows = rowsInStep(position); rows > 1)
    return emitRowsInSteps(position, rows);
  return emitPlainLoop(position, ranges[d].first);
}

LogicalResult NestEmitter::emitPlainLoop(unsigned position, OpFoldResult from) {
  unsigned d = order[position];
  Value lower = toValue(b, loc, from),
        upper = toValue(b, loc, ranges[d].second);
  if (Value end = endOfRows(d))
    upper = arith::MinSIOp::create(b, loc, upper, end);
  return loop(lower, upper, 1, [&](Value iv, unsigned level) {
    indices[d] = {iv, 0, level, static_cast<int>(d)};
    LogicalResult result = emitLoops(position + 1);
    indices[d] = {Value(), 0, 0, static_cast<int>(d)};
    return result;
  });
}

/// What decides where lanes are inside of every box, of one row.
void NestEmitter::collectRowBounds(SmallVectorImpl<OpFoldResult> &lows,
                                   SmallVectorImpl<Value> &limits) {
  unsigned inner = frame.levels.size();
  auto collect = [&](const View &view, ArrayRef<Index> viewAt, bool) {
    if (view.isWhole())
      return;
    for (auto [d, index] : llvm::enumerate(viewAt)) {
      // Of elements that are there several times, each has so many lanes.
      bool isSpread = index.isSpread && index.groupDim == frame.vecDim;
      if ((!isSpread && (index.dim != frame.vecDim || index.step != 1)) ||
          static_cast<int>(d) == view.rowDim)
        continue;
      OpFoldResult group = b.getIndexAttr(isSpread ? index.group : 1);
      auto low = constantOf(view.lo[d]);
      if (!low || *low > 0)
        if (OpFoldResult from = mulIndex(b, loc, view.lo[d], group);
            !llvm::is_contained(lows, from))
          lows.push_back(from);
      if (auto high = dyn_cast<Value>(view.hi[d]); high && !isSpread)
        if (!llvm::is_contained(frame.bounds, high))
          frame.bounds.push_back(high);
      Value limit = fe.rowLimit(view, viewAt, d, loc);
      limit = toValue(b, loc, mulIndex(b, loc, limit, group));
      if (!llvm::is_contained(limits, limit))
        limits.push_back(limit);
    }
  };
  Indices at = indices;
  at[frame.vecDim] = {Value(), 1, inner, frame.vecDim};
  forEachAccess(at, &b, collect);
}

void NestEmitter::collectBounds(SmallVectorImpl<OpFoldResult> &lows,
                                SmallVectorImpl<Value> &limits) {
  auto collectHere = [&] {
    collectRowBounds(lows, limits);
    return success();
  };
  // Of a square all columns are inside.
  (void)(squares ? collectHere() : forRowsAtOnce(collectHere));
}

/// The loop along which lanes run, from `first` on: masked before, then not,
/// then masked again. What is masked hardly matters and is not unrolled, but
/// where accumulators fix the number of lanes.
LogicalResult NestEmitter::emitLanesLoop(unsigned position, int64_t first) {
  unsigned d = frame.vecDim;
  int64_t lanes = frame.lanes;
  SmallVector<OpFoldResult> lows;
  SmallVector<Value> limits;
  collectBounds(lows, limits);
  auto segment = [&](Value from, Value to, bool interior) -> LogicalResult {
    if (interior && !pieceReads.empty()) {
      auto rest = emitTables(position, from, to);
      if (failed(rest))
        return failure();
      from = *rest;
      auto isDone = emitPieces(position, from, to);
      if (failed(isDone) || *isDone)
        return LogicalResult(isDone);
    }
    frame.lanes = interior ? lanes : edgeLanes;
    auto restore = llvm::scope_exit([&] { frame.lanes = lanes; });
    return loop(from, to, frame.lanes, [&](Value iv, unsigned level) {
      return emitLanesAt(position, iv, level, interior);
    });
  };
  bool isOnce = limits.empty() && lows.empty() && lanes == nest.shape[d];
  if (!pieceReads.empty())
    mayShift = false;
  if (!large.empty() && mayShift && !isOnce)
    return emitShiftedLanes(position, lows, limits);
  if (!large.empty())
    (void)alignStreams({}, {});
  auto stopStreams = llvm::scope_exit([&] { frame.streams.clear(); });
  // They are inside of every box.
  if (squares)
    return segment(constant(0), toValue(b, loc, ranges[d].second), true);
  if (limits.empty() && lows.empty()) {
    if (auto end = dyn_cast<Value>(ranges[d].second))
      return segment(constant(first), end, true);
    if (first + lanes == nest.shape[d])
      return emitOnce(position, first, /*interior=*/true);
    return first == nest.shape[d]
               ? success()
               : segment(constant(first), constant(nest.shape[d]), true);
  }
  auto round = [&](Value value, int64_t up) -> Value {
    if (up)
      value = arith::AddIOp::create(b, loc, value, constant(up));
    return lanes == 1 ? value
                      : arith::AndIOp::create(b, loc, value, constant(-lanes))
                            .getResult();
  };
  // Elsewhere lanes of two iterations would overlap: in place, twice changed.
  auto known = constantOf(ranges[d].first);
  Value begin = known ? constant(*known & -lanes)
                      : round(toValue(b, loc, ranges[d].first), 0);
  if (first != 0)
    begin = constant(first);
  Value end = toValue(b, loc, ranges[d].second);
  if (nest.isCold)
    return segment(begin, end, false);
  Value limit = leastOf(end, limits);
  Value mainBegin = begin;
  if (!lows.empty()) {
    for (OpFoldResult low : lows)
      mainBegin =
          arith::MaxSIOp::create(b, loc, mainBegin, toValue(b, loc, low));
    mainBegin =
        round(arith::MinSIOp::create(b, loc, mainBegin, end), lanes - 1);
    mainBegin = arith::MaxSIOp::create(b, loc, mainBegin, begin);
    if (failed(segment(begin, mainBegin, false)))
      return failure();
  }
  // Rounding down only after the start is known keeps an empty interior empty.
  Value mainEnd = arith::MaxSIOp::create(b, loc, round(limit, 0), mainBegin);
  if (failed(segment(mainBegin, mainEnd, true)))
    return failure();
  // Vectors of nothing but zeros need not be added. But one zero is: with it
  // a sum of nothing but -0.0 is 0.0, as a maximum of nothing but NaN is what
  // was given for elements behind the row's end.
  if (Value from = neutralFromHere()) {
    from = arith::MaxSIOp::create(b, loc, from, mainEnd);
    from = arith::AddIOp::create(b, loc, from, constant(1));
    end = arith::MinSIOp::create(b, loc, end, from);
  }
  return segment(mainEnd, end, false);
}

/// The lanes from `at` on, of a loop at `level` or of none.
LogicalResult NestEmitter::emitLanesAt(unsigned position, Value at,
                                       unsigned level, bool interior) {
  frame.interior = interior;
  frame.vecLevel = level;
  indices[frame.vecDim] = {at, 1, level, frame.vecDim};
  LogicalResult result = emitLoops(position + 1);
  indices[frame.vecDim] = {Value(), 0, 0, frame.vecDim};
  frame.interior = false;
  return result;
}

/// The lanes at one constant place.
LogicalResult NestEmitter::emitOnce(unsigned position, int64_t at,
                                    bool interior) {
  return emitLanesAt(position, constant(at), frame.levels.size() - 1, interior);
}

LogicalResult NestEmitter::emitBody() {
  if (squares)
    return emitSquare();
  if (groupSize > 1)
    return emitGroups();
  if (!scans.empty())
    openScans();
  SmallVector<Stored> values;
  if (failed(evaluateOutputs(values)) || failed(accumulate()))
    return failure();
  if (!scans.empty())
    closeScans();
  return storeOutputs(values);
}

/// The lanes of each group in another order.
Value NestEmitter::exchanged(Value lanes) {
  auto group = static_cast<int64_t>(nest.places.size());
  SmallVector<int64_t> from;
  for (int64_t lane = 0; lane < frame.lanes; ++lane)
    from.push_back(lane / group * group + nest.places[lane % group]);
  return vector::ShuffleOp::create(b, loc, lanes, lanes, from);
}

/// One entry for each output; that of a reduction is empty.
LogicalResult NestEmitter::evaluateOutputs(SmallVectorImpl<Stored> &values) {
  for (NestOutput &output : nest.outputs) {
    if (output.reduce) {
      values.push_back({});
      continue;
    }
    Value value = output.source ? fe.read(*output.source, indices, loc)
                                : fe.evaluate(output.tensor, indices);
    Value mask;
    if (output.maskSource)
      mask = fe.read(*output.maskSource, indices, loc);
    else if (output.mask)
      mask = fe.evaluate(output.mask, indices);
    if (!value || (output.mask && !mask))
      return failure();
    if (!nest.places.empty())
      value = exchanged(fe.toLanes(value, frame.lanes));
    values.push_back({value, mask});
  }
  return success();
}

/// All values have been computed before: an output may lie where another one's
/// operand does.
LogicalResult NestEmitter::storeOutputs(ArrayRef<Stored> values) {
  for (unsigned i = 0; i < nest.outputs.size(); ++i) {
    NestOutput &output = nest.outputs[i];
    if (output.reduce)
      continue;
    if (SmallVector<unsigned> joined = outputsToJoin(i); !joined.empty()) {
      writeJoined(joined, values);
      i += joined.size() - 1;
    } else if (failed(fe.write(output.view, indices, values[i].value, loc,
                               values[i].mask)))
      return failure();
  }
  return success();
}

/// `end`, or the least of the limits where one lies before it.
Value NestEmitter::leastOf(Value end, ArrayRef<Value> limits) {
  Value least = end;
  for (Value limit : limits)
    if (limit != end)
      least = arith::MinSIOp::create(b, loc, least, limit);
  return least;
}

/// Before all loops, so that what is at this index only may be, too.
Value NestEmitter::outermostZero() {
  OpBuilder::InsertionGuard guard(b);
  fe.moveTo(0);
  return constant(0);
}

Value NestEmitter::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}
