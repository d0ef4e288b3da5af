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
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/NestEmitter.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// The CPU does not look far ahead in shorter pieces.
static constexpr int64_t leastBytes = 512;

/// What the nest reads of which the next iteration of the loop around it reads
/// the next columns of the same rows, as many as a row of the block has; null
/// if there is no such block.
const View *NestEmitter::findPieces(unsigned rowDim) {
  scf::ForOp around = loopAround(b);
  if (!around)
    return nullptr;
  const View *result = nullptr;
  Indices at(nest.shape.size());
  for (auto [d, index] : llvm::enumerate(at))
    index.dim = d;
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

/// How many rows are reduced at once where they lie apart, and how many lanes
/// each has then: two vectors, or a line where that is more, and half of the
/// registers for all.
void NestEmitter::chooseRowsAtOnce(int64_t nativeLanes) {
  constexpr int64_t lineBits = 512;
  if (!mayInterleave || fe.target().prefetchBytes <= 0 || !vecReduced ||
      firstReduced == 0 || nest.isCold || nest.outputs.size() != 1 ||
      nest.reduceDims.size() != 1)
    return;
  Operation *reduce = nest.outputs.front().reduce;
  if (!isa_and_nonnull<linalg::ReduceOp>(reduce) ||
      reduce->getNumResults() != 1 || lanesOf(reduce) != frame.lanes)
    return;
  unsigned rowDim = order[firstReduced - 1];
  int64_t vectorBits = fe.target().vectorBits;
  int64_t vectors = std::max<int64_t>(2, lineBits / vectorBits);
  int64_t rows = (vectorBits >= 512 ? 16 : 8) / vectors;
  while (nest.shape[rowDim] % rows)
    rows /= 2;
  const View *pieces = rows < 2 ? nullptr : findPieces(rowDim);
  rowsAreFar = pieces ? rowsAreApart(*pieces) : Value();
  if (!rowsAreFar)
    return;
  // In a cache there is nothing to be gained.
  if (!isVersion)
    rowsAreFar =
        arith::AndIOp::create(b, loc, rowsAreFar, isLargeRead(*pieces));
  rowsAtOnce.resize(rows);
  frame.lanes = edgeLanes =
      lanesAlong(nest.shape[frame.vecDim], nativeLanes * vectors);
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

/// `body` for each row that is reduced at once.
LogicalResult NestEmitter::forRowsAtOnce(function_ref<LogicalResult()> body) {
  if (rowsAtOnce.empty())
    return body();
  Index &row = indices[order[firstReduced - 1]];
  auto restore = llvm::scope_exit([&, first = row] { row = first; });
  for (const Index &each : rowsAtOnce) {
    row = each;
    if (failed(body()))
      return failure();
  }
  return success();
}
