//===- FunctionEmitter.h - the emitter of one function -----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Everything happens at a place in the new function: the old one is walked in
// order, scalar ops are cloned, and each root (an op with a buffer, or one that
// writes) becomes a nest of loops that computes whatever is `inline` again.
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/Emitter.h"
#include "cpu-backend/emit/MatmulForm.h"
#include "cpu-backend/emit/Nest.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/Wanted.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace tilebridge::cpu {

struct DeepMatmul;
struct KeptSlots;

/// Views of memory that a nest reads in place of those of the program.
using LoadedViews = llvm::DenseMap<mlir::Value, std::unique_ptr<View>>;

class FunctionEmitter : public Emitter {
public:
  FunctionEmitter(mlir::func::FuncOp oldFunc, EmitTarget target, Plan &plan);

  /// Builds the new function beside the old one; null after an error.
  mlir::func::FuncOp run();
  /// Whether all that `run` wrote is loops that hardly do any arithmetic.
  bool hasOnlyStreams() const { return onlyStreams; }

  mlir::Value mapScalar(mlir::Value value) override;
  void setScalar(mlir::Value result, mlir::Value value) override {
    map.map(result, value);
  }
  mlir::Value scalarAt(mlir::Value tensor, mlir::ValueRange indices) override;
  mlir::Value vectorAt(mlir::Value tensor, mlir::ValueRange indices,
                       unsigned dim, int64_t lanes) override;
  mlir::Value bufferOf(mlir::Value tensor) override;
  mlir::Value viewOf(mlir::Value tensor) override { return viewOf(tensor, {}); }
  mlir::Value viewOf(mlir::Value tensor, llvm::ArrayRef<mlir::Value> ends);
  mlir::Value viewOfLoad(mlir::Value tensor) override;
  mlir::Value resultBuffer(mlir::Value result) override;
  mlir::Value accumulate(mlir::Value init, mlir::Value result,
                         bool *isZero = nullptr) override;
  mlir::Value wantedEnd(mlir::Value tensor, unsigned dim) override;
  mlir::Value bytesToNext(mlir::Value tensor) override;
  mlir::Value stepsOf(mlir::linalg::LinalgOp product, bool &isTail) override;
  mlir::Value allocate(mlir::MemRefType type) override;
  mlir::LogicalResult materialize(mlir::Value tensor,
                                  mlir::Value memref) override;

private:
  friend class AtomicEmitter;
  friend class GatherPieces;
  friend class GatheredColumns;
  friend class GroupLanes;
  friend class GatheredPairs;
  friend class GatheredRows;
  friend class MaskTails;
  friend struct RowLanes;
  friend class RowPieces;
  friend class ScatterPieces;
  friend class ScatterRows;
  friend class NestEmitter;
  friend class NextProgram;
  friend class PickedElements;
  // FunctionEmitter.cpp: the walk.
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitOp(mlir::Operation *op);
  mlir::LogicalResult emitRoot(mlir::Operation *op);
  mlir::LogicalResult emitGroup(llvm::ArrayRef<mlir::Operation *> ops);
  mlir::LogicalResult materialize(mlir::Value tensor, View view, bool isCold,
                                  llvm::ArrayRef<mlir::Value> ends = {});
  mlir::LogicalResult addOutputs(mlir::Operation *op, Nest &nest);
  mlir::LogicalResult emitInsertSlice(mlir::tensor::InsertSliceOp op);
  mlir::LogicalResult emitConstant(mlir::arith::ConstantOp op);
  mlir::LogicalResult emitReshape(mlir::Operation *op);
  void rememberLoad(mlir::Value tensor);
  void rememberReversal(mlir::Operation *op);
  llvm::SmallVector<mlir::OpFoldResult>
  mapAll(llvm::ArrayRef<mlir::OpFoldResult> values);

