//===- NestEmitter.h - builds one nest of loops ------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/Outside.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallSet.h"

namespace tilebridge::cpu {

/// How much the scalar code in an elementwise op costs, in simple instructions.
int64_t costOfBody(mlir::Operation *op);

/// The same for elements of a block at computed indices.
int64_t costOfPick(mlir::Operation *op);

/// The tensors that a reduction combines, and its region's first block.
mlir::ValueRange reduceInputs(mlir::Operation *op);
llvm::SmallVector<int64_t> reduceDimensions(mlir::Operation *op);

/// The order of the operands of the reduction's region does not matter.
bool commutes(mlir::Operation *reduce);

/// Of the whole block.
int64_t bytesOf(const View &view);

/// The loop around the code here, with nothing but branches between.
mlir::scf::ForOp loopAround(mlir::OpBuilder &b);

class NestEmitter {
public:
  NestEmitter(FunctionEmitter &fe, Nest &nest)
      : fe(fe), nest(nest), b(fe.builder()), loc(nest.loc) {}
  mlir::LogicalResult run(LoadedViews flat = LoadedViews());
  /// Makes rows whose elements are exchanged in short groups rows as they lie
  /// in memory, and of the nest one that exchanges lanes; returns the view of
  /// what it reads, as it is to see it.
  static LoadedViews exchangeRows(FunctionEmitter &fe, Nest &nest);
  /// Asks for the block that is read here in the next iteration of a loop, if
  /// a table says where it is, or where its rows are.
  static void askForTableBlock(FunctionEmitter &fe, const View &view,
                               mlir::Location loc);
  static void askForTableRows(FunctionEmitter &fe, const View &view,
                              mlir::Location loc);
  /// The lanes of a gather that are in the frame's pieces, null after an error;
  /// nothing where it is not read so.
  static std::optional<mlir::Value> readPieces(FunctionEmitter &fe,
                                               mlir::Operation *gather,
                                               llvm::ArrayRef<Index> indices);

private:
  class NextRows;
  // Nest.cpp: loops.
  void forEachAccess(
      llvm::ArrayRef<Index> indices, mlir::OpBuilder *builder,
      llvm::function_ref<void(const View &, llvm::ArrayRef<Index>, bool)> use);
  void noteValue(mlir::Value value, llvm::ArrayRef<Index> at);
  bool isShort() const;
  void choose();
  // NestReport.cpp: remarks about what was decided.
  void report() const;
  void reportStreams() const;
  mlir::LogicalResult
  loop(mlir::Value from, mlir::Value to, int64_t step,
       llvm::function_ref<mlir::LogicalResult(mlir::Value, unsigned)> body);
  mlir::LogicalResult emitLoops(unsigned position);
  mlir::LogicalResult emitPlainLoop(unsigned position, mlir::OpFoldResult from);
  void collectRowBounds(llvm::SmallVectorImpl<mlir::OpFoldResult> &lows,
                        llvm::SmallVectorImpl<mlir::Value> &limits);
  void collectBounds(llvm::SmallVectorImpl<mlir::OpFoldResult> &lows,
                     llvm::SmallVectorImpl<mlir::Value> &limits);
  mlir::LogicalResult emitLanesLoop(unsigned position, int64_t first);
  mlir::LogicalResult emitLanesAt(unsigned position, mlir::Value at,
                                  unsigned level, bool interior);
  mlir::LogicalResult emitOnce(unsigned position, int64_t at, bool interior);
  mlir::LogicalResult emitBody();
  /// What an output that is written gets here, and its mask, which may be null.
  struct Stored {
    mlir::Value value, mask;
  };
  mlir::LogicalResult evaluateOutputs(llvm::SmallVectorImpl<Stored> &values);
  mlir::Value exchanged(mlir::Value lanes);
  mlir::LogicalResult storeOutputs(llvm::ArrayRef<Stored> values);
  // JoinStores.cpp
  llvm::SmallVector<unsigned> outputsToJoin(unsigned first);
  void writeJoined(llvm::ArrayRef<unsigned> joined,
                   llvm::ArrayRef<Stored> values);
  // RestrictLoops.cpp
  std::optional<FunctionEmitter::Interval> wantedOf(const NestOutput &output,
                                                    unsigned d);
  mlir::Value endOfCopy(unsigned d) const;
  void findRanges();
  void restrictToBox();
  int64_t rowsInStep(unsigned position) const;
  mlir::Value firstOfRows(unsigned d, int64_t rows);
  mlir::LogicalResult emitRowsInSteps(unsigned position, int64_t rows);
  void clearUnwanted();

