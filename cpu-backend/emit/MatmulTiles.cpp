//===- MatmulTiles.cpp - the micro-kernel of AMX --------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Eight registers of 16 rows x 64 bytes: up to two tiles of a, two of b and
// four of sums. Those of b are rows of a panel, where the elements that one
// lane adds up are beside each other already. Registers are named here, and
// configured before each product: LLVM's allocation of them (the intrinsics
// called `internal`) forgets the shapes of some where their sizes were in
// registers that it has split.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Matmul.h"
#include "cpu-backend/emit/TileCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge::cpu;

TileMemory::TileMemory(ImplicitLocOpBuilder &b, Value memref) : b(b) {
  auto type = cast<MemRefType>(memref.getType());
  bytes = type.getElementTypeBitWidth() / 8;
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  for (auto [known, stride] :
       llvm::zip_equal(type.getStridesAndOffset().first, metadata.getStrides()))
    strides.push_back(
        ShapedType::isDynamic(known)
            ? Value(stride)
            : arith::ConstantIndexOp::create(b, known).getResult());
  base = arith::AddIOp::create(
      b, memref::ExtractAlignedPointerAsIndexOp::create(b, memref),
      inBytes(metadata.getOffset()));
}

Value TileMemory::address(ValueRange indices) {
  if (rowBytes)
    return asPointer(arith::AddIOp::create(
        b,
        arith::AddIOp::create(b, base,
                              arith::MulIOp::create(b, indices[0], rowBytes)),
        inBytes(indices[1])));
  Value at = base;
  for (auto [index, stride] : llvm::zip_equal(indices, strides))
    at = arith::AddIOp::create(
        b, at, inBytes(arith::MulIOp::create(b, index, stride)));
  return asPointer(at);
}

Value TileMemory::rowDistance() {
  return asI64(rowBytes ? rowBytes : inBytes(strides[strides.size() - 2]));
}

Value TileMemory::inBytes(Value elements) {
  return arith::MulIOp::create(b, elements,
                               arith::ConstantIndexOp::create(b, bytes));
}

Value TileMemory::asPointer(Value address) {
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                  asI64(address));
}

Value TileMemory::asI64(Value index) {
  return arith::IndexCastOp::create(b, b.getI64Type(), index);
}

/// Numbers of the registers.
static int64_t sumRegister(size_t row, size_t column) {
  return static_cast<int64_t>(2 * row + column);
}
static constexpr int64_t firstRight = 4, firstLeft = 6;

void tilebridge::cpu::callTile(ImplicitLocOpBuilder &b, const llvm::Twine &name,
                               ArrayRef<int64_t> tiles, ValueRange operands) {
  SmallVector<Value> all;
  for (int64_t number : tiles)
    all.push_back(arith::ConstantOp::create(b, b.getI8IntegerAttr(number)));
  all.append(operands.begin(), operands.end());
  LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.x86." + name), all);
}

/// Says how many rows and bytes each register has.
void MatmulKernel::configureTiles(Allocate allocate) const {
  constexpr int64_t bytes = tileRowBytes;
  SmallVector<int8_t> config(bytes, 0);
  config[0] = 1; // The palette: 8 registers of up to 16 rows of 64 bytes.
  auto setShape = [&](int64_t number, int64_t rows, int64_t rowBytes) {
    config[16 + 2 * number] = static_cast<int8_t>(rowBytes);
    config[48 + number] = static_cast<int8_t>(rows);
  };
  for (int64_t number = 0; number < firstRight; ++number)
    setShape(number, tileSide, bytes);
  int64_t depthBytes = step * packedElement.getIntOrFloatBitWidth() / 8;
  for (int64_t i = 0; i < 2; ++i) {
    setShape(firstRight + i, step / group, bytes);
    setShape(firstLeft + i, tileSide, depthBytes);
  }
  Value memory = allocate(MemRefType::get({bytes}, b.getI8Type()));
  auto type = VectorType::get({bytes}, b.getI8Type());
  vector::StoreOp::create(
      b,
      arith::ConstantOp::create(
          b, DenseElementsAttr::get(type, ArrayRef<int8_t>(config))),
      memory, ValueRange{constant(0)});
  callTile(b, "ldtilecfg", {}, TileMemory(b, memory).address({constant(0)}));
}

