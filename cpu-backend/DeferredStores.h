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

/// Rows of fewer bytes are in the first cache the second time they are read:
/// with rows of 4096 f32 a Zen 4 takes 1.04 times as long, of 5000 and 8192
/// 0.91 to 0.98.
inline constexpr int64_t leastRowBytes = (16 << 10) + 1;

/// On the loop that fills a buffer and stores what another program has left
/// there.
inline constexpr llvm::StringLiteral fusedAttr = "tilebridge.fused";

/// The end of a kernel that can be left to the next program: loops that store
/// what others before have put into a buffer.
struct DeferredStores {
  /// The buffer, and the loop that fills most of it, from which on what it had
  /// is gone. Without a buffer, the loop that first reads the row.
  mlir::memref::AllocOp buffer;
  mlir::scf::ForOp filled;
  /// The loop that does most of the stores, and the others, or what else comes
  /// behind it.
  mlir::scf::ForOp stored;
  llvm::SmallVector<mlir::Operation *> edges;
  /// Without a buffer: what a program copies where arguments overlap, and what
  /// an element of the row takes.
  llvm::SetVector<mlir::Operation *> copies;
  int64_t bytesOfElement = 0;
  /// Elements that one step of both takes.
  int64_t step = 0;
  /// What the loops take from outside: operations that compute it again, in
  /// order, from arguments and from numbers that are kept.
  llvm::SetVector<mlir::Operation *> slice;
  llvm::SetVector<mlir::Value> kept;
};

/// The end of the kernel, nothing if it has none that can wait. `longRows`:
/// also one that stores what it reads again from arguments, if that is much.
std::optional<DeferredStores> findDeferredStores(mlir::func::FuncOp kernel,
                                                 bool longRows);

} // namespace tilebridge::cpu