  // ControlFlow.cpp: regions, with tensors in buffers.
  mlir::LogicalResult emitFor(mlir::scf::ForOp op);
  mlir::LogicalResult emitWhile(mlir::scf::WhileOp op);
  mlir::LogicalResult emitBranches(mlir::Operation *op);
  /// Buffers `to` get `from`, as if all at once, but not packed operands.
  mlir::LogicalResult assign(mlir::ValueRange from, mlir::ValueRange to,
                             mlir::Location loc);
  bool reads(mlir::Value tensor, mlir::Value memref);
  bool mayWriteDirectly(mlir::Value tensor, mlir::Value memref);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  mapScalars(mlir::ValueRange values);
  void bindScalars(mlir::ValueRange from, mlir::ValueRange to);
  void bindTensors(mlir::ValueRange values);
  bool isInlineZero(mlir::Value tensor) const;
  bool isZeroOfDeepMatmul(mlir::Value init, mlir::Value argument) const;
  mlir::LogicalResult beginAtZero(mlir::scf::ForOp loop,
                                  mlir::ValueRange arguments,
                                  mlir::ValueRange bounds);

  // MatmulLoop.cpp: products that a loop adds up.
  mlir::FailureOr<mlir::Value>
  wantedBefore(mlir::linalg::MatmulOp op, unsigned dim, mlir::scf::ForOp loop);
  mlir::FailureOr<llvm::SmallVector<DeepMatmul *>>
  openDeepMatmuls(mlir::scf::ForOp loop,
                  llvm::SmallVectorImpl<mlir::Value> &inits);
  void enterDeepMatmuls(llvm::ArrayRef<DeepMatmul *> products,
                        mlir::scf::ForOp loop);
  mlir::Value recomputed(mlir::OpBuilder &b, mlir::Value value);
  mlir::LogicalResult packDirect(const DeepMatmul &, mlir::Value tensor);
  mlir::Value viewsAreWhole(mlir::Value tensor, mlir::ImplicitLocOpBuilder &b,
                            llvm::SmallSetVector<View *, 4> &parts);
  mlir::LogicalResult packDeep(const DeepMatmul &, bool isLhs, mlir::Value);
  mlir::LogicalResult packByColumns(const DeepMatmul &, mlir::Value tensor);
  bool readsRowTiles(const DeepMatmul &product);
  void findSwapped(mlir::scf::ForOp loop);
  mlir::LogicalResult packSwapped(const DeepMatmul &, bool isLhs, mlir::Value);
  mlir::FailureOr<bool> packGatheredRows(const DeepMatmul &, mlir::Value);
  bool placeWanted(const DeepMatmul &, mlir::Value, bool &hasFailed);
  mlir::LogicalResult emitDeepMatmul(DeepMatmul &product);
  void packInner(mlir::Value operand, DeepMatmul *product);
  int64_t rowsWithColumns(const DeepMatmul &product, mlir::scf::ForOp loop);
  void openWideRows(DeepMatmul &product, int64_t most);
  mlir::Value mayStay(mlir::ImplicitLocOpBuilder &b, const DeepMatmul &product,
                      mlir::Value tensor);
  void closeDeepMatmuls(llvm::ArrayRef<DeepMatmul *> products);
  mlir::FailureOr<mlir::Value> conditionOfPacking(mlir::Operation *op);
  static bool isPackedInBranches(mlir::Value operand, mlir::Operation *op);
  mlir::LogicalResult packInBranch(mlir::ValueRange from, mlir::ValueRange to);

  // MatmulMaskedRows.cpp
  std::optional<MaskedRows> maskedRowsOf(mlir::linalg::MatmulOp op);
  mlir::LogicalResult packMaskedRows(const DeepMatmul &product);
  mlir::LogicalResult emitMaskedMatmul(mlir::linalg::MatmulOp op);

  // MatmulStores.cpp: sums that are stored with the last steps.
  void openStores(DeepMatmul &product, mlir::scf::ForOp loop);
  void skipIfStored(mlir::Operation *op);
  // MatmulShare.cpp: operands that the next program finds packed.
  bool canShare(mlir::linalg::MatmulOp op) const;
  mlir::LogicalResult openSharing(DeepMatmul &product);
  void openKeptRows(DeepMatmul &product);
  KeptSlots openSlots(mlir::MemRefType slot, int64_t slots);
  void enterSharing(DeepMatmul &product);
  void closeSharing(const DeepMatmul &product);

  // Buffers.cpp
  static bool isBool(mlir::Value tensor);
  mlir::MemRefType bufferType(mlir::Value tensor);
  mlir::Value memrefOf(const View &view, llvm::ArrayRef<int64_t> strides,
                       mlir::Location loc);
  mlir::Value boxIsWhole(const View &view, mlir::Location loc);
  View scratchLike(const View &, mlir::Location, bool hasRoom = false);
  std::optional<View> viewThroughShapes(mlir::Value tensor);
  mlir::Value newBuffer(mlir::Value tensor);
  void setBuffer(mlir::Value tensor, mlir::Value memref);
  mlir::Value bufferFor(mlir::Value tensor);

