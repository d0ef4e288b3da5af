//===- Reduce.cpp - reductions inside of a nest ------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Accumulators are vectors carried by the reduced loops. Where the lanes run
// along a reduced dimension, each lane reduces its share and a tree of halves
// follows.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/NestEmitter.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

ValueRange tilebridge::cpu::reduceInputs(Operation *op) {
  if (auto reduce = dyn_cast<linalg::ReduceOp>(op))
    return reduce.getInputs();
  return cast<linalg_ext::ReduceOp>(op).getInputs();
}

SmallVector<int64_t> tilebridge::cpu::reduceDimensions(Operation *op) {
  if (auto reduce = dyn_cast<linalg::ReduceOp>(op))
    return SmallVector<int64_t>(reduce.getDimensions());
  return {static_cast<int64_t>(cast<linalg_ext::ReduceOp>(op).getDimension())};
}

static Indices withoutReduced(ArrayRef<Index> indices,
                              ArrayRef<int64_t> reduced) {
  Indices result;
  for (auto [d, index] : llvm::enumerate(indices))
    if (!llvm::is_contained(reduced, static_cast<int64_t>(d)))
      result.push_back(index);
  return result;
}

bool NestEmitter::startReductions() {
  accumulators.clear();
  bool seeded = true;
  for (NestOutput &output : nest.outputs)
    seeded &= !isa_and_nonnull<linalg_ext::ReduceOp>(output.reduce);
  if (!seeded)
    return false;
  LogicalResult started = forRowsAtOnce([&] {
    Indices at = withoutReduced(indices, nest.reduceDims);
    for (NestOutput &output : nest.outputs) {
      auto reduce = dyn_cast_or_null<linalg::ReduceOp>(output.reduce);
      if (!reduce)
        continue;
      for (Value init : reduce.getInits()) {
        Value value = fe.evaluate(init, at);
        if (!value)
          return failure();
        accumulators.push_back(fe.toLanes(value, frame.lanes));
      }
    }
    return success();
  });
  failedToStart |= failed(started);
  return true;
}

/// The first elements are the accumulators' values; the loop starts behind
/// them. (An initial value is an identity: a reduction that has one may start
/// in the same way.)
LogicalResult NestEmitter::emitSeededLoop(unsigned position) {
  // Dimensions of one element, and at most one other.
  for (; position < order.size(); ++position) {
    unsigned d = order[position];
    if (static_cast<int>(d) == frame.vecDim)
      break;
    if (nest.shape[d] != 1)
      break;
    indices[d] = {outermostZero(), 0, 0, static_cast<int>(d)};
  }
  if (position == order.size())
    return emitBody();
  if (position + 1 < order.size())
    return emitError(
        loc, "a reduction without an initial value along several dimensions is "
             "not supported");
  unsigned d = order[position];
  if (static_cast<int>(d) == frame.vecDim)
    return emitSeededLanes(position);
  unsigned level = frame.levels.size() - 1;
  indices[d] = {constant(0), 0, level, static_cast<int>(d), /*isInner=*/true};
  LogicalResult first = emitLoops(position + 1);
  indices[d] = {Value(), 0, 0, static_cast<int>(d)};
  if (failed(first))
    return failure();
  return emitPlainLoop(position, b.getIndexAttr(1));
}

/// Lanes that are not masked may have one number in all of them, such as how
/// many elements each has seen; where that is divided by, it pays to know.
bool NestEmitter::dividesWhatMayBeUniform() {
  return !nest.isCold && llvm::all_of(nest.outputs, [&](NestOutput &output) {
    return isa_and_nonnull<linalg_ext::ReduceOp>(output.reduce) &&
           output.reduce->getNumResults() > 1 &&
           lanesOf(output.reduce) == frame.lanes &&
           anyInside(output.reduce, llvm::IsaPred<arith::DivFOp>);
  });
}

