//===- Lanes.cpp - which dimension of a nest has lanes, and how many --------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Lanes run along the dimension along which most accesses are contiguous. A
// step is several vectors where the body is short, so that loads overlap.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/MemoryTable.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/RepeatedLanes.h"
#include "cpu-backend/emit/StreamScans.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

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
    noteValue(value, at);
    if (pieceReads.contains(value.getDefiningOp()))
      return false;
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
        if (output.maskSource)
          use(*output.maskSource, indices, false);
        else if (output.mask)
          fe.walkCone(output.mask, indices, builder, visit);
        notes.push_back({static_cast<int64_t>(
            output.view.elementType().getIntOrFloatBitWidth())});
        notes.back().dims.push_back(-1);
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

/// What a step of the innermost loop computes: what is the same for all lanes
/// is computed outside.
void NestEmitter::noteValue(Value value, ArrayRef<Index> at) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  Noted note;
  if (element.isIntOrFloat())
    note.bits = element.getIntOrFloatBitWidth();
  Operation *op = value.getDefiningOp();
  if (auto exchange = matchExchange(op); exchange && exchange->isFree)
    lanesInGroup = std::max(lanesInGroup, exchange->lanes);
  else if (exchange)
    lanesToExchange = std::max(lanesToExchange, exchange->lanes);
  if (auto repeated = op ? RepeatedLanes::match(op) : std::nullopt)
    lanesInGroup = std::max<int64_t>(lanesInGroup, 2);
  if (lanesInGroup > 1)
    mayShift = false;
  if (!op || fe.viewIfInMemory(value))
    note.cost = 1;
  else if (auto rows = dyn_cast<linalg_ext::GatherRowsOp>(op))
    note.rowDim = at[rows.getDim()].dim;
  else if (pieceReads.contains(op))
    note.cost = 2;
  else if (isa<linalg_ext::GatherOp>(op))
    note.cost = costOfGather(op);
  else if (isPick(op))
    note.cost = costOfPick(op);
  else if (isa<linalg_ext::MaskedLoadOp>(op))
    note.cost = 2;
  else if (isStreamedScan(op))
    note.cost = 16;
  else if (isElementwise(op))
    note = {note.bits, costOfBody(op),        {},
            -1,        callsMathFunction(op), dividesIntegers(op)};
  // A dimension that is not one of the nest's may be one that is shifted.
  for (const Index &index : at)
    note.dims.push_back(index.dim);
  notes.push_back(std::move(note));
}

/// Lanes of gathers and scatters in code that hardly runs: elements below 32
/// bits are read one by one, which is long as it is.
static constexpr int64_t rareLanes = 16;

/// Several rows of it at once are not too long. What is the same for all rows
/// is there once, and a function's steps take as long as what is gained.
bool NestEmitter::isShort() const {
  constexpr int64_t most = 8, mostSimple = 24;
  int64_t cost = 0;
  bool isSimple = true;
  for (const Noted &note : notes) {
    isSimple &= !note.isMath && !note.dividesIntegers;
    if (llvm::any_of(note.dims, [&](int d) { return d != frame.vecDim; }))
      cost += note.cost;
  }
  auto outputs = static_cast<int64_t>(nest.outputs.size());
  return bodyCost <= most * outputs ||
         (isSimple && cost <= mostSimple * outputs);
}

