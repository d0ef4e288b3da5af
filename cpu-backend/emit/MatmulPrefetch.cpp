//===- MatmulPrefetch.cpp - what the micro-kernel asks for ahead ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The micro-kernel reads every cache line of an operand many times, but the
// first time it may come from memory or the last cache, while all registers
// wait. What a call or a tile reads next is asked for meanwhile, into the
// second cache, a few lines in each step.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/DeepMatmul.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Asks for the line of the element with this number, which need not exist.
void MatmulKernel::prefetchLine(Value from, Type element, Value number) const {
  Value index = arith::IndexCastOp::create(b, b.getI64Type(), number);
  Value line = LLVM::GEPOp::create(b, from.getType(), element, from,
                                   ArrayRef<LLVM::GEPArg>{index});
  LLVM::Prefetch::create(b, line, /*rw=*/0, /*hint=*/2, /*cache=*/1);
}

/// The rows of `a` that are read after those of this tile: of the tile below,
/// and behind the last one those of the first, where they go on. Rows in memory
/// are far from each other, and so few lines of one are read that no prefetcher
/// follows them: for each line of this tile one of the next is asked for.
SmallVector<Value> MatmulKernel::rowsOfNextTile(const TilePlace &place) const {
  auto asI64 = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, b.getI64Type(), index);
  };
  auto count = static_cast<int64_t>(place.rows.size());
  Value below = offsetBy(b, place.rows[0], count), zero = constant(0);
  Value isThere =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, below, constant(m));
  Value first = arith::SelectOp::create(b, isThere, below, zero),
        skipped = arith::SelectOp::create(b, isThere, zero, now.steps);
  Value row = addressOfRow(now.rows, first);
  row = LLVM::GEPOp::create(b, row.getType(), packedElement, row,
                            ArrayRef<LLVM::GEPArg>{asI64(skipped)});
  SmallVector<Value> result = {row};
  while (result.size() < place.rows.size()) {
    row = LLVM::GEPOp::create(b, row.getType(), b.getI8Type(), row,
                              ArrayRef<LLVM::GEPArg>{asI64(now.rows.rowBytes)});
    result.push_back(row);
  }
  return result;
}

/// Asks for the line of a row of `b` that is read later.
void MatmulKernel::prefetchRow(Value row, Value column) const {
  Value far =
            arith::IndexCastOp::create(b, b.getI64Type(), now.right.aheadBytes),
        later = LLVM::GEPOp::create(b, row.getType(), b.getI8Type(), row,
                                    ArrayRef<LLVM::GEPArg>{far});
  prefetchLine(later, rhsElement, column);
}

/// Asks for a part of what the next call reads of these rows of a: each step of
/// each panel has a share of them, so that memory and the tiles are busy all
/// the time. Neighbours in one row follow each other, as the CPU's prefetchers
/// then help: they follow fewer rows at once than a tile reads. Few panels
/// would mean many at once, which hold up the loads of tiles for as long as
/// they save.
void MatmulKernel::prefetchLater(Value panel, Value row, Value at) const {
  constexpr int64_t mostAtOnce = 4;
  int64_t panels = n / tile.columns(), steps = now.rows.partBytes / lineBytes;
  if (!now.rows.aheadBytes || steps == 0 || tile.rows % panels)
    return;
  int64_t share = tile.rows / panels;
  if (share > mostAtOnce || steps % share || step * packedBytes() != lineBytes)
    return;
  auto branch =
      scf::IfOp::create(b,
                        arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                              now.rows.aheadBytes, constant(0)),
                        /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value turn = arith::AddIOp::create(
            b, arith::MulIOp::create(b, panel, constant(steps)), at),
        line = arith::MulIOp::create(b, turn, constant(share)),
        below = arith::DivUIOp::create(b, line, constant(steps)),
        within = arith::RemUIOp::create(b, line, constant(steps)),
        from = addressOfRow(now.rows, arith::AddIOp::create(b, row, below)),
        later = arith::AddIOp::create(
            b, arith::MulIOp::create(b, within, constant(lineBytes)),
            now.rows.aheadBytes);
  for (int64_t i = 0; i < share; ++i)
    prefetchLine(from, b.getI8Type(), offsetBy(b, later, i * lineBytes));
}

/// What the tile with this first row asks for of the panel behind this one, of
/// which each tile of a panel asks for as much: in this call's memory, or the
/// first one of the next call.
PanelShare MatmulKernel::shareOfNextPanel(Value panel, Value row) const {
  if (!nextPanels)
    return {};
  auto type = cast<MemRefType>(now.rhs.getType());
  int64_t panelBytes = type.getDimSize(1) * type.getDimSize(2) * packedBytes(),
          tileBytes =
              llvm::divideCeil(panelBytes, llvm::divideCeil(m, tile.rows)),
          turnSteps = usesTiles() ? step : lineSteps(),
          turns = type.getDimSize(1) * group / turnSteps;
  // More than a few hold up what is needed now.
  int64_t lines = llvm::divideCeil(tileBytes, turns * lineBytes),
          most = usesTiles() ? 4 : 8;
  if (lines > most)
    return {};
  Value next = offsetBy(b, panel, 1);
  Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, next,
                                         constant(type.getDimSize(0)));
  Value address = arith::AddIOp::create(
      b, addressOf(b, now.rhs, packedBytes()),
      arith::MulIOp::create(b, next, constant(panelBytes)));
  address = arith::SelectOp::create(b, isInside, address,
                                    addressOf(b, nextPanels, packedBytes()));
  Value tileNumber = arith::DivUIOp::create(b, row, constant(tile.rows)),
        own = arith::MulIOp::create(b, tileNumber, constant(tileBytes));
  address = arith::AddIOp::create(b, address, own);
  address = arith::IndexCastOp::create(b, b.getI64Type(), address);
  Value first = LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext()), address);
  return {first, lines, turnSteps};
}

/// The lines of the share for one turn, which begins with this step.
void MatmulKernel::prefetchPanel(const PanelShare &share, Value at) const {
  if (!share.first)
    return;
  Value turn = arith::DivUIOp::create(b, at, constant(share.turnSteps)),
        bytes =
            arith::MulIOp::create(b, turn, constant(share.lines * lineBytes));
  for (int64_t i = 0; i < share.lines; ++i)
    prefetchLine(share.first, b.getI8Type(), offsetBy(b, bytes, i * lineBytes));
}

/// Sums that go to an array: asks for a line of each row of the tile, as many
/// columns behind its first as steps have been done. Stores leave the CPU in
/// their order, so that one that waits holds up all others.
void MatmulKernel::claimLine(const TilePlace &place, Value step) const {
  if (!sumsGoTo)
    return;
  Value isColumn = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, step,
                                         constant(tile.columns()));
  auto branch = scf::IfOp::create(b, isColumn, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value column = arith::AddIOp::create(b, place.columns[0], step);
  for (Value row : place.rows)
    memref::PrefetchOp::create(b, sumsGoTo, ValueRange{row, column},
                               /*isWrite=*/true, /*localityHint=*/3,
                               /*isDataCache=*/true);
}

int64_t DeepMatmul::rowsAhead() const {
  constexpr int64_t mostBytes = 64 * 1024, leastRows = 16;
  linalg::MatmulOp product = op;
  Type element = getElementTypeOrSelf(product.getInputs()[1]);
  int64_t columns = cast<RankedTensorType>(product->getResult(0).getType())
                        .getDimSize(1),
          bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  return std::min(depth, std::max(mostBytes / (columns * bytes), leastRows));
}
