//===- Nest.cpp - one nest of loops over vectors -----------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Loops run over the dimensions of a nest, those that are reduced inside of the
// others. One dimension has lanes: the one along which most accesses are
// contiguous. Its loop is up to three loops, of which the middle one is inside
// of every box and has no masks. Every index of that loop is a multiple of the
// lanes, which divide the dimension: no vector reaches beyond a tensor's end.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/NestEmitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilebridge::cpu;

LogicalResult FunctionEmitter::emitNest(Nest &nest) {
  return NestEmitter(*this, nest).run();
}

/// Everything that the nest reads or writes in memory, at the indices given by
/// dimension.
void NestEmitter::forEachAccess(
    ArrayRef<Index> indices, OpBuilder *builder,
    function_ref<void(const View &, ArrayRef<Index>, bool)> use) {
  DenseMap<Value, SmallVector<Indices, 1>> seen;
  auto visit = [&](Value value, ArrayRef<Index> at) {
    for (const Indices &other : seen[value])
      if (other == Indices(at))
        return false;
    seen[value].push_back(Indices(at));
    noteValue(value);
    if (const View *view = fe.viewIfInMemory(value))
      use(*view, at, false);
    else if (auto it = fe.irregular.find(value);
             it != fe.irregular.end() && it->second->shape.size() == at.size())
      use(*it->second, at, false);
    return true;
  };
  for (NestOutput &output : nest.outputs) {
    if (!output.reduce) {
      use(output.view, indices, true);
      if (output.source) {
        use(*output.source, indices, false);
        continue;
      }
      fe.walkCone(output.tensor, indices, builder, visit);
      if (output.mask)
        fe.walkCone(output.mask, indices, builder, visit);
      continue;
    }
    for (Value input : reduceInputs(output.reduce))
      fe.walkCone(input, indices, builder, visit);
  }
}

void NestEmitter::noteValue(Value value) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  if (element.isIntOrFloat())
    widest = std::max<int64_t>(widest, element.getIntOrFloatBitWidth());
  Operation *op = value.getDefiningOp();
  if (!op || fe.viewIfInMemory(value))
    bodyCost += 1;
  else if (FunctionEmitter::isIrregularLoad(op))
    bodyCost += 20;
  else if (isElementwise(op))
    bodyCost += costOfBody(op);
}

void NestEmitter::choose() {
  unsigned rank = nest.shape.size();
  SmallVector<int64_t> score(rank, 0);
  Indices symbolic;
  for (unsigned d = 0; d < rank; ++d)
    symbolic.push_back({Value(), 0, 0, static_cast<int>(d)});
  forEachAccess(symbolic, nullptr,
                [&](const View &view, ArrayRef<Index> at, bool isWrite) {
                  for (auto [d, index] : llvm::enumerate(at)) {
                    if (index.dim < 0 || view.shape[d] == 1)
                      continue;
                    auto stride = constantOf(view.strides[d]);
                    bool maybe = !stride && d + 1 == at.size();
                    if (stride == 1)
                      score[index.dim] += isWrite ? 5 : 4;
                    else if (maybe)
                      score[index.dim] += 3;
                  }
                });
  int64_t best = -1;
  for (unsigned d = 0; d < rank; ++d)
    if (nest.shape[d] > 1 && score[d] >= best) {
      best = score[d];
      frame.vecDim = d;
    }
  if (frame.vecDim < 0 && rank > 0)
    frame.vecDim = rank - 1;

  if (rank > 0) {
    int64_t unroll = nest.isCold      ? 1
                     : bodyCost <= 8  ? 4
                     : bodyCost <= 20 ? 2
                                      : 1;
    int64_t lanes = std::max<int64_t>(fe.target().vectorBits / widest, 1);
    lanes = std::min<int64_t>(lanes * unroll, std::max<int64_t>(lanes, 64));
    int64_t size = nest.shape[frame.vecDim];
    frame.lanes = std::min(lanes, size & -size);
  }
  auto isReduced = [&](int64_t d) {
    return llvm::is_contained(nest.reduceDims, d);
  };
  vecReduced = isReduced(frame.vecDim);
  for (unsigned d = 0; d < rank; ++d)
    if (!isReduced(d) && static_cast<int>(d) != frame.vecDim)
      order.push_back(d);
  if (rank > 0 && !vecReduced)
    order.push_back(frame.vecDim);
  firstReduced = order.size();
  for (unsigned d = 0; d < rank; ++d)
    if (isReduced(d) && static_cast<int>(d) != frame.vecDim)
      order.push_back(d);
  if (vecReduced)
    order.push_back(frame.vecDim);
}

/// Where every output is stored to one and the same box, the loops only run
/// over that.
void NestEmitter::restrictToBox() {
  unsigned rank = nest.shape.size();
  ranges.assign(rank, {});
  for (unsigned d = 0; d < rank; ++d) {
    ranges[d] = {fe.builder().getIndexAttr(0),
                 fe.builder().getIndexAttr(nest.shape[d])};
    bool same = llvm::all_of(nest.outputs, [&](const NestOutput &output) {
      const View &first = nest.outputs.front().view;
      return !output.reduce && output.isStore &&
             output.view.lo[d] == first.lo[d] &&
             output.view.hi[d] == first.hi[d] && !output.view.isFull(d);
    });
    if (!same)
      continue;
    ranges[d] = {nest.outputs.front().view.lo[d],
                 nest.outputs.front().view.hi[d]};
    restricted.insert(d);
    if (static_cast<int>(d) == frame.vecDim)
      continue;
    for (NestOutput &output : nest.outputs) {
      output.view.lo[d] = fe.builder().getIndexAttr(0);
      output.view.hi[d] = fe.builder().getIndexAttr(nest.shape[d]);
    }
  }
}