  // Guard.cpp: a nest whose stores may overlap what it reads.
  mlir::LogicalResult emitGuarded(Nest &nest);
  mlir::FailureOr<mlir::Value>
  guardStores(Nest &nest, llvm::SmallVectorImpl<NestOutput> &copies);
  bool readsMemory(mlir::Value tensor, llvm::ArrayRef<Index> at);
  mlir::LogicalResult saveMask(NestOutput &copy, mlir::Value condition,
                               mlir::Location loc);
  void redirect(View &view, const View &scratch, mlir::Value condition,
                mlir::Location loc);

  // GuardReads.cpp: stores that may overlap what a later nest reads.
  struct GuardedStore {
    mlir::Operation *op;
    View view;
  };
  mlir::LogicalResult guardReads(llvm::ArrayRef<GuardedStore> stores);
  mlir::LogicalResult emitScalarStore(mlir::Operation *op);
  // StreamScans.cpp
  mlir::Value evaluateScan(mlir::Operation *op, llvm::ArrayRef<Index> indices);
  // Prefetch.cpp
  mlir::Value carriedStep(mlir::scf::ForOp loop, mlir::BlockArgument argument);
  /// How many elements further the next iteration reads, where that is known.
  std::optional<mlir::OpFoldResult>
  growthOf(const View &view, mlir::scf::ForOp around, mlir::Location loc);
  void prefetchLaterBlock(const View &view, llvm::ArrayRef<Index> indices,
                          unsigned laneDim, mlir::Location loc);

  // PrefetchOperands.cpp
  /// Asks for what the loop's next iteration computes `tensor` from.
  void prefetchNextOperand(mlir::Value tensor, mlir::Location loc);

  // RestrictLoops.cpp
  using Interval = std::pair<mlir::OpFoldResult, mlir::OpFoldResult>;
  Interval mapWanted(const WantedPart &part, mlir::Location loc);
  std::optional<Interval> intervalOf(const WantedRange &, mlir::Location);
  mlir::LogicalResult openMasks(mlir::Operation *op);
  bool isHere(mlir::Value value);
  std::optional<Interval>
  wantedHere(mlir::Value tensor, unsigned dim, WantedBy by,
             llvm::ArrayRef<mlir::Operation *> besides = {});

  // Stream.cpp
  bool isWriteOnly(mlir::Value memref) const;

  // Nest.cpp
  mlir::LogicalResult emitNest(Nest &nest);
  LoadedViews flattenRows(Nest &nest);

  // Evaluate.cpp, Bodies.cpp: `tensor` at `indices`: a scalar, or a vector of
  // frame->lanes.
  mlir::Value evaluate(mlir::Value tensor, llvm::ArrayRef<Index> indices);
  mlir::Value evaluateDefinition(mlir::Value tensor,
                                 llvm::ArrayRef<Index> indices);
  mlir::Value evaluateElementwise(mlir::OpResult result,
                                  llvm::ArrayRef<Index> indices);
  mlir::Value evaluateAlone(mlir::Value tensor, llvm::ArrayRef<Index> indices,
                            Frame &alone);
  /// The scalar code of `block` on scalars or vectors.
  mlir::LogicalResult cloneBody(mlir::Block &block,
                                llvm::ArrayRef<mlir::Value> arguments,
                                llvm::ArrayRef<Index> indices, int64_t lanes,
                                llvm::SmallVectorImpl<mlir::Value> &results);
  mlir::Operation *cloneElementwise(mlir::Operation *op,
                                    llvm::ArrayRef<mlir::Value> operands,
                                    int64_t lanes);
  llvm::SmallVector<mlir::Value>
  cloneByLane(mlir::Operation *op, int64_t lanes,
              llvm::function_ref<mlir::Value(mlir::Value)> lookup);
  mlir::Value laneIndices(const Index &index, mlir::Type element);
  mlir::Value toLanes(mlir::Value value, int64_t lanes);
  mlir::Value zeroOf(mlir::Type element, mlir::Location loc);
  /// Walks all that evaluating `tensor` reads, each value once for each place.
  /// `visit` returns whether to go on below.
  using Visit = llvm::function_ref<bool(mlir::Value, llvm::ArrayRef<Index>)>;
  void walkCone(mlir::Value tensor, llvm::ArrayRef<Index> indices,
                mlir::OpBuilder *builder, Visit visit);
  using Places = llvm::DenseMap<mlir::Value, llvm::SmallVector<Indices, 1>>;
  void walkCone(mlir::Value tensor, llvm::ArrayRef<Index> indices,
                mlir::OpBuilder *builder, Visit visit, Places &visited);
  const View *viewIfInMemory(mlir::Value tensor);

