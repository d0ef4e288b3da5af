//===- Matmul.h - loops of a matrix product over memrefs --------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/MatmulForm.h"
#include "cpu-backend/emit/MatmulPack.h"
#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <functional>

namespace tilebridge::cpu {

using Allocate = llvm::function_ref<mlir::Value(mlir::MemRefType)>;

/// The operands of a product as the micro-kernel reads them, and the
/// micro-kernel. `a` is rows of which `group` neighbours are broadcast at once.
/// `b` is panels of a tile's columns; a row of a panel has the `group` elements
/// of a column beside each other.
class MatmulKernel {
public:
  /// c += a * b with c: memref of m x n, rows contiguous; `depth` a divisor of
  /// any K.
  MatmulKernel(mlir::ImplicitLocOpBuilder &b, mlir::Type lhsElement,
               mlir::Type rhsElement, mlir::MemRefType acc, int64_t depth,
               const MatmulSettings &settings);

  /// Memory for operands of so many steps along K.
  mlir::MemRefType packedLhs(int64_t depth, bool byColumns = false) const;
  mlir::MemRefType packedRhs(int64_t depth) const;
  /// Steps along K after which a panel of b has filled half of the nearest
  /// cache, or a part of the next one that gives vectors as fast as they are
  /// multiplied.
  int64_t cachedDepth() const;

  /// Leaves a remark: how `a` and `b` are read, and after how many steps along
  /// K a loop multiplies (0: the product is no loop's).
  void report(mlir::Type lhsElement, mlir::Type rhsElement, llvm::StringRef lhs,
              llvm::StringRef rhs, int64_t gathered = 0) const;

  /// Packed rows have elements of this type, if these are what is multiplied.
  void keepLhs(mlir::Type element);
  /// Columns from `end` on may have any values.
  void limitColumns(mlir::Value end) { columnsEnd = end; }

  /// The next product's sums go to `memref`, whose rows are contiguous, as the
  /// store at `loc` would have it, and not back to `acc`.
  void storeSums(mlir::Value memref, mlir::Location loc) {
    sumsGoTo = memref;
    storeLoc = loc;
  }
  /// The next product asks for these panels, which are read after its own.
  void askForPanels(mlir::Value memref) { nextPanels = memref; }
  /// The next product finds its tiles of `a` where these say, for each depth of
  /// an iteration.
  void findRowTiles(mlir::Value memref) { rowTiles = memref; }
  /// They are stored once, by vectors.
  bool maySumsGoElsewhere() const {
    return !usesTiles() && chainsInTurn() == 0;
  }

  /// The micro-kernel reads single elements of a.
  bool readsElements() const { return group == 1; }
  /// It takes two steps along K at once, of operands of 16 bits.
  bool takesPairs() const { return group == 2; }
  /// The micro-kernel can read such an operand where it lies.
  bool readsLhs(mlir::MemRefType type) const;
  bool readsRhs(mlir::MemRefType type) const;
  /// It can if the rows of `a` are contiguous, at any distance.
  bool readsRowsOf(mlir::Type lhsElement) const;
  /// Whether sums that begin at zero need not be read. Several chains add to
  /// what is there each time: asking every time costs more than writing zeros
  /// once.
  bool mayBeginAtZero() const { return chainsInTurn() == 0; }
  /// Few rows are multiplied with rows of `b`, or with columns that are
  /// contiguous, where they lie, up to so many rows (0: none). `isInPlace`:
  /// those rows are not copied either, as far as is known.
  int64_t rowsWithRows() const;
  int64_t rowsWithColumns(bool waits = false, bool isInPlace = true) const;
  /// Steps along K after which the sums of a loop's products with columns are
  /// added up, of operands that lie where they are.
  int64_t depthWithColumns() const;
  /// The same of a loop that packs: long rows, which memory gives faster than
  /// the pieces of rows that a panel is packed from.
  int64_t rowsWithWideRows() const;
  /// It reads all rows of a tile of `a`, wanted or not.
  bool readsTiles() const { return usesTiles(); }
  /// Bytes of an element of packed operands.
  int64_t packedBytes() const {
    return packedElement.getIntOrFloatBitWidth() / 8;
  }

