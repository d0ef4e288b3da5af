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
// AMD Zen 4.) What is left of the block is less than a square wide, and goes
// through scratch memory.
//===----------------------------------------------------------------------===//

#include "cpu-backend/DecisionRemark.h"
#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/TransposeSquare.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// The body is written once for each column of a square. Of narrow elements
/// these are so many that what is computed has no registers: adding another
/// block of bf16 took 1.1 to 1.3 times as long as with scratch memory.
static constexpr int64_t mostCost = 8, mostSide = 64;
/// Of each, the columns of a square are in registers.
static constexpr size_t mostReads = 2;
/// What the CPU moves between memory and caches.
static constexpr int64_t lineBits = 512;

/// The squares of the nest, if it can be written in such.
std::optional<NestEmitter::Squares> NestEmitter::findSquares() {
  if (nest.isCold || frame.vecDim < 0 || !nest.reduceDims.empty() ||
      !scans.empty() || lanesToExchange > 1 || !fe.staged.empty())
    return std::nullopt;
  Squares result;
  bool is512 = fe.target().vectorBits >= lineBits, isWide = true;
  for (auto &[value, places] : findReads()) {
    const View *view = fe.viewIfInMemory(value);
    auto crossing = view && places.size() == 1
                        ? findCrossing(*view, places.front(), mostSide)
                        : std::nullopt;
    if (!crossing)
      continue;
    int64_t bits = view->elementType().getIntOrFloatBitWidth();
    isWide &= bits >= 32;
    result.columns = std::max(result.columns, lineBits / bits);
    auto dim = static_cast<unsigned>(places.front()[crossing->columnDim].dim);
    if (!result.reads.empty() && dim != result.dim)
      return std::nullopt;
    result.dim = dim;
    result.side = result.reads.empty() ? crossing->side
                                       : std::min(result.side, crossing->side);
    result.reads.push_back({value, view, places.front(), crossing->rowDim});
  }
  if (result.reads.empty() || result.reads.size() > mostReads ||
      bodyCost > (isWide ? mostCost : 2))
    return std::nullopt;
  result.streams = is512 && (isWide || !fe.target().hasTwoFmas);
  result.lanes = std::max(edgeLanes, result.side);
  for (const NestOutput &output : nest.outputs) {
    if (output.mask || output.source ||
        constantOf(output.view.strides[frame.vecDim]) != 1)
      return std::nullopt;
    // Lines are streamed whole.
    int64_t bits = output.view.elementType().getIntOrFloatBitWidth();
    if (result.streams && mayStream(output))
      result.lanes = std::max<int64_t>(result.lanes, lineBits / bits);
  }
  result.columns =
      std::max(result.side, lanesAlong(nest.shape[result.dim], result.columns));
  result.lanes = lanesAlong(nest.shape[frame.vecDim], result.lanes);
  if (!findEnd(result))
    return std::nullopt;
  if (result.streams)
    return result;
  // Few registers do not hold squares of whole lines, and of narrow elements
  // CPUs with two multiply-adds stream single lines more slowly (0.92 of the
  // rate, bf16): what goes around the caches is collected in scratch memory.
  for (auto [output, isLarge] : findLarge())
    result.end = arith::SelectOp::create(b, loc, isLarge, constant(0),
                                         toValue(b, loc, result.end))
                     .getResult();
  return result;
}