  // KnownMasks.cpp
  struct LanesBelow {
    mlir::Value start, n;
  };
  std::optional<LanesBelow> lanesBelow(mlir::Value mask,
                                       llvm::ArrayRef<Index> indices);
  bool isTrueInside(mlir::Value mask, llvm::ArrayRef<Index> indices);
  bool isFalseFrom(mlir::Value mask, llvm::ArrayRef<Index> indices,
                   mlir::Value limit, int64_t size);

  // Access.cpp, Box.cpp: elements of views.
  mlir::Value read(const View &view, llvm::ArrayRef<Index> indices,
                   mlir::Location loc);
  mlir::LogicalResult write(const View &view, llvm::ArrayRef<Index> indices,
                            mlir::Value value, mlir::Location loc,
                            mlir::Value mask = {});
  mlir::Value inBox(const View &view, llvm::ArrayRef<Index> indices,
                    unsigned minLevel, mlir::Location loc);
  mlir::Value rowLimit(const View &view, llvm::ArrayRef<Index> indices,
                       unsigned laneDim, mlir::Location loc);
  /// Which lanes are on (null: all), and whether any is (null: not known).
  struct LaneMask {
    mlir::Value lanes, isAny = {};
  };
  LaneMask laneMask(const View &view, llvm::ArrayRef<Index> indices,
                    unsigned laneDim, mlir::Location loc);
  LaneMask asLaneMask(mlir::Value mask, mlir::Location loc);
  mlir::Value isAnyInRow(const View &view, unsigned laneDim, mlir::Value limit,
                         mlir::Location loc);
  mlir::Value placeIfAny(mlir::Value place, mlir::Value isAny,
                         mlir::Location loc);
  mlir::Value address(const View &view, llvm::ArrayRef<Index> indices,
                      int contiguousDim, mlir::Location loc,
                      mlir::Value isAny = {});
  mlir::Value loadElement(mlir::Value base, mlir::Value at, mlir::Location loc);
  void storeElement(mlir::Value base, mlir::Value at, mlir::Value value,
                    mlir::Location loc);
  mlir::Value loadLanes(const View &view, llvm::ArrayRef<Index> indices,
                        unsigned laneDim, LaneMask on, mlir::Value passThrough,
                        mlir::Location loc);
  void claimLines(const View &view, mlir::Value at, mlir::Location loc);
  void storeStream(const View &view, mlir::Value at, mlir::Value value,
                   mlir::Value mask, mlir::Value streams, mlir::Location loc);
  void storeLanes(const View &view, llvm::ArrayRef<Index> indices,
                  unsigned laneDim, LaneMask on, mlir::Value value,
                  mlir::Location loc);

