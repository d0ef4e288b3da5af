//===- UnderWay.h - where transfers are under way ---------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/dialect/AccelOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace tilebridge::accel {

/// Reports each token that is not waited for exactly once on every path. Those
/// of no transfer (accel.completed) may be waited for any number of times.
mlir::LogicalResult verifyTokens(mlir::func::FuncOp kernel);

/// What may run between the start of a transfer and its wait.
struct UnderWay {
  llvm::SetVector<mlir::Operation *> ops;
  /// How many iterations of a loop later the wait is; loops of 0 are left out.
  llvm::MapVector<mlir::Operation *, int64_t> later;
};

/// Tokens must have been verified.
UnderWay underWay(CopyStartOp start);

} // namespace tilebridge::accel
