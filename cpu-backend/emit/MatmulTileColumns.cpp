//===- MatmulTileColumns.cpp - columns of b as rows of AMX's tiles --------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A tile of the left operand has rows that are contiguous along K, and so are
// columns of weights of N x K: 16 of them are loaded where they lie, and what
// is multiplied is the transpose, c^T = b^T * a^T. What has to be packed then
// is a, which has few rows; sums are transposed once for many steps. So weights
// are read once, as fast as memory gives them.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Matmul.h"
#include "cpu-backend/emit/TileCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Rows of which vectors multiply each with a column sooner than a is packed.
static constexpr int64_t mostByVectors = 4;

/// Tiles of rows with which one of columns is multiplied, at once and in all,
/// and registers: sums, then tiles of rows and of columns, in turn.
static constexpr int64_t tilesAtOnce = 4, mostRowTiles = 8, firstRows = 4,
                         firstColumns = 6;

/// Tiles of rows all of whose steps are multiplied at once.
static constexpr int64_t fewTiles = 2;

bool MatmulKernel::hasTileColumns() const {
  return usesTiles() && step * packedBytes() == tileRowBytes &&
         rhsElement.getIntOrFloatBitWidth() ==
             packedElement.getIntOrFloatBitWidth() &&
         (unit == MatmulUnit::I8Tiles || rhsElement.isBF16());
}

/// The kernel whose vectors multiply few rows with columns instead of tiles.
std::optional<MatmulKernel> MatmulKernel::withVectors() const {
  MatmulKernel result = *this;
  result.step = group;
  if (unit == MatmulUnit::Bf16Tiles && settings.target.hasBf16Pairs)
    result.unit = MatmulUnit::Bf16Pairs;
  else if (unit == MatmulUnit::I8Tiles && settings.target.hasI16Pairs &&
           !settings.isUnsigned)
    result.unit = MatmulUnit::I8Quads;
  else
    return std::nullopt;
  return result;
}

int64_t MatmulKernel::rowsBesideTiles(bool waits) const {
  if (waits && hasTileColumns())
    return std::min(m, mostRowTiles * tileSide);
  std::optional<MatmulKernel> kernel = withVectors();
  return kernel ? std::min(kernel->rowsWithColumns(waits), mostByVectors) : 0;
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

/// Packed rows: what the program before has left, if these were its rows.
Value MatmulKernel::packRowTiles(Value rowTiles, Allocate allocate) const {
  if (!now.kept) {
    Value packed = allocate(tilesOfRows());
    fillRowTiles(rowTiles, packed);
    return packed;
  }
  const KeptRows &kept = *now.kept;
  auto isEqual = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
  };
  auto both = [&](Value x, Value y) -> Value {
    return arith::AndIOp::create(b, x, y);
  };
  auto get = [&](Value word) -> Value {
    return arith::IndexCastOp::create(
        b, b.getIndexType(), memref::LoadOp::create(b, kept.state, word));
  };
  auto put = [&](Value value, Value word) {
    memref::StoreOp::create(
        b, arith::IndexCastOp::create(b, b.getI64Type(), value), kept.state,
        word);
  };
  // The address that the first product's rows have where this one's go on.
  Value before = arith::MulIOp::create(
            b, kept.number, constant(depthWithColumns() * packedBytes())),
        start = arith::SubIOp::create(b, now.rows.address, before);
  Value keys[] = {start, now.rows.rowBytes, now.wanted};
  auto keyWord = [&](size_t i) {
    return constant(kept.firstWord + static_cast<int64_t>(i));
  };
  int64_t firstSlot = kept.firstWord + static_cast<int64_t>(std::size(keys));
  Value isKept = both(kept.isStable,
                      arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                            kept.number, constant(kept.slots))),
        slot = arith::SelectOp::create(b, isKept, kept.number,
                                       constant(kept.slots)),
        isSame = isKept;
  for (auto [i, key] : llvm::enumerate(keys))
    isSame = both(isSame, isEqual(key, get(keyWord(i))));
  // What is not kept has a word of the last slot, which nobody uses.
  Value last = arith::MinUIOp::create(b, slot, constant(kept.slots - 1)),
        stepsWord = offsetBy(b, last, firstSlot);
  Value isThere =
      both(isSame, arith::CmpIOp::create(b, arith::CmpIPredicate::uge,
                                         get(stepsWord), now.steps));
  Value packed = sliceOf(b, kept.memory, slot);
  auto otherwise = scf::IfOp::create(b, isThere, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(otherwise.elseBlock());
  fillRowTiles(rowTiles, packed);
  auto note = scf::IfOp::create(b, isKept, /*withElseRegion=*/false);
  b.setInsertionPointToStart(note.thenBlock());
  auto others = scf::IfOp::create(b, isSame, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(others.elseBlock());
    for (auto [i, key] : llvm::enumerate(keys))
      put(key, keyWord(i));
    for (int64_t i = 0; i < kept.slots; ++i)
      put(constant(0), constant(firstSlot + i));
  }
  put(now.steps, stepsWord);
  return packed;
}

