//===- Nest.h - a nest of loops, and where it stands -------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/View.h"

#include <memory>

namespace tilebridge::cpu {

struct PieceRead;
struct PieceReads;

/// One loop of a nest (level 0: what stands before the nest). What depends only
/// on the loops up to here is computed once, before the first loop inside.
struct Level {
  mlir::Block *block = nullptr;
  /// The first loop inside, once it exists; before that the end of the block.
  mlir::Operation *before = nullptr;
  bool hasLoop = false;
  /// By tensors of the old function, or by what views are told apart by: views
  /// of pieces of a row do not outlive the level.
  template <typename Key>
  using Memo =
      llvm::DenseMap<Key,
                     llvm::SmallVector<std::pair<Indices, mlir::Value>, 1>>;
  Memo<mlir::Value> values;
  Memo<uint64_t> rows, limits;
  /// As `rows`, where nothing may be inside of the box.
  Memo<uint64_t> maskedRows;
  /// Rows that are one vector.
  Memo<uint64_t> wholeRows;
  /// The numbers of the rows that are asked for while one is read.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> nextRows;
};

/// The nearest cache that what is asked for comes to.
enum class NearestCache { First, Second };

/// As LLVM's prefetches give it: 3 is the first cache.
inline unsigned hintOf(NearestCache cache) {
  return cache == NearestCache::First ? 3 : 2;
}

/// A block that is read later: how many elements behind the one that is read
/// now, and the condition under which it is to be asked for (null: always).
struct Later {
  mlir::Value distance, condition;
  NearestCache cache = NearestCache::Second;
};

/// Where `later` tells to: asks for `lanes` elements behind `place`.
void prefetchLater(mlir::OpBuilder &b, mlir::Location loc, mlir::Value memref,
                   mlir::Value place, const Later &later, int64_t lanes);

/// Where evaluation happens: the loops that are open, and how lanes are dealt
/// with.
struct Frame {
  llvm::SmallVector<std::unique_ptr<Level>> levels;
  /// Lanes of vectors, and the dimension of the nest and the level they run
  /// along.
  int64_t lanes = 1;
  int vecDim = -1;
  unsigned vecLevel = 0;
  /// Lanes along vecDim are inside of every box, as far as outer loops decide
  /// that.
  bool interior = false;
  /// Where boxes end that interior lanes are inside of.
  llvm::SmallVector<mlir::Value> bounds;
  /// The outputs that go around the caches in the loop along the lanes, each
  /// with the condition for it (null: true).
  llvm::DenseMap<const View *, mlir::Value> streams;
  /// The loads of which later blocks are asked for.
  llvm::DenseMap<const View *, Later> prefetches;
  /// The outputs of which lines are asked for before they are stored to.
  llvm::SmallPtrSet<const View *, 2> claims;
  /// Where not null: what gathers read of the pieces that lanes are in.
  const PieceReads *pieces = nullptr;
  /// Where rows are gathered: whether the launch reads so much of them that
  /// they come from memory.
  llvm::DenseMap<const View *, mlir::Value> largeRows;
  /// What scans have combined up to the lanes that are computed now.
  llvm::DenseMap<mlir::Operation *, mlir::Value> scanned;
  /// Where not null: the lanes that are to be computed at all.
  mlir::Value edgeMask;
  /// What the nest reads across its lanes and has transposed in registers: the
  /// lanes of each column of a square, and the column that is computed now.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> squares;
  unsigned column = 0;

  /// Level 0 is where the builder stands.
  void open(mlir::OpBuilder &builder);
  /// Opens a loop along a dimension, a level of its own, with lanes or without;
  /// the builder stands inside of it then.
  Index openLoop(mlir::OpBuilder &builder, mlir::Location loc, unsigned dim,
                 mlir::Value from, mlir::Value to, int64_t step, bool hasLanes);
};

/// One result of a nest: a tensor written to memory, or a reduction.
struct NestOutput {
  /// Written: the tensor, and where it goes.
  mlir::Value tensor;
  View view;
  /// Writes memory that others see, not scratch; where the program does that.
  bool isStore = false;
  mlir::LocationAttr storeLoc;
  /// The memory is an argument's that the function never reads.
  bool isWriteOnly = false;
  /// Where not null, only elements for which it is true are written.
  mlir::Value mask;
  /// The memref that becomes the tensor's buffer.
  mlir::Value buffer;

  /// Where not null, elements come from here and not from `tensor`.
  std::shared_ptr<View> source;
  /// Where not null, elements of the mask come from here and not from `mask`.
  std::shared_ptr<View> maskSource;

  /// Reduced: the op; its results are given by the emitter.
  mlir::Operation *reduce = nullptr;
};

struct Nest {
  mlir::Location loc;
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<NestOutput, 0> outputs;
  llvm::SmallVector<int64_t> reduceDims;
  /// Hardly ever runs: small code counts, not speed.
  bool isCold = false;
  /// Where true (null: never), stores have been sent to scratch memory.
  mlir::Value redirected = {};
  /// Where true (null: never), places of gathers that are read in pieces may be
  /// any.
  mlir::Value unknownPlaces = {};
  /// Where not empty, lanes change places in groups of so many before they are
  /// written: each takes what lies there in memory.
  llvm::SmallVector<int64_t> places = {};
  /// Where not empty, what lies from there on along each dimension (null: the
  /// block's end) need not be written.
  llvm::SmallVector<mlir::Value> ends = {};
};

/// The first nest that reads an argument: the loops around it, outermost
/// first, and whether a later nest asks for the next block.
struct FirstReader {
  llvm::SmallVector<mlir::Operation *> loops;
  unsigned asking;
};

} // namespace tilebridge::cpu