void MatmulKernel::releaseTiles() const { callTile(b, "tilerelease", {}, {}); }

/// The products of tile.rows rows of a with one panel.
void MatmulKernel::emitTilesOfRow(Value panel, Value column, Value row) const {
  TileMemory acc(b, now.acc), rhs(b, now.rhs);
  TileMemory lhs = now.rows.address ? TileMemory(b, now.rows, packedBytes())
                                    : TileMemory(b, now.lhs);
  auto load = [&](int64_t number, TileMemory &memory, ValueRange at) {
    callTile(b, "tileloadd64", number,
             {memory.address(at), memory.rowDistance()});
  };
  auto loadLeft = [&](int64_t number, Value row, Value depth) {
    if (!rowTiles)
      return load(number, lhs, {row, depth});
    Value tile = arith::DivUIOp::create(b, row, constant(tileSide)),
          iteration = arith::DivUIOp::create(b, depth, constant(unitDepth)),
          within = arith::RemUIOp::create(b, depth, constant(unitDepth));
    auto field = [&](int64_t i) -> Value {
      Value word = memref::LoadOp::create(
          b, rowTiles, ValueRange{tile, iteration, constant(i)});
      return arith::IndexCastOp::create(b, b.getIndexType(), word);
    };
    TileMemory place(b, RowsInMemory{field(0), field(1)}, packedBytes());
    load(number, place, {constant(0), within});
  };
  SmallVector<Value> rows, columns;
  for (int64_t i = 0; i < tile.rows; i += tileSide)
    rows.push_back(offsetBy(b, row, i));
  for (int64_t j = 0; j < tile.columns(); j += tileSide)
    columns.push_back(offsetBy(b, column, j));
  auto forSums = [&](StringRef name) {
    for (auto [i, r] : llvm::enumerate(rows))
      for (auto [j, c] : llvm::enumerate(columns))
        callTile(b, name, sumRegister(i, j),
                 {acc.address({r, c}), acc.rowDistance()});
  };
  auto setSums = [&](bool isFirst) {
    if (!isFirst)
      return forSums("tileloadd64");
    for (size_t i = 0; i < rows.size(); ++i)
      for (size_t j = 0; j < columns.size(); ++j)
        callTile(b, "tilezero", sumRegister(i, j), {});
  };
  bool isAlwaysFirst = now.isFirst && matchPattern(now.isFirst, m_One());
  if (now.isFirst && !isAlwaysFirst) {
    auto branch = scf::IfOp::create(b, now.isFirst, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    setSums(true);
    b.setInsertionPointToStart(branch.elseBlock());
    setSums(false);
  } else {
    setSums(isAlwaysFirst);
  }
  PanelShare share = shareOfNextPanel(panel, row);
  auto loop = scf::ForOp::create(b, constant(0), now.steps, constant(1));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar(),
          depth = arith::MulIOp::create(b, at, constant(step)),
          panelRow = arith::MulIOp::create(b, at, constant(step / group));
    // Each tile is loaded just before it is first multiplied, and each product
    // after the first one of a step has an operand that is there already.
    for (auto [i, r] : llvm::enumerate(rows)) {
      int64_t left = firstLeft + static_cast<int64_t>(i);
      loadLeft(left, r, depth);
      for (size_t turn = 0; turn < columns.size(); ++turn) {
        size_t j = i % 2 == 0 ? turn : columns.size() - 1 - turn;
        int64_t right = firstRight + static_cast<int64_t>(j);
        if (i == 0)
          load(right, rhs,
               {panel, panelRow,
                constant(static_cast<int64_t>(j) * tileSide * group)});
        callTile(b, nameOfProduct(), {sumRegister(i, j), left, right}, {});
      }
    }
    prefetchLater(panel, row, at);
    prefetchPanel(share, depth);
  }
  forSums("tilestored64");
}
