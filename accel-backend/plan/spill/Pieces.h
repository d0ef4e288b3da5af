//===- Pieces.h - ops on buffers that are farther away ----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Compute works on local memory. An op one of whose buffers is in another
// memory is done on pieces of the buffer, one after the other, each copied to
// local memory before and back after where it has changed; what cannot be done
// piece by piece gets all of the buffer at once.
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/dialect/AccelOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilebridge::accel {

class Nest;

/// One dimension that is gone through in parts.
struct PieceLoop {
  int64_t dimension, size;
};

/// Rewrites the ops that use buffers of one memory.
class Pieces {
public:
  /// `budget`: bytes of local memory that the pieces of one op may take.
  Pieces(MemoryAttr far, MemoryAttr local, uint64_t budget)
      : far(far), local(local), budget(budget) {}

  bool isFar(mlir::Value value) const;
  void rewrite(mlir::Operation *op);

  /// A buffer in local memory, and a copy of a block.
  mlir::Value allocate(mlir::OpBuilder &builder, mlir::Location loc,
                       llvm::ArrayRef<int64_t> shape, mlir::Type element);
  void copy(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value from,
            mlir::Value to);

private:
  /// A part of an operand in a buffer of its own in local memory.
  mlir::Value fetch(mlir::OpBuilder &builder, mlir::Location loc, Nest &nest,
                    mlir::Value block, llvm::ArrayRef<mlir::OpFoldResult> begin,
                    llvm::ArrayRef<mlir::OpFoldResult> count,
                    llvm::ArrayRef<int64_t> shape);

  bool rewriteLinalg(mlir::linalg::LinalgOp op);
  bool rewriteLoad(CopyOp copy);
  bool rewriteStore(CopyOp copy);
  bool rewriteElements(mlir::Operation *op);
  bool rewriteScan(ComputeOp op);
  bool rewriteHistogram(ComputeOp op);
  void rewriteScalar(mlir::Operation *op);
  void rewriteWhole(mlir::Operation *op);

  llvm::SmallVector<int64_t> sizesFor(llvm::ArrayRef<int64_t> shape,
                                      uint64_t bytesOfElement) const;

  MemoryAttr far, local;
  uint64_t budget;
};

} // namespace tilebridge::accel
