//===- InterleaveRows.cpp - reductions of several rows at once ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A loop that reduces long rows some of each at a time reads pieces that lie
// far apart. One after the other, each has the CPU look ahead beyond its end,
// into what is not wanted yet, and begin anew at the next one. Read at once, a
// few vectors of each row in turn, the pieces are followed side by side, and
// memory gives more. Rows that follow one another, and what is in a cache, are
// left in their order: which it is is known when the program runs.
//
// Rows of a vector or two are reduced at once wherever they lie: one tree adds
// up the lanes of all of them.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/NestEmitter.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// The CPU does not look far ahead in shorter pieces.
static constexpr int64_t leastBytes = 512;
/// Across less than that it looks ahead into the next row: 256 columns of f32
/// took half as long in order as at once with 64 to 256 bytes between rows, and
/// 1.15 to 1.5 times as long from 512 bytes on (AMD Zen 4).
static constexpr int64_t leastGap = 512;

/// What the nest reads of which the next iteration of the loop around it reads
/// the next columns of the same rows, as many as a row of the block has; null
/// if there is no such block.
const View *NestEmitter::findPieces(unsigned rowDim) {
  scf::ForOp around = loopAround(b);
  if (!around)
    return nullptr;
  const View *result = nullptr;
  Indices at = ownIndices(nest.shape.size());
  auto visit = [&](Value value, ArrayRef<Index> place) {
    auto it = fe.loads.find(value);
    if (it == fe.loads.end() || fe.viewIfInMemory(value) != it->second.get())
      return true;
    const View &view = *it->second;
    bool hasRows = false, hasLanes = false;
    int64_t columns = 0;
    for (auto [d, index] : llvm::enumerate(place)) {
      auto stride = constantOf(view.strides[d]);
      if (index.dim == frame.vecDim && stride == 1) {
        hasLanes = true;
        columns = view.shape[d];
      } else if (index.dim == static_cast<int>(rowDim)) {
        hasRows = stride != 0;
      }
    }
    if (!hasRows || !hasLanes || view.rowDim >= 0)
      return true;
    int64_t bits = view.elementType().getIntOrFloatBitWidth();
    if (columns * bits < 8 * leastBytes)
      return true;
    auto growth = growthOf(view, around);
    if (growth && constantOf(*growth) == columns)
      result = &view;
    return true;
  };
  for (Value input : reduceInputs(nest.outputs.front().reduce))
    fe.walkCone(input, at, nullptr, visit);
  return result;
}

/// How many rows are reduced at once, and how many lanes each has then. Where
/// they lie apart: two vectors, or a line where that is more, and half of the
/// registers for all. Short ones: the whole row.
void NestEmitter::chooseRowsAtOnce(int64_t nativeLanes) {
  auto mayTakeRows = [&](const NestOutput &output) {
    return isa_and_nonnull<linalg::ReduceOp>(output.reduce) &&
           output.reduce->getNumResults() == 1 &&
           lanesOf(output.reduce) == frame.lanes;
  };
  if (!vecReduced || firstReduced == 0 || nest.isCold ||
      nest.reduceDims.size() != 1 || !llvm::all_of(nest.outputs, mayTakeRows))
    return;
  unsigned rowDim = order[firstReduced - 1];
  int64_t length = nest.shape[frame.vecDim];
  auto choose = [&](int64_t rows, int64_t lanes) {
    while (nest.shape[rowDim] % rows)
      rows /= 2;
    if (rows < 2)
      return false;
    rowsAtOnce.resize(rows);
    rowsDim = rowDim;
    frame.lanes = edgeLanes = lanes;
    return true;
  };
  int64_t vectorBits = fe.target().vectorBits,
          vectors = std::max<int64_t>(2, 8 * lineBytes / vectorBits);
  bool isWide = vectorBits >= 512;
  auto outputs = static_cast<int64_t>(nest.outputs.size());
  const View *pieces =
      outputs == 1 && mayInterleave && fe.target().prefetchBytes > 0
          ? findPieces(rowDim)
          : nullptr;
  Value isApart;
  if (pieces)
    isApart = rowsAreApart(
        *pieces,
        8 * leastGap / pieces->elementType().getIntOrFloatBitWidth() - 1);
  if (isApart && choose((isWide ? 16 : 8) / vectors,
                        lanesAlong(length, nativeLanes * vectors))) {
    // In a cache there is nothing to be gained.
    rowsAreFar = isVersion ? isApart
                           : arith::AndIOp::create(b, loc, isApart,
                                                   isLargeRead(*pieces));
    return;
  }
  int64_t lanes = lanesAlong(length, 2 * nativeLanes);
  if (lanes != length)
    return;
  // Half of the registers, and no more than eight rows; of long bodies on two
  // vectors, which need some themselves, four.
  int64_t registers = isWide ? 16 : 8,
          vectorsOfRow = length <= nativeLanes ? 1 : 2,
          each = outputs * vectorsOfRow;
  if (vectorsOfRow == 2 && bodyCost > 8 * outputs)
    each = std::max<int64_t>(each, registers / 4);
  choose(llvm::bit_floor<uint64_t>(
             std::min({registers / each, int64_t(8), lanes})),
         lanes);
}

/// One nest for rows that lie apart, and one for others.
LogicalResult NestEmitter::emitBothOrders() {
  auto branch = scf::IfOp::create(b, loc, rowsAreFar, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  auto emit = [&](Block *block, bool atOnce) {
    NestEmitter inner(fe, nest);
    inner.mayInterleave = atOnce;
    inner.isVersion = true;
    b.setInsertionPoint(block->getTerminator());
    return inner.run();
  };
  auto readers = fe.readers;
  if (failed(emit(branch.thenBlock(), true)))
    return failure();
  fe.readers = readers;
  return emit(branch.elseBlock(), false);
}

/// The loop over rows, several at once.
LogicalResult NestEmitter::emitRowsAtOnce(unsigned position) {
  unsigned d = order[position];
  auto rows = static_cast<int64_t>(rowsAtOnce.size());
  return loop(
      firstOfRows(d, rows), toValue(b, loc, ranges[d].second), rows,
      [&](Value iv, unsigned level) {
        for (auto [i, row] : llvm::enumerate(rowsAtOnce)) {
          Value base =
              i == 0
                  ? iv
                  : arith::AddIOp::create(b, loc, iv, constant(i)).getResult();
          row = {base, 0, level, static_cast<int>(d)};
        }
        indices[d] = rowsAtOnce.front();
        LogicalResult result = emitLoops(position + 1);
        indices[d] = {Value(), 0, 0, static_cast<int>(d)};
        return result;
      });
}

/// `body` for each row that is computed at once.
LogicalResult NestEmitter::forRowsAtOnce(function_ref<LogicalResult()> body) {
  if (rowsAtOnce.empty())
    return body();
  Index &row = indices[rowsDim];
  auto restore = llvm::scope_exit([&, first = row] { row = first; });
  for (const Index &each : rowsAtOnce) {
    row = each;
    if (failed(body()))
      return failure();
  }
  return success();
}