  // Transpose.cpp: what is contiguous along another dimension.
  struct Crossing {
    /// Dimensions of the view: that of the lanes, and the contiguous one.
    unsigned rowDim, columnDim;
    int64_t side;
  };
  std::optional<Crossing> findCrossing(const View &view,
                                       llvm::ArrayRef<Index> at, int64_t most);
  llvm::MapVector<mlir::Value, llvm::SmallVector<Indices, 1>> findReads();
  mlir::LogicalResult stageCrossings();
  // Squares.cpp: the same in registers.
  struct Squares {
    struct Read {
      mlir::Value tensor;
      const View *view;
      Indices place;
      /// The view's dimension along the lanes.
      unsigned rowDim;
      std::optional<Later> later = {};
    };
    llvm::SmallVector<Read, 1> reads;
    /// The nest's dimension along which memory is contiguous, and where whole
    /// squares end.
    unsigned dim = 0;
    mlir::OpFoldResult end;
    /// A step takes columns / side times lanes / side squares: lines of what is
    /// read, at least.
    int64_t side = 1, lanes = 1, columns = 1;
    /// Columns have whole lines, and may go around the caches.
    bool streams = true;
  };
  std::optional<Squares> findSquares();
  bool findEnd(Squares &squares);
  mlir::LogicalResult emitInSquares(const Squares &squares);
  void takeSquares();
  void prepareSquares();
  mlir::Value columnsAreLines(const View &view);
  llvm::SmallVector<mlir::Value> loadRows(const Squares::Read &read,
                                          bool isFirst);
  mlir::LogicalResult emitSquare();
  mlir::LogicalResult
  storeByStreams(llvm::ArrayRef<llvm::SmallVector<Stored>> columns);
  // NestPieces.cpp
  void findPieceReads();
  bool evaluatePiece(const Index &at, mlir::Value end, PieceReads &reads);
  mlir::FailureOr<bool> emitPieces(unsigned position, mlir::Value from,
                                   mlir::Value to);
  mlir::FailureOr<bool> emitPiecesByDivisors(unsigned position,
                                             mlir::Value from, mlir::Value to);
  // PieceTables.cpp
  mlir::FailureOr<mlir::Value> emitTables(unsigned position, mlir::Value from,
                                          mlir::Value to);
  // LaneGroups.cpp
  void findGroups();
  mlir::LogicalResult emitGroups();
  // WholeBlocks.cpp
  llvm::SmallSetVector<const View *, 4> viewsOfNest();
  mlir::Value findWhole();
  mlir::LogicalResult emitWholeOrNot(mlir::Value isWhole);
  // RowRuns.cpp: gathered rows of one element.
  std::optional<int64_t> findRowRuns(const View &view,
                                     llvm::ArrayRef<Index> at);
  mlir::LogicalResult stageRowRuns(mlir::Value value, const View &view,
                                   int64_t side);

  // Stream.cpp, StreamRows.cpp: large outputs.
  mlir::Value runsInLaunch();
  bool mayStream(const NestOutput &output);
  bool isAlwaysThere(const View &view);
  int64_t bytesByElement();
  int64_t unrollToStream(int64_t lanes);
  llvm::SmallVector<std::pair<NestOutput *, mlir::Value>> findLarge();
  void findStreams();
  mlir::Value alignStreams(mlir::Value begin, mlir::Value end);
  mlir::OpFoldResult toNextRow(const View &view);
  void claimRowEnds(mlir::Value end);
  mlir::LogicalResult emitShiftedLanes(unsigned position,
                                       llvm::ArrayRef<mlir::OpFoldResult> lows,
                                       llvm::ArrayRef<mlir::Value> limits);
  mlir::Value constant(int64_t value);
  mlir::Value leastOf(mlir::Value end, llvm::ArrayRef<mlir::Value> limits);
  mlir::Value outermostZero();