/// Where whole squares end along their dimension: those that are inside of
/// every box. False where that is not known.
bool NestEmitter::findEnd(Squares &squares) {
  int64_t least = nest.shape[squares.dim];
  SmallVector<Value> others;
  auto endsAt = [&](OpFoldResult end) {
    if (auto known = constantOf(end))
      least = std::min(least, *known);
    else if (!llvm::is_contained(others, cast<Value>(end)))
      others.push_back(cast<Value>(end));
  };
  bool isKnown = constantOf(ranges[squares.dim].first) == 0;
  endsAt(ranges[squares.dim].second);
  auto collect = [&](const View &view, ArrayRef<Index> at, bool) {
    isKnown &= view.rowDim < 0 && !view.other;
    for (auto [d, index] : llvm::enumerate(at)) {
      isKnown &= view.shape[d] == 1 || index.dim >= 0;
      if (index.dim != static_cast<int>(squares.dim) || view.isFull(d))
        continue;
      isKnown &= constantOf(view.lo[d]) == 0;
      endsAt(view.hi[d]);
    }
  };
  forEachAccess(ownIndices(nest.shape.size()), nullptr, collect);
  if (!isKnown)
    return false;
  least = std::max<int64_t>(least & -squares.columns, 0);
  squares.end = b.getIndexAttr(least);
  if (others.empty())
    return true;
  Value end = constant(least);
  for (Value other : others)
    end = arith::MinSIOp::create(b, loc, end, other);
  end = arith::AndIOp::create(b, loc, end, constant(-squares.columns));
  squares.end = arith::MaxSIOp::create(b, loc, end, constant(0)).getResult();
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
  auto readers = fe.readers;
  // A nest notes in its outputs how far it goes.
  auto emit = [&](const Part &part, bool isWhole) {
    Nest copy = nest;
    NestEmitter inner(fe, copy);
    inner.part = part;
    if (isWhole)
      inner.squares = squares;
    return inner.run();
  };
  if (failed(emit({squares.dim, begin, squares.end}, true)))
    return failure();
  if (constantOf(squares.end) && constantOf(squares.end) == constantOf(end))
    return success();
  fe.readers = readers;
  Value isLeft =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                            toValue(b, loc, squares.end), toValue(b, loc, end));
  auto branch = scf::IfOp::create(b, loc, isLeft, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  return emit({squares.dim, squares.end, end}, false);
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

/// Before the loops: what they ask for ahead, and what is outside of boxes.
LogicalResult NestEmitter::prepareSquares() {
  for (Squares::Read &read : squares->reads) {
    if (fe.loads.count(read.tensor))
      read.later = laterBlock(*read.view);
    if (read.view->isWhole())
      continue;
    read.pad = read.view->pad ? fe.mapScalar(read.view->pad)
                              : fe.zeroOf(read.view->elementType(), loc);
    if (!read.pad)
      return failure();
    read.pad = fe.toLanes(read.pad, squares->side);
  }
  return success();
}

/// Of streams, that each column of a square begins with a line if the first
/// one does.
Value NestEmitter::columnsAreLines(const View &view) {
  int64_t bits = view.elementType().getIntOrFloatBitWidth();
  Value stride = toValue(b, loc, view.strides[squares->dim]);
  Value within =
      arith::AndIOp::create(b, loc, stride, constant(lineBits / bits - 1));
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
  Value first = fe.address(view, at, -1, loc);
  SmallVector<Value> places, rows;
  for (int64_t row = 0; row < squares->lanes; ++row)
    places.push_back(
        toValue(b, loc,
                addIndex(b, loc, first,
                         mulIndex(b, loc, view.strides[read.rowDim],
                                  b.getIndexAttr(row)))));
  if (read.later && isFirst)
    prefetchLater(b, loc, view.base, places, *read.later, squares->columns);
  auto type = VectorType::get({squares->side}, view.elementType());
  Value mask =
      frame.interior ? Value() : fe.laneMask(view, at, read.rowDim, loc).lanes;
  for (auto [row, place] : llvm::enumerate(places)) {
    if (!mask) {
      rows.push_back(vector::LoadOp::create(b, loc, type, view.base, place));
      continue;
    }
    Value exists = vector::ExtractOp::create(
        b, loc, mask, ArrayRef{static_cast<int64_t>(row)});
    auto branch = scf::IfOp::create(b, loc, type, exists, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(
        b, loc,
        vector::LoadOp::create(b, loc, type, view.base, place).getResult());
    b.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(b, loc, read.pad);
    rows.push_back(branch.getResult(0));
  }
  return rows;
}

/// Vectors as one.
static Value join(OpBuilder &b, Location loc, SmallVector<Value> parts) {
  while (parts.size() > 1) {
    SmallVector<Value> next;
    int64_t lanes = cast<VectorType>(parts.front().getType()).getNumElements();
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, 2 * lanes));
    for (size_t i = 0; i < parts.size(); i += 2)
      next.push_back(
          vector::ShuffleOp::create(b, loc, parts[i], parts[i + 1], order));
    parts = next;
  }
  return parts.front();
}

/// `body`, a loop or what takes the place of one, for launches that stream and
/// for others: a square has many stores to choose for.
LogicalResult NestEmitter::byStreams(function_ref<LogicalResult()> body) {
  if (!squares || frame.streams.empty())
    return body();
  Value all;
  for (auto [output, isLarge] : large) {
    Value streams = frame.streams.lookup(&output->view);
    all =
        all ? arith::AndIOp::create(b, loc, all, streams).getResult() : streams;
  }
  auto branch = scf::IfOp::create(b, loc, all, /*withElseRegion=*/true);
  Level &outside = *frame.levels.back();
  if (!outside.hasLoop)
    outside.before = branch;
  outside.hasLoop = true;
  OpBuilder::InsertionGuard guard(b);
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    b.setInsertionPoint(block->getTerminator());
    for (auto &entry : frame.streams)
      entry.second = nullptr;
    if (failed(body()))
      return failure();
    frame.streams.clear();
  }
  return success();
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
      return join(b, loc, llvm::map_to_vector(transposed, [&](const auto &one) {
                    return one[i];
                  }));
    });
  };
  int64_t column = 0;
  return forRowsAtOnce([&] {
    if (column % side == 0)
      for (const Squares::Read &read : squares->reads)
        frame.squares[read.tensor] = transpose(read, column);
    frame.column = column++ % side;
    return emitElements();
  });
}
