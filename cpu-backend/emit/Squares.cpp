//===- Squares.cpp - nests that transpose in registers --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Where a short nest reads memory across its lanes, it takes a square of that
// memory a step: rows of it are loaded and transposed in registers, and what
// the nest computes from each of the columns is stored from there. (In scratch
// memory, Transpose.cpp, transposing 512 x 512 of f32 took 1.2 times as long on
// AMD Zen 4.) What is left of the block is less than a line wide, and goes
// through scratch memory, as do blocks at the end of the rows, which would need
// masks, and those that squares cannot stream.
//===----------------------------------------------------------------------===//

#include "cpu-backend/DecisionRemark.h"
#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/RowPointers.h"
#include "cpu-backend/emit/TransposeSquare.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// The body is written once for each column of a square. Of narrow elements
/// these are so many that what is computed has no registers: adding another
/// block of bf16 took 1.1 to 1.3 times as long as with scratch memory.
static constexpr int64_t mostCost = 8, mostSide = 64;
/// Of each, the columns of a square are in registers.
static constexpr size_t mostReads = 2;

/// The squares of the nest, if it can be written in such.
std::optional<NestEmitter::Squares> NestEmitter::findSquares() {
  if (nest.isCold || frame.vecDim < 0 || !nest.reduceDims.empty() ||
      !scans.empty() || lanesToExchange > 1 || lanesInGroup > 1 ||
      !fe.staged.empty())
    return std::nullopt;
  Squares result;
  int64_t narrowest = 64;
  for (auto &[value, places] : findReads()) {
    const View *view = fe.viewIfInMemory(value);
    auto crossing = view && places.size() == 1
                        ? findCrossing(*view, places.front(), mostSide)
                        : std::nullopt;
    if (!crossing)
      continue;
    int64_t bits = view->elementType().getIntOrFloatBitWidth();
    narrowest = std::min(narrowest, bits);
    result.columns = std::max(result.columns, 8 * lineBytes / bits);
    auto dim = static_cast<unsigned>(places.front()[crossing->columnDim].dim);
    if (!result.reads.empty() && dim != result.dim)
      return std::nullopt;
    result.dim = dim;
    result.side = result.reads.empty() ? crossing->side
                                       : std::min(result.side, crossing->side);
    result.reads.push_back({value, view, places.front(), crossing->rowDim});
  }
  if (result.reads.empty() || result.reads.size() > mostReads ||
      bodyCost > (narrowest >= 32 ? mostCost : 2))
    return std::nullopt;
  result.streams = fe.target().vectorBits >= 8 * lineBytes &&
                   narrowest >= (fe.target().hasTwoFmas ? 32 : 16);
  result.lanes = std::max(edgeLanes, result.side);
  for (const NestOutput &output : nest.outputs) {
    if (output.mask || output.source ||
        constantOf(output.view.strides[frame.vecDim]) != 1)
      return std::nullopt;
    // Lines are streamed whole.
    int64_t bits = output.view.elementType().getIntOrFloatBitWidth();
    if (result.streams && mayStream(output))
      result.lanes = std::max<int64_t>(result.lanes, 8 * lineBytes / bits);
  }
  result.columns =
      std::max(result.side, lanesAlong(nest.shape[result.dim], result.columns));
  result.lanes = lanesAlong(nest.shape[frame.vecDim], result.lanes);
  if (!findEnd(result))
    return std::nullopt;
  if (result.streams)
    return result;
  // Few registers do not hold squares of whole lines, nor many those of bytes,
  // and of bf16 CPUs with two multiply-adds stream single lines more slowly
  // (0.92 of the rate): what goes around the caches is collected in scratch
  // memory.
  for (auto [output, isLarge] : findLarge())
    result.end = arith::SelectOp::create(b, loc, isLarge, constant(0),
                                         toValue(b, loc, result.end))
                     .getResult();
  return result;
}