  // StreamScans.cpp
  void findScans();
  void startScans();
  void openScans();
  void closeScans();

  // Prefetch.cpp
  mlir::Value isLargeRead(const View &view);
  static mlir::Value isFarRead(FunctionEmitter &fe, const View &view,
                               mlir::Location loc);
  /// How many elements further the next iteration reads, where that is known.
  std::optional<mlir::OpFoldResult> growthOf(const View &view,
                                             mlir::scf::ForOp around);
  std::optional<Later> laterBlock(const View &view);
  std::optional<Later> laterBlock(const View &view, mlir::scf::ForOp around,
                                  int64_t ahead, bool evenInOrder);
  bool findReversedBlock(const View &view, llvm::ArrayRef<Index> place);
  bool findNextBlock(const View &view, FirstReader &first,
                     llvm::ArrayRef<mlir::Operation *> loops);
  bool readsOtherRows(mlir::Value load,
                      const llvm::SmallDenseSet<mlir::Value, 8> &own);
  mlir::Value rowsAreApart(const View &view, int64_t gap = 0);
  void findGatheredRows(const View &view);
  void walkInputs(
      llvm::function_ref<bool(mlir::Value, llvm::ArrayRef<Index>)> visit);
  void findPrefetches();
  // PrefetchInOrder.cpp
  std::optional<Later> laterInOrder(const View &view,
                                    llvm::ArrayRef<Index> place);
  // PrefetchLines.cpp
  void findClaims();

  // NeutralTails.cpp
  /// The lanes from `begin` on, which are behind each of `ends`, where what is
  /// read ends; or the rows, with another dimension than that of the lanes.
  struct RowTail {
    int dim;
    llvm::SmallVector<mlir::Value, 3> ends;
    mlir::Value begin;
  };
  Outside valueOutside(mlir::Value tensor, llvm::ArrayRef<Index> at,
                       const RowTail &tail, int &budget);
  bool isNeutral(const RowTail &tail);
  bool isUnseenInTail(const NestOutput &output, const RowTail &tail);
  bool staysInTail(mlir::Operation *reduction, llvm::ArrayRef<Index> at,
                   const RowTail &tail);
  mlir::Value endOfRows(unsigned d);
  mlir::Value neutralFrom(llvm::ArrayRef<mlir::Value> limits);
  mlir::Value neutralFromHere();

  // InterleaveRows.cpp
  const View *findPieces(unsigned rowDim);
  void chooseRowsAtOnce(int64_t nativeLanes);
  mlir::LogicalResult emitBothOrders();
  mlir::LogicalResult emitRowsAtOnce(unsigned position);
  mlir::LogicalResult
  forRowsAtOnce(llvm::function_ref<mlir::LogicalResult()> body);

  // Reduce.cpp
  /// Evaluates initial values; false where the first elements are to be them.
  bool startReductions();
  mlir::LogicalResult emitSeededLoop(unsigned position);
  bool dividesWhatMayBeUniform();
  mlir::LogicalResult emitSeededLanes(unsigned position);
  mlir::LogicalResult accumulate();
  mlir::LogicalResult combine(mlir::Operation *op,
                              llvm::ArrayRef<mlir::Value> left,
                              llvm::ArrayRef<mlir::Value> right, int64_t lanes,
                              llvm::SmallVectorImpl<mlir::Value> &results);
  mlir::LogicalResult finishReductions();
  mlir::LogicalResult finishRows(mlir::Operation *reduce,
                                 llvm::SmallVector<mlir::Value> values);
  mlir::LogicalResult writeRows(mlir::Value result, mlir::Value values);
  mlir::LogicalResult finishRow(llvm::ArrayRef<mlir::Value> results,
                                size_t &used);
  /// Lanes of the accumulators of a reduction: one where order matters.
  int64_t lanesOf(mlir::Operation *reduce);
  mlir::LogicalResult reduceLanes(mlir::Operation *op,
                                  llvm::SmallVectorImpl<mlir::Value> &values,
                                  int64_t lanes, bool neighbours,
                                  int64_t left = 1);

