//===- Decide.h - decisions as attributes ---------------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/plan/DimensionClasses.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilebridge::accel {

/// How many buffers each load is to have in a loop.
void setDepth(mlir::func::FuncOp kernel, int64_t depth);

/// Whether depths or tiles have been decided.
bool isDecided(mlir::func::FuncOp kernel);
/// Nothing is decided any more.
void clearDecisions(mlir::func::FuncOp kernel);

/// A class of dimensions that can be tiled, and what it is tiled to.
struct Tile {
  /// A block that has it, by the operation that has the attribute.
  mlir::Operation *op;
  int64_t dimension;
  int64_t blockSize, size;
  /// Of all blocks that have it.
  double bytes;
  bool isContracted;
};

/// The blocks of a kernel as far as they can be smaller. Sizes are
/// kept as `accel.tile` on loads and stores.
class Tiles {
public:
  explicit Tiles(mlir::func::FuncOp kernel);

  llvm::ArrayRef<Tile> all() const { return tiles; }
  void set(unsigned index, int64_t size);

  /// Halves what has most bytes, sums before rows and columns of results. False
  /// where nothing can be halved.
  bool shrink();
  /// As if nothing had been decided.
  void clear();

private:
  void write();

  llvm::SmallVector<Tile> tiles;
};

} // namespace tilebridge::accel
