//===- DeferredStores.h - stores that the next program does -----*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace tilebridge::cpu {

/// The end of a kernel that can be left to the next program: loops that store
/// what others before have put into a buffer.
struct DeferredStores {
  /// The buffer, and the loop that fills most of it, from which on what it had
  /// is gone.
  mlir::memref::AllocOp buffer;
  mlir::scf::ForOp filled;
  /// The loop that does most of the stores, and the others.
  mlir::scf::ForOp stored;
  llvm::SmallVector<mlir::scf::ForOp> edges;
  /// Elements that one step of both takes.
  int64_t step = 0;
  /// What the loops take from outside, in the order of their operations: these
  /// are computed again, from arguments and from numbers that are kept.
  llvm::SetVector<mlir::Operation *> slice;
  llvm::SetVector<mlir::Value> kept;
};

/// The end of the kernel, whose program ids are arguments from `firstId` on;
/// nothing if it has none that can wait.
std::optional<DeferredStores> findDeferredStores(mlir::func::FuncOp kernel);

} // namespace tilebridge::cpu