  /// Fills `packed` with a view of m x k, or k x n, from step `at` on.
  void packLhs(mlir::Value src, mlir::Value packed, mlir::Value at = {}) const;
  void packRhs(mlir::Value src, mlir::Value packed, mlir::Value at = {}) const;
  /// The same for a matrix of k x n that is computed meanwhile.
  /// `isOfBytes`: what is fetched is bf16 of floats of 8 bits.
  void packComputedRhs(mlir::RankedTensorType type, Fetch fetch, bool isOfBytes,
                       mlir::Value packed, mlir::Value at) const;
  /// Copies the first `depth` steps, a multiple of `step`, of rows of
  /// `element`, as what is multiplied, into `packed` from step `at` on.
  void packRows(RowsInMemory rows, mlir::Type element, mlir::Value packed,
                mlir::Value at, mlir::Value depth, int64_t step,
                mlir::Value wanted) const;
  /// Adds the product of the first `depth` steps, from `begin` on (null: 0), to
  /// `acc`. `lhs` is null where `rows` says where it is, `rhs` where `right`
  /// does. Where `wanted` is not null, rows from this one on may have any
  /// values. Where `isFirst` is true, `acc` has no values yet, and what is
  /// added to is zero (null: it always has).
  void multiply(mlir::Value lhs, mlir::Value rhs, mlir::Value acc,
                mlir::Value depth, Allocate allocate, RowsInMemory rows = {},
                mlir::Value wanted = {}, mlir::Value isFirst = {},
                RowsInMemory right = {}, mlir::Value begin = {}) const;
  /// The same for few rows, the first `wanted` ones: `left` has rows of what is
  /// multiplied, `right` columns as they are. `kept`: where tiles of rows may
  /// be found, and left (null: nowhere).
  void multiplyColumns(mlir::Value acc, RowsInMemory left, RowsInMemory right,
                       mlir::Value depth, mlir::Value wanted,
                       mlir::Value isFirst, Allocate allocate,
                       const KeptRows *kept = nullptr) const;
  /// Of `count` rows, at least 1, from `first` on, how the micro-kernel takes
  /// them, with others around.
  MaskedRows cover(mlir::Value first, mlir::Value count) const;
  /// The same product, of which only `rows` of packed `lhs` are there: others
  /// get what zeros give. May overwrite `lhs`.
  void multiplyMasked(mlir::Value lhs, mlir::Value rhs, mlir::Value acc,
                      mlir::Value depth, const MaskedRows &rows,
                      Allocate allocate) const;
  /// Memory for tiles of rows that are multiplied with columns; null if the
  /// kernel has none.
  mlir::MemRefType tilesOfRows() const;
  /// What divides the number of steps that are multiplied at once.
  int64_t depthUnit() const;
  /// The first `end` of `depth` steps, and as many behind them as this kernel
  /// takes at once with the last ones.
  mlir::Value wholeSteps(mlir::Value end, int64_t depth) const;
  /// Elements of a as what is multiplied; how many of a column, or of a row.
  mlir::Value asLeft(mlir::Value value) const { return convert(value, true); }
  mlir::Value asRight(mlir::Value value) const { return convert(value, false); }
  bool multipliesPairs() const { return unit == MatmulUnit::Bf16Pairs; }
  mlir::Value addProducts(mlir::Value sum, mlir::Value left,
                          mlir::Value right) const;
  int64_t lanesOfColumn(int64_t rows) const;
  int64_t lanesOfRow(int64_t columns, mlir::Type element) const;

private:
  mlir::Value convert(mlir::Value value, bool isLhs) const;
  mlir::Value constant(int64_t value) const;
  mlir::Value isEqual(mlir::Value x, mlir::Value y) const;
  static constexpr int64_t partRows = 64;
  bool isTall() const;
  void emitParts() const;
  void emitPanels() const;
  void emitPanel(mlir::Value panel, mlir::Value column, int64_t width) const;
  void emitRows(mlir::Value panel, mlir::Value column, int64_t width) const;
  /// Of `count` rows the first `whole` ones are tiles of all registers, others
  /// tiles of `rest` rows: one of these, or two.
  struct RowSplit {
    int64_t whole, rest;
    bool isHalved;
  };
  RowSplit splitRows(int64_t count) const;
  bool hasTileOfOne() const;
  bool addsLast() const;
  int64_t chainsInTurn() const;
  static constexpr int64_t chainSteps = 32;
  int64_t lineSteps() const { return lineBytes / packedBytes(); }
  void forWantedRows(int64_t count, int64_t step,
                     llvm::function_ref<void(mlir::Value)> body) const;
  void emitTile(mlir::Value panel, mlir::Value column, mlir::Value row,
                int64_t rows, llvm::ArrayRef<int64_t> vectors) const;
  /// Where a tile of the accumulator and its operands stand.
  struct TilePlace {
    mlir::Value panel;
    /// Numbers of the rows, and what leads to those of a; first columns of the
    /// vectors, and their lanes.
    llvm::SmallVector<mlir::Value> rows, left, columns;
    llvm::ArrayRef<int64_t> vectors;
  };
  void emitChain(const TilePlace &place, mlir::Value begin, mlir::Value end,
                 int64_t stride) const;
  bool feedsTwoFmas() const;
  int64_t mostStepsTogether() const;
  mlir::scf::ForOp emitSteps(const TilePlace &place, mlir::Value begin,
                             mlir::Value end, int64_t stride,
                             mlir::ValueRange sums) const;
  mlir::scf::ForOp emitLines(const TilePlace &place, mlir::Value begin,
                             mlir::Value end, mlir::ValueRange sums) const;
  llvm::SmallVector<mlir::Value> emitStep(const TilePlace &place,
                                          mlir::Value step,
                                          mlir::ValueRange sums) const;
  llvm::SmallVector<mlir::Value>
  zeroOr(mlir::Value isFirst, llvm::ArrayRef<mlir::Type> types,
         llvm::function_ref<llvm::SmallVector<mlir::Value>()> load) const;
  mlir::Value rightVector(mlir::Value panel, mlir::Value step,
                          mlir::Value column, int64_t offset,
                          int64_t lanes) const;
  mlir::Value lastWanted(mlir::Value row) const;
  mlir::Value addressOfRow(const RowsInMemory &rows, mlir::Value row) const;
  mlir::Value loadRow(mlir::Value address, mlir::Value at,
                      mlir::VectorType type, mlir::Value mask = {},
                      mlir::Value others = {}) const;
  mlir::Value leftVector(mlir::Value row, mlir::Value step,
                         int64_t lanes) const;
  // MatmulPrefetch.cpp
  void prefetchLine(mlir::Value from, mlir::Type element,
                    mlir::Value number) const;
  llvm::SmallVector<mlir::Value> rowsOfNextTile(const TilePlace &place) const;
  void prefetchRow(mlir::Value row, mlir::Value column) const;
  void prefetchLater(mlir::Value panel, mlir::Value row, mlir::Value at) const;
  void claimLine(const TilePlace &place, mlir::Value step) const;
  PanelShare shareOfNextPanel(mlir::Value panel, mlir::Value row) const;
  void prefetchPanel(const PanelShare &share, mlir::Value at) const;
  // MatmulColumns.cpp
  int64_t lanesOfSums() const;
  int64_t columnsAtOnce() const;
  bool convertsColumns() const;
  mlir::Value sumsOfLanes(llvm::SmallVector<mlir::Value> vectors) const;
  mlir::Value add(mlir::Value left, mlir::Value right) const;
  void prefetchColumns(llvm::ArrayRef<mlir::Value> columns,
                       const RowsInMemory &right) const;
  mlir::Value columnVector(mlir::Value address, mlir::Value at,
                           int64_t lanes) const;
  void prefetchLines(llvm::ArrayRef<mlir::Value> columns, mlir::Value at,
                     int64_t bytes) const;
  int64_t chainsOfDots(int64_t rows, int64_t columns) const;
  void emitDots(const RowsInMemory &left, mlir::Value first, int64_t count,
                llvm::ArrayRef<mlir::Value> columns, mlir::Value column,
                const LaterColumns &later) const;
  llvm::SmallVector<mlir::Value> addressesOfColumns(mlir::Value first,
                                                    int64_t count) const;
  void emitColumns(mlir::Value column, int64_t count, int64_t together,
                   bool asksForNext) const;
  /// Floats of 8 bits that so many lanes look up in tables, as bf16.
  bool looksUp(mlir::Type element) const;
  mlir::Value halvesOfBytes(mlir::Value value) const;
  /// These and integers of 8 bits.
  bool isHalvedAtOnce(mlir::Type element) const;
  static constexpr int64_t lanesOfLookup = 64;
  /// Elements of a row of `b` that are converted at once.
  int64_t atOnce(mlir::Type element) const {
    return isHalvedAtOnce(element) ? lanesOfLookup : tile.lanes;
  }
  /// Elements that few instructions convert.
  bool isCheap(mlir::Type element) const;
  // MatmulTiles.cpp: the micro-kernel of AMX.
  bool usesTiles() const {
    return unit == MatmulUnit::Bf16Tiles || unit == MatmulUnit::I8Tiles;
  }
  void configureTiles(Allocate allocate) const;
  void releaseTiles() const;
  void emitTilesOfRow(mlir::Value panel, mlir::Value column,
                      mlir::Value row) const;
  llvm::StringRef nameOfProduct() const;
  // MatmulTileColumns.cpp
  bool hasTileColumns() const;
  bool hasLongColumns() const;
  bool convertsTiles() const;
  int64_t mostByVectors(bool waits) const;
  std::optional<MatmulKernel> withVectors() const;
  int64_t rowsBesideTiles(bool waits, bool isInPlace) const;
  /// More rows than are multiplied with all steps at once.
  bool hasParts() const;
  /// Steps from `begin` to `end` of packed rows with 16 columns, whose
  /// addresses are `own` if they are converted. Sums are put to `sums`, where
  /// those of the parts before are; `columns` has place for two steps of
  /// converted columns and the two that follow. `later` are the columns that
  /// are asked for, so many steps ahead.
  struct TileColumns {
    mlir::Value rows, sums, columns, begin, end, stepsAhead;
    llvm::SmallVector<mlir::Value> own, later;
  };
  void fillColumnTiles(const TileColumns &all, mlir::Value at) const;
  llvm::SmallVector<mlir::Value> placeOfSums(mlir::Value number,
                                             mlir::Value column) const;
  void addSecondChain(const TileColumns &all, mlir::Value number,
                      mlir::Value column) const;
  void addTransposed(const TileColumns &all, mlir::Value first,
                     mlir::Value last, mlir::Value column) const;
  void emitTileColumns(const TileColumns &all, mlir::Value first, int64_t count,
                       mlir::Value column) const;
  void multiplyRowTiles(TileColumns all, mlir::Value first,
                        mlir::Value last) const;
  void multiplyTileColumns(Allocate allocate) const;
  void multiplyColumnsBesideTiles(Allocate allocate) const;
  // MatmulMaskedRows.cpp
  int64_t rowsOfFirstTile() const;
  mlir::Value isFinite(mlir::Value sums) const;
  void clear(mlir::Value memref, int64_t rows) const;
  void addRow(mlir::Value sums, mlir::Value acc, mlir::Value begin,
              mlir::Value end) const;
  // MatmulRowTiles.cpp
  mlir::Value packRowTiles(mlir::Value rowTiles, Allocate allocate) const;
  void fillRowTiles(mlir::Value rowTiles, mlir::Value packed) const;
  void correctSums(mlir::Value depth, Allocate allocate) const;
  void emitCorrections(mlir::Value depth) const;

