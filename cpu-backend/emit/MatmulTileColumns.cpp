//===- MatmulTileColumns.cpp - columns of b as rows of AMX's tiles --------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A tile of the left operand has rows that are contiguous along K, and so are
// columns of weights of N x K: 16 of them are loaded where they lie, and what
// is multiplied is the transpose, c^T = b^T * a^T. What has to be packed then
// is a, which has few rows (MatmulRowTiles.cpp); sums are transposed once for
// many steps. So weights are read once, as fast as memory gives them. Columns
// of 8 bits become bf16 in between, two steps at once: while these are
// multiplied, the next two are converted.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Matmul.h"
#include "cpu-backend/emit/TileCalls.h"
#include "cpu-backend/emit/TransposeSquare.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Tiles of rows with which one of columns is multiplied, at once and in all,
/// in all where rows have to be copied before they are packed, and registers:
/// sums, then tiles of rows and of columns, in turn.
static constexpr int64_t tilesAtOnce = 4, mostRowTiles = 8, mostCopied = 3,
                         firstRows = 4, firstColumns = 6;

/// Tiles of rows all of whose steps are multiplied at once.
static constexpr int64_t fewTiles = 2;

bool MatmulKernel::hasTileColumns() const {
  if (!usesTiles() || step * packedBytes() != tileRowBytes)
    return false;
  if (unit == MatmulUnit::I8Tiles || rhsElement.isBF16())
    return true;
  bool isQuick = looksUp(rhsElement) ||
                 (rhsElement.isInteger(8) && settings.target.hasBf16Pairs);
  return isQuick && unitDepth % lanesOfLookup == 0;
}

bool MatmulKernel::convertsTiles() const {
  return rhsElement.getIntOrFloatBitWidth() !=
         packedElement.getIntOrFloatBitWidth();
}

/// One block of columns has so many steps that their sums are worth being
/// transposed for a tile of rows: half of what it takes to transpose the
/// columns.
bool MatmulKernel::hasLongColumns() const {
  constexpr int64_t leastDepth = 128;
  return hasTileColumns() && unitDepth >= leastDepth;
}

/// The kernel whose vectors multiply few rows with columns instead of tiles.
std::optional<MatmulKernel> MatmulKernel::withVectors() const {
  MatmulKernel result = *this;
  result.step = group;
  result.mostTogether = mostByVectors(/*waits=*/true);
  if (unit == MatmulUnit::Bf16Tiles && rhsElement.isInteger(8)) {
    // As f32: two thirds of the time of rounding them to bf16 first.
    result.unit = MatmulUnit::MultiplyAdd;
    result.rowElement = b.getBF16Type();
    result.packedElement = sumElement;
    result.group = result.step = 1;
  } else if (unit == MatmulUnit::Bf16Tiles && settings.target.hasBf16Pairs)
    result.unit = MatmulUnit::Bf16Pairs;
  else if (unit == MatmulUnit::I8Tiles && settings.target.hasI16Pairs &&
           !settings.isUnsigned)
    result.unit = MatmulUnit::I8Quads;
  else
    return std::nullopt;
  return result;
}

/// Rows that vectors multiply with a column sooner than it is packed, and, if
/// it `waits`, than tiles do, or as soon. (A Xeon with AMX and weights of 4096
/// x 4096.)
int64_t MatmulKernel::mostByVectors(bool waits) const {
  if (!waits || unit == MatmulUnit::I8Tiles)
    return convertsTiles() ? 2 : 4;
  return looksUp(rhsElement) ? 1 : 2;
}

int64_t MatmulKernel::rowsBesideTiles(bool waits, bool isInPlace) const {
  if (waits && hasTileColumns())
    return std::min(m, (isInPlace ? mostRowTiles : mostCopied) * tileSide);
  if (hasLongColumns())
    return std::min(m, tileSide);
  std::optional<MatmulKernel> kernel = withVectors();
  return kernel ? std::min(kernel->rowsWithColumns(waits), mostByVectors(waits))
                : 0;
}

StringRef MatmulKernel::nameOfProduct() const {
  if (unit == MatmulUnit::Bf16Tiles)
    return "tdpbf16ps";
  return settings.isUnsigned ? "tdpbuud" : "tdpbssd";
}