  FunctionEmitter &fe;
  Nest &nest;
  mlir::OpBuilder &b;
  mlir::Location loc;
  Frame frame;
  Indices indices;
  llvm::SmallVector<unsigned> order;
  /// The position of the first loop over a reduced dimension.
  unsigned firstReduced = 0;
  bool vecReduced = false, reducing = false, failedToStart = false;
  /// A value that the nest computes or reads: at which dimensions of the nest,
  /// the one along which it gathers rows, how wide it is and what it costs.
  struct Noted {
    int64_t bits = 8, cost = 1;
    llvm::SmallVector<int, 4> dims = {};
    int rowDim = -1;
    bool isMath = false, dividesIntegers = false;
  };
  llvm::SmallVector<Noted> notes;
  /// The size of the last dimension, where lanes run along the one before it
  /// and have all of its elements; 1: they do not.
  int64_t groupSize = 1;
  /// Lanes without which they cannot change places.
  int64_t lanesToExchange = 1;
  /// Lanes are whole groups of so many, in which they change places or are one
  /// element.
  int64_t lanesInGroup = 1;
  /// Lanes of loops with masks.
  int64_t edgeLanes = 1;
  /// Of the elements that a step computes.
  int64_t widestBits = 8;
  /// What a step computes, in simple instructions.
  int64_t bodyCost = 0;
  /// What the loops run over, and the dimensions that are not whole there.
  llvm::SmallVector<std::pair<mlir::OpFoldResult, mlir::OpFoldResult>> ranges;
  llvm::SmallSet<unsigned, 4> restricted;
  /// Outputs that may be too large for the caches, each with the condition.
  llvm::SmallVector<std::pair<NestOutput *, mlir::Value>> large;
  /// The lanes' loop may begin at any element.
  bool mayShift = true;
  /// Those of all rows that are reduced at once, or of all scans.
  llvm::SmallVector<mlir::Value> accumulators;
  /// The scans that the loop along the lanes computes.
  llvm::SmallVector<mlir::Operation *> scans;
  /// Where a step takes several rows at once: the indices of these, and their
  /// dimension.
  Indices rowsAtOnce;
  unsigned rowsDim = 0;
  /// Whether they lie apart, and whether this is the nest for those that do, or
  /// for others.
  mlir::Value rowsAreFar;
  bool mayInterleave = true, isVersion = false;
  /// Lanes of which each `read.repeats` are one element: these are read as a
  /// shorter vector. `first`, if not null, is how many lanes are of this piece,
  /// or, with `isNext`, of the one before. Others may be anything.
  static mlir::Value readRepeated(FunctionEmitter &fe, const PieceRead &read,
                                  const Index &index, mlir::Value first,
                                  bool isNext, mlir::Location loc);
  /// Gathers that are read piece by piece of rows (isReadInPieces).
  llvm::SetVector<mlir::Operation *> pieceReads;
  /// Arguments that divide their places, and may be 1; and whether these are
  /// the loops for launches in which one of them is.
  llvm::SmallSetVector<mlir::BlockArgument, 4> pieceDivisors;
  std::optional<bool> dividesByOne;
  /// The squares that the nest is written in.
  std::optional<Squares> squares;
  /// Of two versions of a nest, whether this is the one for blocks that are
  /// whole.
  std::optional<bool> mayBeWhole;
  bool isWhole() const { return mayBeWhole.value_or(false); }
  /// The part of a dimension that is left to this nest.
  struct Part {
    unsigned dim;
    mlir::OpFoldResult begin, end;
    /// It is this nest whose stores are told of.
    bool tellsStreams;
  };
  std::optional<Part> part;
  bool isRest() const { return part && !squares; }
  llvm::DenseMap<mlir::Operation *, bool> inOrder;
};

} // namespace tilebridge::cpu
