//===- Reductions.cpp - reductions, scans, lookups within blocks ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Program.h"

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

using namespace mlir;

namespace tilebridge::reference {

namespace {
/// A block along one dimension: slices of one position each, which are blocks
/// of the other dimensions.
struct Slices {
  SmallVector<int64_t> shape, sliceShape;
  int64_t dimension, inner;

  Slices(ArrayRef<int64_t> shape, int64_t dimension)
      : shape(shape), sliceShape(shape), dimension(dimension),
        inner(countOf(shape.drop_front(dimension + 1))) {
    sliceShape.erase(sliceShape.begin() + dimension);
  }

  int64_t count() const { return shape[dimension]; }
  int64_t sliceSize() const { return countOf(sliceShape); }
  int64_t elementAt(int64_t slice, int64_t lane) const {
    return (lane / inner * count() + slice) * inner + lane % inner;
  }
  Datum get(const Datum &block, int64_t slice) const {
    Lanes lanes(sliceSize());
    for (size_t i = 0; i < lanes.size(); ++i)
      lanes[i] = block.lanes()[elementAt(slice, i)];
    return Datum(block.elementType(), sliceShape, std::move(lanes));
  }
};
} // namespace

/// Combines what there is with the next slices; the region's values may be the
/// same for all lanes.
static LogicalResult combine(Program &program, Block &region,
                             SmallVector<Datum> &soFar, ArrayRef<Datum> next) {
  SmallVector<Datum> arguments(soFar), yielded;
  arguments.append(next.begin(), next.end());
  if (failed(program.run(region, arguments, yielded)))
    return failure();
  for (auto [datum, value] : llvm::zip(soFar, yielded)) {
    Lanes lanes = value.lanes();
    if (lanes.size() != datum.lanes().size())
      lanes.assign(datum.lanes().size(), lanes.front());
    datum = Datum(value.elementType(), datum.shape(), std::move(lanes));
  }
  return success();
}

static SmallVector<Datum> slicesAt(Program &program, OperandRange inputs,
                                   const Slices &slices, int64_t at) {
  SmallVector<Datum> result;
  for (mlir::Value input : inputs)
    result.push_back(slices.get(program.get(input), at));
  return result;
}

static LogicalResult evaluateReduce(Program &program, Operation *op) {
  auto reduce = cast<linalg_ext::ReduceOp>(op);
  Slices slices(program.get(reduce.getInputs().front()).shape(),
                reduce.getDimension());
  auto soFar = slicesAt(program, reduce.getInputs(), slices, 0);
  for (int64_t i = 1; i < slices.count(); ++i)
    if (failed(combine(program, reduce.getCombiner().front(), soFar,
                       slicesAt(program, reduce.getInputs(), slices, i))))
      return failure();
  for (auto [result, datum] : llvm::zip(reduce.getResults(), soFar))
    program.set(result, datum);
  return success();
}

static LogicalResult evaluateScan(Program &program, Operation *op) {
  auto scan = cast<linalg_ext::ScanOp>(op);
  Slices slices(program.get(scan.getInputs().front()).shape(),
                scan.getDimension());
  SmallVector<Lanes> results;
  for (mlir::Value input : scan.getInputs())
    results.push_back(program.lanes(input));
  SmallVector<Datum> soFar;
  for (int64_t i = 0; i < slices.count(); ++i) {
    int64_t at = scan.getReverse() ? slices.count() - 1 - i : i;
    auto next = slicesAt(program, scan.getInputs(), slices, at);
    if (i == 0)
      soFar = next;
    else if (failed(combine(program, scan.getCombiner().front(), soFar, next)))
      return failure();
    for (auto [lanes, datum] : llvm::zip(results, soFar))
      for (int64_t lane = 0; lane < slices.sliceSize(); ++lane)
        lanes[slices.elementAt(at, lane)] = datum.lanes()[lane];
  }
  for (auto [result, lanes] : llvm::zip(scan.getResults(), results))
    program.set(result, std::move(lanes));
  return success();
}

static LogicalResult evaluateHistogram(Program &program, Operation *op) {
  auto histogram = cast<linalg_ext::HistogramOp>(op);
  const Lanes &input = program.lanes(histogram.getInput());
  auto type = cast<RankedTensorType>(histogram.getResult().getType());
  Lanes counts(type.getNumElements(), 0);
  for (size_t i = 0; i < input.size(); ++i) {
    bool isCounted =
        !histogram.getMask() || program.lanes(histogram.getMask())[i];
    if (isCounted && input[i] < counts.size())
      ++counts[input[i]];
  }
  for (uint64_t &count : counts)
    count = truncated(count, widthOf(type.getElementType()));
  program.set(histogram.getResult(), std::move(counts));
  return success();
}

static LogicalResult evaluateGatherAlong(Program &program, Operation *op) {
  auto gather = cast<linalg_ext::GatherAlongOp>(op);
  const Datum &source = program.get(gather.getSource());
  const Datum &indices = program.get(gather.getIndices());
  int64_t dimension = gather.getDimension();
  Lanes lanes;
  SmallVector<int64_t> at;
  forEachPosition(indices.shape(), [&](ArrayRef<int64_t> position) {
    at.assign(position.begin(), position.end());
    uint64_t last = source.shape()[dimension] - 1;
    at[dimension] = std::min(indices.lanes()[lanes.size()], last);
    lanes.push_back(source.lanes()[linearIndex(at, source.shape())]);
  });
  program.set(gather.getResult(), std::move(lanes));
  return success();
}

void addReductionHandlers(HandlerTable &table) {
  table.add<linalg_ext::ReduceOp>(evaluateReduce);
  table.add<linalg_ext::ScanOp>(evaluateScan);
  table.add<linalg_ext::HistogramOp>(evaluateHistogram);
  table.add<linalg_ext::GatherAlongOp>(evaluateGatherAlong);
}

} // namespace tilebridge::reference