MemRefType MatmulKernel::tilesOfRows() const {
  if (!hasTileColumns())
    return {};
  int64_t most = std::min(m / tileSide, mostRowTiles);
  return MemRefType::get({most, std::max(depthWithColumns(), unitDepth) / step,
                          tileSide, tileSide},
                         b.getI32Type());
}

bool MatmulKernel::hasParts() const { return m > fewTiles * tileSide; }

/// Where the sums of 16 columns with a tile of rows wait.
SmallVector<Value> MatmulKernel::placeOfSums(Value number, Value column) const {
  Value group = hasParts()
                    ? arith::DivUIOp::create(b, column, constant(tileSide))
                    : constant(0),
        tile = arith::RemUIOp::create(b, number, constant(tilesAtOnce));
  return {group, tile, constant(0), constant(0)};
}

/// Adds the sums of the second chain to those of the first.
void MatmulKernel::addSecondChain(const TileColumns &all, Value number,
                                  Value column) const {
  auto type = VectorType::get(tileSide, sumElement);
  auto loop =
      scf::ForOp::create(b, constant(0), constant(tileSide), constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> chains[] = {placeOfSums(number, column),
                                 placeOfSums(offsetBy(b, number, 1), column)};
  for (SmallVector<Value> &place : chains)
    place[2] = loop.getInductionVar();
  Value sum = add(vector::LoadOp::create(b, type, all.sums, chains[0]),
                  vector::LoadOp::create(b, type, all.sums, chains[1]));
  vector::StoreOp::create(b, sum, all.sums, chains[0]);
}

/// Adds up the tiles of sums that 16 columns, from `column` on, have with rows,
/// from tile `first` to tile `last`. One after another: a transposed tile is
/// much code.
void MatmulKernel::addTransposed(const TileColumns &all, Value first,
                                 Value last, Value column) const {
  auto type = VectorType::get(tileSide, sumElement);
  SmallVector<Type> types(tileSide, type);
  auto loop = scf::ForOp::create(b, first, last, constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar(),
        row = arith::MulIOp::create(b, number, constant(tileSide));
  SmallVector<Value> place = placeOfSums(number, column), square;
  for (int64_t i = 0; i < tileSide; ++i) {
    place[2] = constant(i);
    square.push_back(vector::LoadOp::create(b, type, all.sums, place));
  }
  square = transposeSquare(b, b.getLoc(), square);
  auto placeIn = [&](int64_t i) -> SmallVector<Value> {
    return {offsetBy(b, row, i), column};
  };
  SmallVector<Value> before = zeroOr(now.isFirst, types, [&] {
    return llvm::map_to_vector(
        llvm::seq<int64_t>(0, tileSide), [&](int64_t i) -> Value {
          return vector::LoadOp::create(b, type, now.acc, placeIn(i));
        });
  });
  for (int64_t i = 0; i < tileSide; ++i)
    vector::StoreOp::create(b, add(before[i], square[i]), now.acc, placeIn(i));
}

/// Which of the two places in memory the tiles of a step have.
static Value halfOf(ImplicitLocOpBuilder &b, Value at) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  return arith::RemUIOp::create(b, arith::DivUIOp::create(b, at, constant(2)),
                                constant(2));
}

/// Two tiles of the columns, from step `at` on, as what is multiplied.
void MatmulKernel::fillColumnTiles(const TileColumns &all, Value at) const {
  auto row = VectorType::get(step, packedElement);
  Value half = halfOf(b, at),
        depth = arith::MulIOp::create(b, at, constant(step));
  for (auto [i, address] : llvm::enumerate(all.own)) {
    Value both = columnVector(address, depth, lanesOfLookup);
    for (int64_t part = 0; part < lanesOfLookup / step; ++part) {
      Value some = vector::ExtractStridedSliceOp::create(
          b, both, ArrayRef<int64_t>{part * step}, ArrayRef<int64_t>{step},
          ArrayRef<int64_t>{1});
      vector::StoreOp::create(
          b, vector::BitCastOp::create(b, row, some), all.columns,
          ValueRange{half, constant(part), constant(static_cast<int64_t>(i)),
                     constant(0)});
    }
  }
}

/// The products of 16 columns, from `column` on, with `count` tiles of rows,
/// from tile `first` on, as tiles of sums in memory; meanwhile the next columns
/// are asked for.
void MatmulKernel::emitTileColumns(const TileColumns &all, Value first,
                                   int64_t count, Value column) const {
  // The sums of one tile of rows wait for each other; two chains do less.
  int64_t chains = count == 1 && unitDepth % (2 * step) == 0 ? 2 : 1,
          together = convertsTiles() ? lanesOfLookup / step : chains;
  TileMemory columns = convertsTiles()
                           ? TileMemory(b, all.columns)
                           : TileMemory(b, now.right, packedBytes());
  TileMemory rows(b, all.rows), sums(b, all.sums);
  auto forSums = [&](StringRef name) {
    for (int64_t sum = 0; sum < count * chains; ++sum)
      callTile(b, name, sum,
               {sums.address(placeOfSums(offsetBy(b, first, sum), column)),
                sums.rowDistance()});
  };
  auto setZero = [&] {
    for (int64_t sum = 0; sum < count * chains; ++sum)
      callTile(b, "tilezero", sum, {});
  };
  if (hasParts()) {
    auto branch = scf::IfOp::create(b, isEqual(all.begin, constant(0)),
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    setZero();
    b.setInsertionPointToStart(branch.elseBlock());
    forSums("tileloadd64");
  } else {
    setZero();
  }
  auto load = [&](int64_t tile, TileMemory &memory, ValueRange at) {
    callTile(b, "tileloadd64", tile,
             {memory.address(at), memory.rowDistance()});
  };
  auto loop = scf::ForOp::create(b, all.begin, all.end, constant(together));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    int64_t stepBytes = step * rhsElement.getIntOrFloatBitWidth() / 8;
    Value begin = loop.getInductionVar();
    if (convertsTiles()) {
      Value next = offsetBy(b, begin, together);
      auto isThere = scf::IfOp::create(
          b, arith::CmpIOp::create(b, arith::CmpIPredicate::ult, next, all.end),
          /*withElseRegion=*/false);
      OpBuilder::InsertionGuard inner(b);
      b.setInsertionPointToStart(isThere.thenBlock());
      fillColumnTiles(all, next);
    }
    for (int64_t part = 0; part < together; ++part) {
      Value at = offsetBy(b, begin, part);
      int64_t tileOfColumns = firstColumns + part, chain = part % chains;
      if (convertsTiles())
        load(tileOfColumns, columns,
             {halfOf(b, begin), constant(part), constant(0), constant(0)});
      else
        load(tileOfColumns, columns,
             {column, arith::MulIOp::create(b, at, constant(step))});
      for (int64_t number = 0; number < count; ++number) {
        int64_t tileOfRows = firstRows + (number + part) % 2;
        load(tileOfRows, rows,
             {offsetBy(b, first, number), at, constant(0), constant(0)});
        callTile(b, nameOfProduct(),
                 {number + chain, tileOfColumns, tileOfRows}, {});
      }
    }
    Value ahead = arith::AddIOp::create(b, begin, all.stepsAhead);
    prefetchLines(all.later,
                  arith::MulIOp::create(b, ahead, constant(stepBytes)),
                  together * stepBytes);
  }
  forSums("tilestored64");
  if (chains == 2)
    addSecondChain(all, first, column);
}

/// Up to four tiles of rows, from tile `first` to tile `last`, with all
/// columns. More than two do not fit into the nearest cache: they are
/// multiplied in parts that do, a part with all columns. From the next cache
/// they would come no faster than they are multiplied, and would take the place
/// of what is under way from memory.
void MatmulKernel::multiplyRowTiles(TileColumns all, Value first,
                                    Value last) const {
  constexpr int64_t partSteps = 8;
  OpBuilder::InsertionGuard guard(b);
  all.begin = all.stepsAhead = constant(0);
  all.end = now.steps;
  Value isInParts;
  if (hasParts()) {
    isInParts = arith::CmpIOp::create(b, arith::CmpIPredicate::ugt,
                                      arith::SubIOp::create(b, last, first),
                                      constant(fewTiles));
    Value part =
        arith::SelectOp::create(b, isInParts, constant(partSteps), now.steps);
    auto parts = scf::ForOp::create(b, constant(0), now.steps, part);
    b.setInsertionPointToStart(parts.getBody());
    all.begin = parts.getInductionVar();
    all.end = arith::MinUIOp::create(
        b, arith::AddIOp::create(b, all.begin, part), now.steps);
  }
  Value end = columnsEnd ? columnsEnd : constant(n);
  auto columns = scf::ForOp::create(b, constant(0), end, constant(tileSide));
  b.setInsertionPointToStart(columns.getBody());
  Value column = columns.getInductionVar();
  Value later = offsetBy(b, column, tileSide);
  if (isInParts) {
    // Behind the last columns of a part comes the next part of the first ones.
    Value isLast = arith::AndIOp::create(
        b, isInParts,
        arith::CmpIOp::create(b, arith::CmpIPredicate::uge, later, end));
    later = arith::SelectOp::create(b, isLast, constant(0), later);
    all.stepsAhead =
        arith::SelectOp::create(b, isLast, constant(partSteps), constant(0));
  }
  all.later = addressesOfColumns(later, tileSide);
  if (convertsTiles()) {
    all.own = addressesOfColumns(column, tileSide);
    fillColumnTiles(all, all.begin);
  }
  Value done = first;
  for (int64_t count = tilesAtOnce; count > 0; --count) {
    if (count * tileSide > m)
      continue;
    Value left = arith::SubIOp::create(b, last, done),
          rest = arith::RemUIOp::create(b, left, constant(count)),
          whole = arith::SubIOp::create(b, last, rest);
    auto loop = scf::ForOp::create(b, done, whole, constant(count));
    done = whole;
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(loop.getBody());
    emitTileColumns(all, loop.getInductionVar(), count, column);
  }
  if (hasParts()) {
    auto isDone = scf::IfOp::create(b, isEqual(all.end, now.steps),
                                    /*withElseRegion=*/false);
    b.setInsertionPointToStart(isDone.thenBlock());
  }
  addTransposed(all, first, last, column);
}

void MatmulKernel::multiplyTileColumns(Allocate allocate) const {
  Value rowTiles =
      arith::CeilDivUIOp::create(b, now.wanted, constant(tileSide));
  configureTiles(allocate);
  TileColumns all;
  all.rows = packRowTiles(rowTiles, allocate);
  if (convertsTiles())
    all.columns = allocate(MemRefType::get(
        {2, lanesOfLookup / step, tileSide, step}, packedElement));
  all.sums = allocate(
      MemRefType::get({hasParts() ? n / tileSide : 1,
                       hasParts() ? tilesAtOnce : fewTiles, tileSide, tileSide},
                      sumElement));
  if (m <= tilesAtOnce * tileSide) {
    multiplyRowTiles(all, constant(0), rowTiles);
  } else {
    auto groups =
        scf::ForOp::create(b, constant(0), rowTiles, constant(tilesAtOnce));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(groups.getBody());
    Value first = groups.getInductionVar();
    multiplyRowTiles(
        all, first,
        arith::MinUIOp::create(b, offsetBy(b, first, tilesAtOnce), rowTiles));
  }
  releaseTiles();
}

/// Few rows with columns, in a kernel whose other products are of tiles.
void MatmulKernel::multiplyColumnsBesideTiles(Allocate allocate) const {
  std::optional<MatmulKernel> vectors = withVectors();
  bool byVectors = vectors && vectors->rowsWithColumns(settings.isInLoop) > 0,
       byTiles = hasLongColumns() || (settings.isInLoop && hasTileColumns());
  auto multiplyByVectors = [&] {
    vectors->multiplyColumns(now.acc, now.rows, now.right, now.steps,
                             now.wanted, now.isFirst, allocate);
  };
  auto multiplyByTiles = [&] {
    now.steps = arith::DivUIOp::create(b, now.steps, constant(step));
    multiplyTileColumns(allocate);
  };
  if (!byTiles || !byVectors)
    return byTiles ? multiplyByTiles() : multiplyByVectors();
  // One iteration's steps are too few for tiles, whose sums are transposed.
  Value isShort = arith::CmpIOp::create(b, arith::CmpIPredicate::ule, now.steps,
                                        constant(unitDepth)),
        most =
            arith::SelectOp::create(b, isShort, constant(mostByVectors(false)),
                                    constant(mostByVectors(true))),
        isFew = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, now.wanted,
                                      most);
  emitChoice(b, isFew, multiplyByVectors, multiplyByTiles);
}
