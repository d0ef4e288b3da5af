//===- Transfers.h - what transfers touch -----------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/dialect/TransferRoot.h"

namespace tilebridge::accel {
/// True if two accesses to chip memory, given by their roots, cannot meet:
/// they are different arguments, one of which is accel.noalias.
bool areApart(mlir::Value rootA, mlir::Value rootB);

/// What an op, with all that is in it, does to chip memory.
struct ChipAccesses {
  llvm::SmallVector<mlir::Value> read;
  llvm::SmallVector<mlir::Value> written;
  /// Something that orders, or touches, any memory.
  bool unknown = false;

  void add(mlir::Operation *op);
};
} // namespace tilebridge::accel