LogicalResult NestEmitter::run() {
  auto outermost = std::make_unique<Level>();
  outermost->block = b.getInsertionBlock();
  if (b.getInsertionPoint() != outermost->block->end())
    outermost->before = &*b.getInsertionPoint();
  frame.levels.push_back(std::move(outermost));
  choose();
  restrictToBox();
  indices.assign(nest.shape.size(), Index());
  for (auto [d, index] : llvm::enumerate(indices))
    index.dim = d;
  Frame *outer = std::exchange(fe.frame, &frame);
  LogicalResult result = emitLoops(0);
  fe.frame = outer;
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
  if (static_cast<int>(d) == frame.vecDim)
    return emitLanesLoop(position, 0);
  if (nest.shape[d] == 1 && !restricted.count(d)) {
    indices[d] = {outermostZero(), 0, 0, static_cast<int>(d)};
    return emitLoops(position + 1);
  }
  return emitPlainLoop(position, ranges[d].first);
}

LogicalResult NestEmitter::emitPlainLoop(unsigned position, OpFoldResult from) {
  unsigned d = order[position];
  Value lower = toValue(b, loc, from);
  return loop(lower, toValue(b, loc, ranges[d].second), 1,
              [&](Value iv, unsigned level) {
                indices[d] = {iv, 0, level, static_cast<int>(d)};
                LogicalResult result = emitLoops(position + 1);
                indices[d] = {Value(), 0, 0, static_cast<int>(d)};
                return result;
              });
}

/// What decides where lanes are inside of every box.
void NestEmitter::collectBounds(SmallVectorImpl<OpFoldResult> &lows,
                                SmallVectorImpl<Value> &limits) {
  unsigned inner = frame.levels.size();
  Indices at = indices;
  at[frame.vecDim] = {Value(), 1, inner, frame.vecDim};
  forEachAccess(at, &b, [&](const View &view, ArrayRef<Index> viewAt, bool) {
    bool anyBox = false;
    for (unsigned d = 0; d < viewAt.size(); ++d)
      anyBox |= !view.isFull(d);
    if (!anyBox)
      return;
    for (auto [d, index] : llvm::enumerate(viewAt)) {
      if (index.dim != frame.vecDim || index.step != 1)
        continue;
      auto low = constantOf(view.lo[d]);
      if ((!low || *low > 0) && !llvm::is_contained(lows, view.lo[d]))
        lows.push_back(view.lo[d]);
      Value limit = fe.rowLimit(view, viewAt, d, loc);
      if (!llvm::is_contained(limits, limit))
        limits.push_back(limit);
    }
  });
}

/// The loop along which lanes run, from `first` on: masked before, then not,
/// then masked again.
LogicalResult NestEmitter::emitLanesLoop(unsigned position, int64_t first) {
  unsigned d = frame.vecDim;
  int64_t lanes = frame.lanes;
  SmallVector<OpFoldResult> lows;
  SmallVector<Value> limits;
  collectBounds(lows, limits);
  auto segment = [&](Value from, Value to, bool interior) {
    return loop(from, to, lanes, [&](Value iv, unsigned level) {
      frame.interior = interior;
      frame.vecLevel = level;
      indices[d] = {iv, 1, level, static_cast<int>(d)};
      LogicalResult result = emitLoops(position + 1);
      indices[d] = {Value(), 0, 0, static_cast<int>(d)};
      frame.interior = false;
      return result;
    });
  };
  if (limits.empty() && lows.empty()) {
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
  Value begin = toValue(b, loc, ranges[d].first);
  if (!constantOf(ranges[d].first))
    begin = round(begin, 0);
  if (first != 0)
    begin = constant(first);
  Value end = toValue(b, loc, ranges[d].second);
  if (nest.isCold)
    return segment(begin, end, false);
  Value limit = end;
  for (Value other : limits)
    if (other != end)
      limit = arith::MinSIOp::create(b, loc, limit, other);
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
  return segment(mainEnd, end, false);
}

/// The body at one constant place along the lanes.
LogicalResult NestEmitter::emitOnce(unsigned position, int64_t at,
                                    bool interior) {
  unsigned level = frame.levels.size() - 1;
  frame.interior = interior;
  frame.vecLevel = level;
  indices[frame.vecDim] = {constant(at), 1, level, frame.vecDim};
  LogicalResult result = emitLoops(position + 1);
  indices[frame.vecDim] = {Value(), 0, 0, frame.vecDim};
  frame.interior = false;
  return result;
}

/// All values first, then all stores: an output may lie where another one's
/// operand does.
LogicalResult NestEmitter::emitBody() {
  SmallVector<Value> values, masks;
  for (NestOutput &output : nest.outputs) {
    Value value;
    if (!output.reduce) {
      value = output.source ? fe.read(*output.source, indices, loc)
                            : fe.evaluate(output.tensor, indices);
      Value mask = output.mask ? fe.evaluate(output.mask, indices) : Value();
      if (!value || (output.mask && !mask))
        return failure();
      masks.push_back(mask);
    } else {
      masks.push_back({});
    }
    values.push_back(value);
  }
  if (failed(accumulate()))
    return failure();
  for (auto [output, value, mask] :
       llvm::zip_equal(nest.outputs, values, masks))
    if (!output.reduce &&
        failed(fe.write(output.view, indices, value, loc, mask)))
      return failure();
  return success();
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