  mlir::ImplicitLocOpBuilder &b;
  const MatmulSettings &settings;
  int64_t m, n;
  /// Behind the last column that somebody sees (null: all are seen).
  mlir::Value columnsEnd;
  /// Where sums go (null: to the accumulator), and which line says so.
  mlir::Value sumsGoTo;
  /// What is read after the panels of b (null: not known).
  mlir::Value nextPanels;
  /// Addresses and distances of rows, in bytes: tile x iteration x 2 (null: all
  /// are packed, or rows of one matrix).
  mlir::Value rowTiles;
  mlir::LocationAttr storeLoc;
  /// Types of the accumulator in memory, of the sums in registers, of `b`, and
  /// of what is multiplied.
  mlir::Type accElement, sumElement, rhsElement, packedElement;
  /// Of packed rows that have the type of the operand (null: they have that of
  /// what is multiplied).
  mlir::Type keptElement;
  /// Of rows that columns are multiplied with, if it is narrower than what is
  /// multiplied (null: it is that).
  mlir::Type rowElement;
  bool hasNarrowOperand;
  /// Rows that are multiplied with a column at once.
  int64_t mostTogether = INT64_MAX;
  MatmulUnit unit = MatmulUnit::MultiplyAdd;
  /// Steps along K that one lane takes at once, those of one iteration of the
  /// micro-kernel, and what divides any number of them.
  int64_t group = 1, step = 1, unitDepth = 1;
  MatmulTile tile;