LogicalResult NestEmitter::emitSeededLanes(unsigned position) {
  auto emit = [&](bool interior) -> LogicalResult {
    if (failed(emitOnce(position, 0, interior)))
      return failure();
    return frame.lanes == nest.shape[frame.vecDim]
               ? success()
               : emitLanesLoop(position, frame.lanes);
  };
  SmallVector<OpFoldResult> lows;
  SmallVector<Value> limits;
  if (dividesWhatMayBeUniform())
    collectBounds(lows, limits);
  if (limits.empty() || !lows.empty())
    return emit(/*interior=*/false);
  Value limit = limits.front();
  for (Value other : ArrayRef(limits).drop_front())
    limit = arith::MinSIOp::create(b, loc, limit, other);
  SmallVector<Type> types;
  for (NestOutput &output : nest.outputs)
    for (Value input : reduceInputs(output.reduce))
      types.push_back(
          VectorType::get({frame.lanes}, getElementTypeOrSelf(input)));
  auto branch =
      scf::IfOp::create(b, loc, types,
                        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                              limit, constant(frame.lanes)),
                        /*withElseRegion=*/true);
  Level &outside = *frame.levels.back();
  if (!outside.hasLoop)
    outside.before = branch;
  outside.hasLoop = true;
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    auto inside = std::make_unique<Level>();
    inside->block = block;
    frame.levels.push_back(std::move(inside));
    fe.moveTo(frame.levels.size() - 1);
    accumulators.clear();
    if (failed(emit(/*interior=*/block == branch.thenBlock())))
      return failure();
    b.setInsertionPointToEnd(block);
    scf::YieldOp::create(b, loc, accumulators);
    frame.levels.pop_back();
  }
  accumulators.assign(branch.getResults().begin(), branch.getResults().end());
  b.setInsertionPointAfter(branch);
  return success();
}

LogicalResult NestEmitter::combine(Operation *op, ArrayRef<Value> left,
                                   ArrayRef<Value> right, int64_t lanes,
                                   SmallVectorImpl<Value> &results) {
  SmallVector<Value> arguments;
  // linalg.reduce has the elements first, linalg_ext.reduce what was combined
  // so far.
  bool elementsFirst = isa<linalg::ReduceOp>(op);
  llvm::append_range(arguments, elementsFirst ? right : left);
  llvm::append_range(arguments, elementsFirst ? left : right);
  size_t before = results.size();
  if (failed(fe.cloneBody(op->getRegion(0).front(), arguments, indices, lanes,
                          results)))
    return failure();
  for (size_t i = before; i < results.size(); ++i)
    results[i] = fe.toLanes(results[i], lanes);
  return success();
}

LogicalResult NestEmitter::accumulate() {
  if (nest.reduceDims.empty())
    return success();
  bool seeding = accumulators.empty();
  SmallVector<Value> next;
  size_t used = 0;
  auto accumulateRow = [&]() -> LogicalResult {
    for (NestOutput &output : nest.outputs) {
      if (!output.reduce)
        continue;
      SmallVector<Value> elements;
      for (Value input : reduceInputs(output.reduce)) {
        Value element = fe.evaluate(input, indices);
        if (!element)
          return failure();
        elements.push_back(fe.toLanes(element, frame.lanes));
      }
      int64_t lanes = lanesOf(output.reduce);
      if (lanes != frame.lanes &&
          failed(reduceLanes(output.reduce, elements, frame.lanes, true)))
        return failure();
      if (seeding) {
        llvm::append_range(next, elements);
        continue;
      }
      ArrayRef<Value> left =
          ArrayRef(accumulators).slice(used, elements.size());
      used += elements.size();
      if (failed(combine(output.reduce, left, elements, lanes, next)))
        return failure();
    }
    return success();
  };
  if (failed(forRowsAtOnce(accumulateRow)))
    return failure();
  accumulators = next;
  return success();
}

int64_t NestEmitter::lanesOf(Operation *reduce) {
  if (!vecReduced)
    return frame.lanes;
  auto [it, isNew] = inOrder.try_emplace(reduce, false);
  if (isNew)
    it->second = !commutes(reduce);
  return it->second ? 1 : frame.lanes;
}

/// A tree over the lanes, until so many are `left`: of halves, or, where order
/// matters, of neighbours.
LogicalResult NestEmitter::reduceLanes(Operation *op,
                                       SmallVectorImpl<Value> &values,
                                       int64_t lanes, bool neighbours,
                                       int64_t left) {
  for (; lanes > left; lanes /= 2) {
    SmallVector<Value> low, high, combined;
    SmallVector<int64_t> first, second;
    for (int64_t lane = 0; lane < lanes / 2; ++lane) {
      first.push_back(neighbours ? 2 * lane : lane);
      second.push_back(neighbours ? 2 * lane + 1 : lanes / 2 + lane);
    }
    for (Value value : values) {
      low.push_back(vector::ShuffleOp::create(b, loc, value, value, first));
      high.push_back(vector::ShuffleOp::create(b, loc, value, value, second));
    }
    if (failed(combine(op, low, high, lanes / 2, combined)))
      return failure();
    values.assign(combined.begin(), combined.end());
  }
  return success();
}

