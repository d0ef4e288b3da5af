//===- LoopBuffers.h - several buffers for what a loop moves ----*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/dialect/AccelOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace tilebridge::accel {
/// The start of what `copy` copies, of these operands.
CopyStartOp startOf(mlir::OpBuilder &builder, CopyOp copy,
                    mlir::ValueRange operands);

/// Starts the loads of a loop iterations ahead, and waits for its stores an
/// iteration later, as far as its accesses allow it. `depth`: the number of
/// buffers of a copy without accel.depth.
void bufferLoop(mlir::IRRewriter &rewriter, mlir::scf::ForOp loop,
                int64_t depth);
} // namespace tilebridge::accel
