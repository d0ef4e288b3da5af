//===- PlainAccesses.h - what kernels read and write ------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Value.h"

namespace tilebridge::cpu {

/// The buffer or argument that a memref is another name for.
mlir::Value baseOf(mlir::Value memref);

/// The memref that the operation reads or writes; null if it does neither.
mlir::Value accessedMemory(mlir::Operation *op);
bool isPlainWrite(mlir::Operation *op);

/// Only what is read and written by plain accesses can be done later: no
/// atomics, nothing that waits or prints.
bool isPlain(mlir::Operation *op);

/// A name for an allocation as it is, whose indices are the same.
bool isWholeName(mlir::Operation *op);

/// A prefetch, or what is computed for prefetches alone.
bool onlyAsks(mlir::Operation *op);

} // namespace tilebridge::cpu