void NestEmitter::choose() {
  unsigned rank = nest.shape.size();
  SmallVector<int64_t> score(rank, 0);
  llvm::SmallBitVector isStrided(rank);
  findPieceReads();
  Indices symbolic;
  for (unsigned d = 0; d < rank; ++d)
    symbolic.push_back({Value(), 0, 0, static_cast<int>(d)});
  // A write across the lanes is one element at a time; a read is transposed.
  forEachAccess(symbolic, nullptr,
                [&](const View &view, ArrayRef<Index> at, bool isWrite) {
                  // An access of one element a row hardly matters.
                  int64_t dims = llvm::count_if(
                      at, [](const Index &index) { return index.dim >= 0; });
                  int64_t weight = dims == static_cast<int64_t>(rank) ? 4 : 1;
                  // Where another one is known to be, the last is not.
                  auto isUnit = [](OpFoldResult stride) {
                    auto known = constantOf(stride);
                    return known == 1 || known == -1;
                  };
                  bool isKnown = false;
                  for (auto [size, stride] :
                       llvm::zip_equal(view.shape, view.strides))
                    isKnown |= size != 1 && isUnit(stride);
                  for (auto [d, index] : llvm::enumerate(at)) {
                    if (index.dim < 0 || view.shape[d] == 1 ||
                        static_cast<int>(d) == view.rowDim)
                      continue;
                    bool isDynamic = !constantOf(view.strides[d]),
                         maybe = isDynamic && d + 1 == at.size() && !isKnown;
                    if (isDynamic)
                      isStrided.set(index.dim);
                    if (isUnit(view.strides[d]))
                      score[index.dim] += weight * (isWrite ? 12 : 4);
                    else if (maybe)
                      score[index.dim] += weight * 3;
                  }
                });
  int64_t best = -1;
  for (unsigned d = 0; d < rank; ++d)
    if (nest.shape[d] > 1 && score[d] >= best) {
      best = score[d];
      frame.vecDim = d;
    }
  findGroups();
  findScans();
  if ((frame.vecDim < 0 || !scans.empty()) && rank > 0)
    frame.vecDim = rank - 1;
  bool isMath = false, isOther = !scans.empty();
  for (const Noted &note : notes) {
    if (llvm::none_of(note.dims,
                      [&](int dim) { return dim < 0 || dim == frame.vecDim; }))
      continue;
    widestBits = std::max(widestBits, note.bits);
    isMath |= note.isMath;
    isOther |= note.dividesIntegers;
    // Where lanes run along a row it is as good as any contiguous memory.
    bodyCost += note.rowDim == frame.vecDim ? 20 : note.cost;
  }

  if (rank > 0) {
    // Scratch memory is near: there is no latency to hide.
    bool isFar = llvm::any_of(nest.outputs, [](const NestOutput &output) {
      return output.reduce || output.isStore;
    });
    int64_t simple = isFar ? 4 : 2;
    // Long bodies overlap with those of the next iterations as they are; an
    // exponential is one chain of dependent steps, and what a CPU looks ahead
    // by, a hundred instructions or so, are few of them: vectors go side by
    // side. Half as long ones ask for twice as many, even where that spills
    // registers.
    bool isWide = fe.target().vectorBits >= 512;
    int64_t longest = isWide ? 40 : isMath && !isOther ? 60 : 14;
    int64_t chains = isWide ? 2 : 4;
    // What is reduced waits for the sum of the step before.
    int64_t shortBody = nest.reduceDims.empty() ? 8 : 14;
    int64_t unroll = nest.isCold || bodyCost > longest ? 1
                     : bodyCost <= shortBody           ? simple
                     : bodyCost <= 14                  ? 2
                                                       : chains;
    int64_t lanes = std::max<int64_t>(fe.target().vectorBits / widestBits, 1);
    unroll = std::max(unroll, unrollToStream(lanes));
    if (fe.isRare && isStrided.test(frame.vecDim)) {
      lanes = std::min(lanes, rareLanes);
      unroll = 1;
    }
    int64_t size = nest.shape[frame.vecDim];
    edgeLanes = lanesAlong(size, lanes);
    lanes = std::min<int64_t>(lanes * unroll, std::max<int64_t>(lanes, 64));
    frame.lanes = lanesAlong(size, lanes);
    // Both divide the row.
    auto group = static_cast<int64_t>(nest.places.size());
    frame.lanes = std::max(frame.lanes, group);
    edgeLanes = std::max(edgeLanes, group);
    if (size % lanesInGroup == 0) {
      frame.lanes = std::max(frame.lanes, lanesInGroup);
      edgeLanes = std::max(edgeLanes, lanesInGroup);
    }
    if (lanesToExchange > 1)
      frame.lanes = edgeLanes = lanesToExchange;
    // Rows end anywhere.
    if (!pieceReads.empty())
      frame.lanes = edgeLanes;
  }
  fe.onlyStreams &= nest.isCold || (bodyCost <= 8 && nest.reduceDims.empty());
  auto isReduced = [&](int64_t d) {
    return llvm::is_contained(nest.reduceDims, d);
  };
  vecReduced = isReduced(frame.vecDim);
  if (vecReduced)
    edgeLanes = frame.lanes;
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
  if (isShort())
    chooseRowsAtOnce(std::max<int64_t>(fe.target().vectorBits / widestBits, 1));
}