  // Irregular.cpp, ScatterRows.cpp: gathers, scatters, masks that are no boxes.
  mlir::Value evaluateIrregular(mlir::Operation *op,
                                llvm::ArrayRef<Index> indices);
  mlir::LogicalResult emitScatter(mlir::Operation *op);
  mlir::LogicalResult emitScatterRows(mlir::Operation *op);
  static bool isIrregularLoad(mlir::Operation *op);
  void rememberIrregular(mlir::Operation *op);
  mlir::Value otherOf(mlir::Value other, mlir::Type element,
                      llvm::ArrayRef<Index> indices, mlir::Location loc);
  // GatherLanes.cpp
  /// The elements of `memref` at `at` plus each lane's offset, which comes from
  /// the old function's `places`, along `laneDim` (-1: which is not known).
  mlir::Value gatherLanes(mlir::Value memref, mlir::Value at,
                          mlir::Value offsets, mlir::Value mask,
                          mlir::Value other, mlir::Value places,
                          mlir::Location loc, int laneDim = -1);
  void scatterLanes(mlir::Value base, mlir::Value at, mlir::Value offsets,
                    mlir::Value mask, mlir::Value value, mlir::Location loc);
  bool masksAreJumps();
  // GatherPieces.cpp
  mlir::FailureOr<bool> emitGatherBuffer(mlir::Operation *op);
  // ScatterPieces.cpp
  mlir::FailureOr<bool> emitScatterPieces(mlir::Operation *op, const View &to);
  mlir::Value rowNumber(const View &view, const Index &index,
                        mlir::Location loc);
  llvm::SmallVector<mlir::Value> reduceIndices(
      int64_t size, llvm::ArrayRef<mlir::vector::CombiningKind> kinds,
      llvm::ArrayRef<int64_t> init, mlir::Location loc,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(const Index &,
                                                        mlir::ValueRange)>
          body);
  View withRowBounds(const View &view, mlir::Location loc);
  mlir::Value behindLastTrue(mlir::Value mask, mlir::Location loc);
  void prefetchNextRow(const View &view, llvm::ArrayRef<Index> indices,
                       unsigned laneDim, mlir::Location loc);
  mlir::Value gatherFromRows(const View &view, llvm::ArrayRef<Index> indices,
                             mlir::Location loc);
  // RowRuns.cpp
  mlir::LogicalResult copyRowRuns(const View &view, const View &to,
                                  int64_t side, mlir::Value pad,
                                  mlir::Location loc);
  mlir::LogicalResult
  inOrder(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order,
          mlir::Location loc,
          llvm::function_ref<mlir::LogicalResult(llvm::ArrayRef<Index>)> body);

  unsigned levelOf(llvm::ArrayRef<Index> indices) const;
  void moveTo(unsigned level);

  /// How many programs the function runs together.
  int64_t programsAtOnce() const;
  // NextProgram.cpp
  /// Whether programs follow one another along this axis of the grid; null for
  /// x where they do if it has several.
  mlir::Value isFastestAxis(unsigned axis);

  mlir::func::FuncOp oldFunc;
  Plan &plan;
  bool onlyStreams = true;
  bool isRare = false; ///< hardly any launch runs what is written here
  /// See isFastestAxis; null until that is asked for.
  mlir::Value fastestAxis[3], orderedAxis;
  /// Arguments of the old function, see isWriteOnly.
  llvm::DenseSet<mlir::Value> writeOnly;
  mlir::IRMapping map;
  /// The loops of the new function that came from loops of the old one.
  llvm::DenseMap<mlir::Operation *, mlir::scf::ForOp> oldLoops;
  struct Storage {
    mlir::Value memref;
    std::unique_ptr<View> view;
  };
  llvm::DenseMap<mlir::Value, std::shared_ptr<Storage>> buffers;
  llvm::DenseMap<mlir::Value, std::unique_ptr<View>> loads;
  /// Where loads that are guarded are copied to.
  llvm::DenseMap<mlir::Value, View> readCopies;
  /// The views of gathers of rows and of masked loads.
  llvm::DenseMap<mlir::Value, std::unique_ptr<View>> irregular;
  /// What the open nest reads from a copy in another order.
  LoadedViews staged;
  /// By arguments of the new function.
  llvm::DenseMap<mlir::Value, FirstReader> readers;
  /// The memory of each storage of the plan.
  llvm::DenseMap<mlir::Value, mlir::Value> memory;
  llvm::DenseMap<mlir::Operation *, std::shared_ptr<DeepMatmul>> deepMatmuls;
  llvm::DenseMap<mlir::Operation *, MaskedRows> maskedRows;
  /// Stores of these, and the word that says whether they are done.
  llvm::DenseMap<mlir::Operation *, mlir::Value> storedWithSums;
  /// Operands of these, and whether they are the left one.
  llvm::DenseMap<mlir::Value, std::pair<DeepMatmul *, bool>> packedInBranches;
  /// What a thread's programs keep of such products, and how many do so.
  mlir::Value sharingState;
  int64_t sharedProducts = 0;
  /// Ends of rows that somebody sees: of masks, and of ranges of several parts.
  llvm::MapVector<mlir::Value, mlir::Value> endsOfMasks;
  llvm::SmallVector<std::pair<WantedRange, Interval>, 0> intervals;
  /// Tensors of rank 0 that are a value.
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  Frame *frame = nullptr;
};

} // namespace tilebridge::cpu