/// Where whole squares end along their dimension, all of which are inside of
/// every box: at once where others are not. False where that is not known.
bool NestEmitter::findEnd(Squares &squares) {
  int64_t least = nest.shape[squares.dim];
  llvm::SmallSetVector<Value, 4> others;
  Value isInside;
  auto require = [&](Value condition) {
    isInside = isInside ? arith::AndIOp::create(b, loc, isInside, condition)
                        : condition;
  };
  auto isAtLeast = [&](OpFoldResult x, OpFoldResult y) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                 toValue(b, loc, x), toValue(b, loc, y));
  };
  auto endsAt = [&](OpFoldResult end) {
    if (auto known = constantOf(end))
      least = std::min(least, *known);
    else
      others.insert(cast<Value>(end));
  };
  OpFoldResult firstLane = ranges[frame.vecDim].first,
               endOfLanes = ranges[frame.vecDim].second;
  bool isKnown =
      constantOf(ranges[squares.dim].first) == 0 && constantOf(firstLane) == 0;
  endsAt(ranges[squares.dim].second);
  auto collect = [&](const View &view, ArrayRef<Index> at, bool) {
    isKnown &= view.rowDim < 0 && !view.other;
    for (auto [d, index] : llvm::enumerate(at)) {
      isKnown &= view.shape[d] == 1 || index.dim >= 0;
      if (view.isFull(d))
        continue;
      if (constantOf(view.lo[d]) != 0)
        isKnown = false;
      else if (index.dim == static_cast<int>(squares.dim))
        endsAt(view.hi[d]);
      else if (index.dim != frame.vecDim)
        require(isAtLeast(view.hi[d], b.getIndexAttr(view.shape[d])));
      else if (view.hi[d] != endOfLanes)
        require(isAtLeast(view.hi[d], endOfLanes));
    }
  };
  forEachAccess(ownIndices(nest.shape.size()), nullptr, collect);
  auto known = constantOf(endOfLanes);
  if (!isKnown || (known && *known % squares.lanes != 0))
    return false;
  if (!known) {
    Value left = arith::AndIOp::create(b, loc, toValue(b, loc, endOfLanes),
                                       constant(squares.lanes - 1));
    require(isAtLeast(constant(0), left));
  }
  least = std::max<int64_t>(least & -squares.columns, 0);
  squares.end = b.getIndexAttr(least);
  if (others.empty() && !isInside)
    return true;
  Value end = constant(least);
  for (Value other : others)
    end = arith::MinSIOp::create(b, loc, end, other);
  end = arith::AndIOp::create(b, loc, end, constant(-squares.columns));
  end = arith::MaxSIOp::create(b, loc, end, constant(0));
  if (isInside)
    end = arith::SelectOp::create(b, loc, isInside, end, constant(0));
  squares.end = end;
  return true;
}

/// The nest for whole squares, and one for what is left of the block.
LogicalResult NestEmitter::emitInSquares(const Squares &squares) {
  for (const Squares::Read &read : squares.reads)
    Decision(read.tensor.getLoc(), "transposed")
        .fact("side", squares.side)
        .report("used along another dimension than it is contiguous along: "
                "transposed in registers, in squares of " +
                Twine(squares.side) + "x" + Twine(squares.side));
  auto [begin, end] = ranges[squares.dim];
  auto known = constantOf(squares.end);
  bool isAll = known && known == constantOf(end);
  auto readers = fe.readers;
  // A nest notes in its outputs how far it goes.
  auto emit = [&](OpFoldResult from, OpFoldResult to, bool isWhole) {
    Nest copy = nest;
    NestEmitter inner(fe, copy);
    inner.part = {squares.dim, from, to, isWhole == (isAll || squares.streams)};
    if (isWhole)
      inner.squares = squares;
    return inner.run();
  };
  if (failed(emit(begin, squares.end, true)))
    return failure();
  if (isAll)
    return success();
  fe.readers = readers;
  Value isLeft =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                            toValue(b, loc, squares.end), toValue(b, loc, end));
  auto branch = scf::IfOp::create(b, loc, isLeft, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  return emit(squares.end, end, false);
}