/// Rows of a as columns of tiles: for each 16 rows, and each step, a tile.
void MatmulKernel::fillRowTiles(Value rowTiles, Value packed) const {
  auto vector = VectorType::get(tileSide, b.getI32Type());
  auto groups = scf::ForOp::create(b, constant(0), rowTiles, constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(groups.getBody());
  Value number = groups.getInductionVar(),
        first = arith::MulIOp::create(b, number, constant(tileSide));
  SmallVector<Value> rows;
  for (int64_t i = 0; i < tileSide; ++i)
    rows.push_back(addressOfRow(now.rows, lastWanted(offsetBy(b, first, i))));
  auto steps = scf::ForOp::create(b, constant(0), now.steps, constant(1));
  b.setInsertionPointToStart(steps.getBody());
  Value at = steps.getInductionVar(),
        begin = arith::MulIOp::create(b, at, constant(tileSide));
  SmallVector<Value> square;
  for (Value row : rows)
    square.push_back(loadRow(row, begin, vector));
  transposeSquare(b, square);
  for (auto [i, words] : llvm::enumerate(square))
    vector::StoreOp::create(
        b, words, packed,
        ValueRange{number, at, constant(static_cast<int64_t>(i)), constant(0)});
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

/// The products of 16 columns, from `column` on, with `count` tiles of rows,
/// from tile `first` on; meanwhile the next columns are asked for.
void MatmulKernel::emitTileColumns(const TileColumns &all, Value first,
                                   int64_t count, Value column) const {
  // The sums of one tile of rows wait for each other; two chains do less.
  int64_t chains = count == 1 && unitDepth % (2 * step) == 0 ? 2 : 1;
  TileMemory columns(b, now.right, packedBytes()), rows(b, all.rows);
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
  SmallVector<Value> later;
  for (int64_t i = 0; i < tileSide; ++i)
    later.push_back(addressOfRow(now.right, offsetBy(b, all.later, i)));
  auto load = [&](int64_t tile, TileMemory &memory, ValueRange at) {
    callTile(b, "tileloadd64", tile,
             {memory.address(at), memory.rowDistance()});
  };
  auto loop = scf::ForOp::create(b, all.begin, all.end, constant(chains));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    for (int64_t chain = 0; chain < chains; ++chain) {
      Value at = offsetBy(b, loop.getInductionVar(), chain),
            depth = arith::MulIOp::create(b, at, constant(step));
      load(firstColumns + chain, columns, {column, depth});
      for (int64_t number = 0; number < count; ++number) {
        int64_t tileOfRows = firstRows + (number + chain) % 2;
        load(tileOfRows, rows,
             {offsetBy(b, first, number), at, constant(0), constant(0)});
        callTile(b, nameOfProduct(),
                 {number + chain, firstColumns + chain, tileOfRows}, {});
      }
      Value ahead = arith::AddIOp::create(b, at, all.stepsAhead);
      prefetchLines(later,
                    arith::MulIOp::create(b, ahead, constant(tileRowBytes)),
                    tileRowBytes);
    }
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
  for (int64_t count = tilesAtOnce; count > 0; count /= 2) {
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
  Value isFew = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, now.wanted,
                                      constant(mostByVectors));
  auto branch = scf::IfOp::create(b, isFew, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  multiplyByVectors();
  b.setInsertionPointToStart(branch.elseBlock());
  multiplyByTiles();
}
