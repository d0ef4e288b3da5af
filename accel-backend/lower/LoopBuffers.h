//===- LoopBuffers.h - several buffers for what a loop moves ----*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/lower/LoopChains.h"
#include "accel-backend/lower/Transfers.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

namespace tilebridge::accel {
/// The start of what `copy` copies, of these operands.
CopyStartOp startOf(mlir::OpBuilder &builder, CopyOp copy,
                    mlir::ValueRange operands);

/// Starts the loads of a loop iterations ahead, and waits for its stores an
/// iteration later, as far as its accesses allow it. `depth`: the number of
/// buffers of a copy without accel.depth.
void bufferLoop(mlir::IRRewriter &rewriter, mlir::scf::ForOp loop,
                int64_t depth);

/// A loop being given buffers.
struct LoopWork {
  mlir::scf::ForOp loop;
  int64_t depth;
  llvm::SmallVector<CopyOp> loads;
  /// What computes the operands of each load; empty for boxes.
  llvm::SmallVector<std::optional<Chain>> chains;
  /// Each store, or the scf.if that holds nothing else.
  llvm::SmallVector<mlir::Operation *> stores;
  /// Carried scalars that addresses of loads depend on.
  llvm::SmallSetVector<mlir::BlockArgument, 4> carried;
  /// What the loop does to chip memory.
  ChipAccesses accesses;

  bool isFeed(CopyOp load) const {
    return llvm::any_of(chains, [&](const std::optional<Chain> &chain) {
      return chain && llvm::is_contained(chain->feeds, load);
    });
  }
};

/// The buffer of an iteration that `memref` is a view of; null where it is
/// none.
AllocOp bufferOf(mlir::Value memref, mlir::scf::ForOp loop);

/// The store in `op`: itself, or all that an scf.if does; null where it is
/// none.
CopyOp storeIn(mlir::Operation *op);

/// A new buffer of `slots` times the size, before the loop.
mlir::Value makeSlots(mlir::IRRewriter &rewriter, LoopWork &work, AllocOp alloc,
                      int64_t slots);

/// The buffer of one slot, and the slot after `slot`.
mlir::Value slotOf(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value slots, mlir::Value slot);
mlir::Value nextSlot(mlir::IRRewriter &rewriter, mlir::Location loc,
                     mlir::Value slot, int64_t slots);

/// Uses `view`, of another layout, in the place of `buffer`.
void replaceBuffer(mlir::IRRewriter &rewriter, mlir::Value buffer,
                   mlir::Value view);

/// Gives the loads of a loop slots, and starts them iterations ahead.
void bufferLoads(mlir::IRRewriter &rewriter, LoopWork &work);

/// Gives the stores of a loop two slots each.
void bufferStores(mlir::IRRewriter &rewriter, LoopWork &work);
} // namespace tilebridge::accel