  /// Of the product that is being emitted.
  struct Operands {
    mlir::Value lhs, rhs, acc, begin, steps, corrections;
    RowsInMemory rows;
    mlir::Value wanted, isFirst;
    RowsInMemory right;
    const KeptRows *kept = nullptr;
    /// The first column of a panel that is multiplied (null: 0).
    mlir::Value within = {};
  };
  mutable Operands now;
};

/// c += a * b with a: MxK, b: KxN (static shapes, any strides) and c: MxN, rows
/// contiguous; c = a * b if `isFirst`. The types of a and b may be narrower
/// than that of c. Rows from `wanted` on (null: none) and columns
/// from `columnsEnd` on may stay as they are; steps from `depthEnd` on are
/// zero. What lies `ahead` bytes behind b (null: nothing) is read next.
void emitMatmulLoops(mlir::ImplicitLocOpBuilder &b, mlir::Value lhs,
                     mlir::Value rhs, mlir::Value acc,
                     const MatmulSettings &settings, Allocate allocate,
                     bool isFirst = false, mlir::Value wanted = {},
                     mlir::Value ahead = {}, mlir::Value columnsEnd = {},
                     mlir::Value depthEnd = {}, bool isTail = false);

/// What a memref has at one index of its first dimension, such as the matrix of
/// a batch.
mlir::Value sliceOf(mlir::ImplicitLocOpBuilder &b, mlir::Value memref,
                    mlir::Value index);

/// The address of a memref's first element, of so many bytes.
mlir::Value addressOf(mlir::ImplicitLocOpBuilder &b, mlir::Value memref,
                      int64_t bytes);

/// The rows of a memref, which are contiguous; its columns where `along` is 1.
RowsInMemory rowsOf(mlir::ImplicitLocOpBuilder &b, mlir::Value memref,
                    unsigned along = 0);

/// The emitter's `allocate`, where `b` stands.
std::function<mlir::Value(mlir::MemRefType)>
allocateAt(Emitter &emitter, mlir::ImplicitLocOpBuilder &b);

} // namespace tilebridge::cpu
