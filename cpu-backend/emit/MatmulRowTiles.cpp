//===- MatmulRowTiles.cpp - rows of a as columns of AMX's tiles -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What is multiplied with columns of b where these lie: see
// MatmulTileColumns.cpp. Programs that share rows of a find them packed.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Matmul.h"
#include "cpu-backend/emit/TileCalls.h"
#include "cpu-backend/emit/TransposeSquare.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Packed rows: what the program before has left, if these were its rows.
Value MatmulKernel::packRowTiles(Value rowTiles, Allocate allocate) const {
  if (!now.kept) {
    Value packed = allocate(tilesOfRows());
    fillRowTiles(rowTiles, packed);
    return packed;
  }
  const KeptRows &kept = *now.kept;
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
  square = transposeSquare(b, b.getLoc(), square);
  for (auto [i, words] : llvm::enumerate(square))
    vector::StoreOp::create(
        b, words, packed,
        ValueRange{number, at, constant(static_cast<int64_t>(i)), constant(0)});
}
