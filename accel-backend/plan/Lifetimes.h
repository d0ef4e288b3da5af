//===- Lifetimes.h - when buffers are needed ------------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/dialect/AccelOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilebridge::accel {

/// A buffer is needed from its first use until after its last one, in the order
/// in which the function is written down. Uses are those of all its views, and
/// those of transfers under way end where their tokens are waited for. In a
/// loop that a buffer was allocated before, or that carries it or such a token,
/// it is needed in the whole loop.
struct Lifetime {
  AllocOp op;
  int64_t begin = 0, end = 0;
};

/// The lifetimes of all buffers that are used.
llvm::SmallVector<Lifetime> lifetimesOf(mlir::func::FuncOp kernel);

/// Moves allocations into the loops that write all of the buffer first in each
/// iteration: it is then another one in each.
void sinkAllocations(mlir::func::FuncOp kernel);

} // namespace tilebridge::accel
