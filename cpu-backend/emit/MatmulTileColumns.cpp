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

/// Tiles of rows with which one of columns is multiplied, and registers: sums,
/// then tiles of rows and of columns, in turn.
static constexpr int64_t mostRowTiles = 4, firstRows = 4, firstColumns = 6;

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

/// Rows of a as columns of tiles: for each 16 rows, and each step, a tile.
Value MatmulKernel::packRowTiles(Value rowTiles, Allocate allocate) const {
  int64_t most = std::min(m / tileSide, mostRowTiles);
  Type word = b.getI32Type();
  auto vector = VectorType::get(tileSide, word);
  Value packed = allocate(
      MemRefType::get({most, std::max(depthWithColumns(), unitDepth) / step,
                       tileSide, tileSide},
                      word));
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
  return packed;
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

/// The sums of 16 columns, from `column` on, with `count` tiles of rows, from
/// tile `first` on; meanwhile the next columns are asked for.
void MatmulKernel::emitTileColumns(Value packed, Value first, int64_t count,
                                   Value column, Value memory) const {
  const RowsInMemory &right = now.right;
  // The sums of one tile of rows wait for each other; two chains do less.
  int64_t chains = count == 1 && unitDepth % (2 * step) == 0 ? 2 : 1;
  for (int64_t sum = 0; sum < count * chains; ++sum)
    callTile(b, "tilezero", sum, {});
  TileMemory columns(b, right, packedBytes()), rows(b, packed);
  SmallVector<Value> later;
  for (int64_t i = 0; i < tileSide; ++i)
    later.push_back(addressOfRow(right, offsetBy(b, column, tileSide + i)));
  auto load = [&](int64_t tile, TileMemory &memory, ValueRange at) {
    callTile(b, "tileloadd64", tile,
             {memory.address(at), memory.rowDistance()});
  };
  auto loop = scf::ForOp::create(b, constant(0), now.steps, constant(chains));
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
      prefetchLines(later, arith::MulIOp::create(b, at, constant(tileRowBytes)),
                    tileRowBytes);
    }
  }
  for (int64_t sum = 0; sum < count * chains; ++sum) {
    int64_t number = sum / chains, chain = sum % chains;
    Value row = arith::MulIOp::create(b, offsetBy(b, first, number),
                                      constant(tileSide));
    addTransposed(sum, row, column, memory, chain == 0 ? now.isFirst : Value());
  }
}

void MatmulKernel::multiplyTileColumns(Allocate allocate) const {
  Value rowTiles =
      arith::CeilDivUIOp::create(b, now.wanted, constant(tileSide));
  configureTiles(allocate);
  Value packed = packRowTiles(rowTiles, allocate);
  Value memory = allocate(MemRefType::get({tileSide, tileSide}, sumElement));
  auto columns =
      scf::ForOp::create(b, constant(0), columnsEnd ? columnsEnd : constant(n),
                         constant(tileSide));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(columns.getBody());
    Value done = constant(0);
    for (int64_t count = mostRowTiles; count > 0; count /= 2) {
      if (count * tileSide > m)
        continue;
      Value left = arith::SubIOp::create(b, rowTiles, done),
            rest = arith::RemUIOp::create(b, left, constant(count)),
            last = arith::SubIOp::create(b, rowTiles, rest);
      auto loop = scf::ForOp::create(b, done, last, constant(count));
      done = last;
      OpBuilder::InsertionGuard inner(b);
      b.setInsertionPointToStart(loop.getBody());
      emitTileColumns(packed, loop.getInductionVar(), count,
                      columns.getInductionVar(), memory);
    }
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