LogicalResult NestEmitter::finishReductions() {
  SmallVector<Value> results = std::exchange(accumulators, {});
  if (!rowsAtOnce.empty() &&
      static_cast<int64_t>(rowsAtOnce.size()) <= frame.lanes) {
    // Those of a row follow one another.
    for (auto [i, output] : llvm::enumerate(nest.outputs)) {
      SmallVector<Value> values;
      for (size_t at = i; at < results.size(); at += nest.outputs.size())
        values.push_back(results[at]);
      if (failed(finishRows(output.reduce, std::move(values))))
        return failure();
    }
    return success();
  }
  size_t used = 0;
  return forRowsAtOnce([&] { return finishRow(results, used); });
}

/// One tree for the accumulators of all rows, which are folded to a vector each
/// before: what exchanges a bit of a lane's number with one of a row's halves
/// how many vectors there are.
LogicalResult NestEmitter::finishRows(Operation *reduce,
                                      SmallVector<Value> values) {
  auto rows = static_cast<int64_t>(rowsAtOnce.size());
  int64_t bits = cast<VectorType>(values.front().getType())
                     .getElementTypeBitWidth(),
          native = fe.target().vectorBits / bits,
          lanes = std::min(frame.lanes, std::max(rows, native));
  for (Value &value : values) {
    SmallVector<Value> row = {value};
    if (failed(reduceLanes(reduce, row, frame.lanes, false, lanes)))
      return failure();
    value = row.front();
  }
  for (int64_t bit = 1; bit < rows; bit *= 2) {
    SmallVector<int64_t> first, second;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      first.push_back(lane & bit ? lanes + lane - bit : lane);
      second.push_back(lane & bit ? lanes + lane : lane + bit);
    }
    SmallVector<Value> merged;
    for (size_t i = 0; i < values.size(); i += 2) {
      Value low = vector::ShuffleOp::create(b, loc, values[i], values[i + 1],
                                            first),
            high = vector::ShuffleOp::create(b, loc, values[i], values[i + 1],
                                             second);
      if (failed(combine(reduce, low, high, lanes, merged)))
        return failure();
    }
    values = std::move(merged);
  }
  if (failed(reduceLanes(reduce, values, lanes, false, rows)))
    return failure();
  return writeRows(reduce->getResult(0), values.front());
}

/// The results of the rows that are reduced at once, each in a lane.
LogicalResult NestEmitter::writeRows(Value result, Value values) {
  const View &view = *fe.buffers[result]->view;
  unsigned rowDim = order[firstReduced - 1], d = rowDim;
  for (int64_t reduced : nest.reduceDims)
    d -= reduced < static_cast<int64_t>(rowDim);
  if (constantOf(view.strides[d]) != 1) {
    int64_t lane = 0;
    return forRowsAtOnce([&] {
      Value value =
          vector::ExtractOp::create(b, loc, values, ArrayRef<int64_t>{lane++});
      return fe.write(view, withoutReduced(indices, nest.reduceDims), value,
                      loc);
    });
  }
  Indices at = withoutReduced(indices, nest.reduceDims);
  at[d].step = 1;
  auto restore = llvm::scope_exit(
      [&, dim = frame.vecDim, level = frame.vecLevel, lanes = frame.lanes] {
        frame.vecDim = dim;
        frame.vecLevel = level;
        frame.lanes = lanes;
        frame.interior = false;
      });
  frame.vecDim = static_cast<int>(rowDim);
  frame.vecLevel = at[d].level;
  frame.lanes = static_cast<int64_t>(rowsAtOnce.size());
  frame.interior = true;
  return fe.write(view, at, values, loc);
}

/// Takes a row's accumulators from `results`, from the `used`th on.
LogicalResult NestEmitter::finishRow(ArrayRef<Value> results, size_t &used) {
  Indices at = withoutReduced(indices, nest.reduceDims);
  for (NestOutput &output : nest.outputs) {
    if (!output.reduce)
      continue;
    size_t count = output.reduce->getNumResults();
    SmallVector<Value> values(results.slice(used, count));
    used += count;
    if (vecReduced && failed(reduceLanes(output.reduce, values,
                                         lanesOf(output.reduce), false)))
      return failure();
    for (auto [result, value] :
         llvm::zip_equal(output.reduce->getResults(), values)) {
      if (vecReduced)
        value = vector::ExtractOp::create(b, loc, value, ArrayRef<int64_t>{0});
      if (cast<RankedTensorType>(result.getType()).getRank() == 0) {
        fe.scalars[result] = value;
        continue;
      }
      if (failed(fe.write(*fe.buffers[result]->view, at, value, loc)))
        return failure();
    }
  }
  return success();
}