/// The nest of whole squares, once it has chosen its lanes: a square's columns
/// are the rows that it computes at once.
void NestEmitter::takeSquares() {
  frame.lanes = edgeLanes = squares->lanes;
  rowsDim = squares->dim;
  rowsAtOnce.resize(squares->columns);
  mayShift = false;
  fe.onlyStreams = false;
}

/// Before the loops: what they ask for ahead.
void NestEmitter::prepareSquares() {
  for (Squares::Read &read : squares->reads)
    if (fe.loads.count(read.tensor))
      read.later = laterBlock(*read.view);
}

/// Of streams, that each column of a square begins with a line if the first
/// one does.
Value NestEmitter::columnsAreLines(const View &view) {
  int64_t bits = view.elementType().getIntOrFloatBitWidth();
  Value stride = toValue(b, loc, view.strides[squares->dim]);
  Value within =
      arith::AndIOp::create(b, loc, stride, constant(8 * lineBytes / bits - 1));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, within,
                               constant(0));
}

/// The rows of what `read` sees of the squares that begin here, one for each
/// lane. `isFirst`: no others of the same lines are read before.
SmallVector<Value> NestEmitter::loadRows(const Squares::Read &read,
                                         bool isFirst) {
  const View &view = *read.view;
  Indices at;
  for (const Index &index : read.place)
    at.push_back(index.dim < 0 ? Index() : indices[index.dim]);
  RowPointers rows(b, loc, view, fe.address(view, at, -1, loc),
                   view.strides[read.rowDim]);
  if (read.later && isFirst)
    rows.prefetch(*read.later, squares->lanes, squares->columns);
  return rows.load(VectorType::get({squares->side}, view.elementType()),
                   squares->lanes);
}

/// The body of the loops over squares: one after another, as registers hold the
/// columns of one.
LogicalResult NestEmitter::emitSquare() {
  int64_t side = squares->side;
  auto transpose = [&](const Squares::Read &read, int64_t column) {
    SmallVector<Value> rows = loadRows(read, /*isFirst=*/column == 0);
    SmallVector<SmallVector<Value>> transposed;
    for (int64_t row = 0; row < squares->lanes; row += side)
      transposed.push_back(
          transposeSquare(b, loc, ArrayRef(rows).slice(row, side)));
    return llvm::map_to_vector(llvm::seq<int64_t>(0, side), [&](int64_t i) {
      return joinLanes(b, loc,
                       llvm::map_to_vector(transposed, [&](const auto &one) {
                         return one[i];
                       }));
    });
  };
  SmallVector<SmallVector<Stored>> columns;
  auto compute = [&] {
    int64_t column = static_cast<int64_t>(columns.size());
    if (column % side == 0)
      for (const Squares::Read &read : squares->reads)
        frame.squares[read.tensor] = transpose(read, column);
    frame.column = column % side;
    return evaluateOutputs(columns.emplace_back());
  };
  if (large.empty())
    return forRowsAtOnce([&]() -> LogicalResult {
      return failed(compute()) ? failure() : storeOutputs(columns.back());
    });
  if (failed(forRowsAtOnce(compute)))
    return failure();
  return storeByStreams(columns);
}

/// Around the caches or not: one branch for all columns.
LogicalResult
NestEmitter::storeByStreams(ArrayRef<SmallVector<Stored>> columns) {
  Value all;
  for (auto [output, isLarge] : large) {
    Value streams = frame.streams.lookup(&output->view);
    all =
        all ? arith::AndIOp::create(b, loc, all, streams).getResult() : streams;
  }
  auto branch = scf::IfOp::create(b, loc, all, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    b.setInsertionPoint(block->getTerminator());
    for (auto &entry : frame.streams)
      entry.second = nullptr;
    const SmallVector<Stored> *column = columns.begin();
    if (failed(forRowsAtOnce([&] { return storeOutputs(*column++); })))
      return failure();
    frame.streams.clear();
  }
  return success();
}
