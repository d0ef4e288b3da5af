//===- LoopChains.h - indices and masks of early loads ----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A load of rows, or one with a mask, needs blocks that the loop computes, most
// often from other loads of the loop. To start it iterations ahead these ops
// (its chain) are done again there, into buffers of their own; the loads that
// they read (its feeds) are started one iteration earlier still.
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/dialect/AccelOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace tilebridge::accel {

struct Chain {
  /// Ops on blocks, in their order.
  llvm::SmallVector<mlir::Operation *> ops;
  /// The buffers of an iteration that they write.
  llvm::SmallVector<AllocOp> buffers;
  /// Loads whose buffers they read.
  llvm::SmallVector<CopyOp> feeds;

  /// Adds the ops and buffers of another chain of the loop.
  void add(const Chain &other);
};

/// What computes the rows and the mask of a load in a loop. `isFeed` says which
/// loads can be started early, `canRepeat` which scalars can be computed for
/// another iteration. None where something else makes the blocks.
std::optional<Chain> chainOf(CopyOp load, mlir::scf::ForOp loop,
                             llvm::function_ref<bool(CopyOp)> isFeed,
                             llvm::function_ref<bool(mlir::Value)> canRepeat);

/// Does a chain again where the rewriter is: `mapping` has the buffers of the
/// feeds, and those that the load reads; `scalar` gives a value of the loop for
/// that iteration.
void repeatChain(mlir::IRRewriter &rewriter, const Chain &chain,
                 mlir::IRMapping &mapping,
                 llvm::function_ref<mlir::Value(mlir::Value)> scalar);

/// Erases what of a chain nothing reads any more in its own iteration.
void eraseUnused(mlir::IRRewriter &rewriter, const Chain &chain);

} // namespace tilebridge::accel
