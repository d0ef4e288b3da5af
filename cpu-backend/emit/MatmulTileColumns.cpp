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

/// The kernel whose vectors multiply few rows with columns instead of tiles.
std::optional<MatmulKernel> MatmulKernel::withVectors() const {
  MatmulKernel result = *this;
  result.step = group;
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

/// Adds what a tile of sums has of 16 columns, from `column` on, with 16 rows.
void MatmulKernel::addTransposed(int64_t sums, Value row, Value column,
                                 Value memory, Value isFirst) const {
  auto type = VectorType::get(tileSide, sumElement);
  TileMemory transposed(b, memory);
  callTile(b, "tilestored64", sums,
           {transposed.address({constant(0), constant(0)}),
            transposed.rowDistance()});
  SmallVector<Value> square;
  for (int64_t i = 0; i < tileSide; ++i)
    square.push_back(vector::LoadOp::create(
        b, type, memory, ValueRange{constant(i), constant(0)}));
  transposeSquare(b, square);
  SmallVector<Type> types(tileSide, type);
  auto place = [&](int64_t i) -> SmallVector<Value> {
    return {offsetBy(b, row, i), column};
  };
  SmallVector<Value> before = zeroOr(isFirst, types, [&] {
    return llvm::map_to_vector(
        llvm::seq<int64_t>(0, tileSide), [&](int64_t i) -> Value {
          return vector::LoadOp::create(b, type, now.acc, place(i));
        });
  });
  for (int64_t i = 0; i < tileSide; ++i)
    vector::StoreOp::create(b, add(before[i], square[i]), now.acc, place(i));
}

/// Which of the two places in memory the tiles of a step have.
static Value halfOf(ImplicitLocOpBuilder &b, Value at) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  return arith::RemUIOp::create(b, arith::DivUIOp::create(b, at, constant(2)),
                                constant(2));
}

/// Two tiles of some columns, from step `at` on, as what is multiplied.
void MatmulKernel::fillColumnTiles(ArrayRef<Value> columns, Value at,
                                   Value tiles) const {
  auto row = VectorType::get(step, packedElement);
  Value half = halfOf(b, at),
        depth = arith::MulIOp::create(b, at, constant(step));
  for (auto [i, address] : llvm::enumerate(columns)) {
    Value all = columnVector(address, depth, lanesOfLookup);
    for (int64_t part = 0; part < lanesOfLookup / step; ++part) {
      Value some = vector::ExtractStridedSliceOp::create(
          b, all, ArrayRef<int64_t>{part * step}, ArrayRef<int64_t>{step},
          ArrayRef<int64_t>{1});
      vector::StoreOp::create(b, vector::BitCastOp::create(b, row, some), tiles,
                              ValueRange{half, constant(part),
                                         constant(static_cast<int64_t>(i)),
                                         constant(0)});
    }
  }
}

/// The products of 16 columns, from `column` on, with `count` tiles of rows,
/// from tile `first` on; meanwhile the next columns are asked for.
void MatmulKernel::emitTileColumns(const TileColumns &all, Value first,
                                   int64_t count, Value column) const {
  // The sums of one tile of rows wait for each other; two chains do less.
  int64_t chains = count == 1 && unitDepth % (2 * step) == 0 ? 2 : 1,
          together = convertsTiles() ? lanesOfLookup / step : chains;
  TileMemory columns = convertsTiles()
                           ? TileMemory(b, all.columns)
                           : TileMemory(b, now.right, packedBytes());
  TileMemory rows(b, all.rows);
  auto forSums = [&](StringRef name) {
    TileMemory sums(b, all.sums);
    Value group = arith::DivUIOp::create(b, column, constant(tileSide));
    Value place = arith::RemUIOp::create(b, first, constant(tilesAtOnce));
    for (int64_t sum = 0; sum < count * chains; ++sum)
      callTile(b, name, sum,
               {sums.address(
                    {group, offsetBy(b, place, sum), constant(0), constant(0)}),
                sums.rowDistance()});
  };
  // All steps at once have no other parts.
  auto ifEqual = [&](Value x, Value y, llvm::function_ref<void()> then,
                     llvm::function_ref<void()> otherwise) {
    if (!all.sums)
      return then();
    auto branch = scf::IfOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y),
        /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    then();
    b.setInsertionPointToStart(branch.elseBlock());
    otherwise();
  };
  ifEqual(
      all.begin, constant(0),
      [&] {
        for (int64_t sum = 0; sum < count * chains; ++sum)
          callTile(b, "tilezero", sum, {});
      },
      [&] { forSums("tileloadd64"); });
  auto columnsFrom = [&](Value from) {
    return llvm::map_to_vector(llvm::seq<int64_t>(0, tileSide), [&](int64_t i) {
      return addressOfRow(now.right, offsetBy(b, from, i));
    });
  };
  SmallVector<Value> later = columnsFrom(all.later), own;
  if (convertsTiles()) {
    own = columnsFrom(column);
    fillColumnTiles(own, all.begin, all.columns);
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
      fillColumnTiles(own, next, all.columns);
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
    prefetchLines(later, arith::MulIOp::create(b, ahead, constant(stepBytes)),
                  together * stepBytes);
  }
  auto addAll = [&] {
    for (int64_t sum = 0; sum < count * chains; ++sum) {
      int64_t number = sum / chains, chain = sum % chains;
      Value row = arith::MulIOp::create(b, offsetBy(b, first, number),
                                        constant(tileSide));
      addTransposed(sum, row, column, all.square,
                    chain == 0 ? now.isFirst : Value());
    }
  };
  ifEqual(all.end, now.steps, addAll, [&] { forSums("tilestored64"); });
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
  if (all.sums) {
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
  all.later = offsetBy(b, column, tileSide);
  if (isInParts) {
    // Behind the last columns of a part comes the next part of the first ones.
    Value isLast = arith::AndIOp::create(
        b, isInParts,
        arith::CmpIOp::create(b, arith::CmpIPredicate::uge, all.later, end));
    all.later = arith::SelectOp::create(b, isLast, constant(0), all.later);
    all.stepsAhead =
        arith::SelectOp::create(b, isLast, constant(partSteps), constant(0));
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
}

void MatmulKernel::multiplyTileColumns(Allocate allocate) const {
  Value rowTiles =
      arith::CeilDivUIOp::create(b, now.wanted, constant(tileSide));
  configureTiles(allocate);
  TileColumns all;
  all.rows = packRowTiles(rowTiles, allocate);
  all.square = allocate(MemRefType::get({tileSide, tileSide}, sumElement));
  if (convertsTiles())
    all.columns = allocate(MemRefType::get(
        {2, lanesOfLookup / step, tileSide, step}, packedElement));
  if (m > fewTiles * tileSide)
    all.sums = allocate(MemRefType::get(
        {n / tileSide, tilesAtOnce, tileSide, tileSide}, sumElement));
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
       byTiles = settings.isInLoop && hasTileColumns();
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
  auto branch = scf::IfOp::create(b, isFew, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  multiplyByVectors();
  b.setInsertionPointToStart(branch.elseBlock());
  multiplyByTiles();
}
