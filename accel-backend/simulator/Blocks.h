//===- Blocks.h - ops of linalg on memrefs ----------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilebridge::accel {

struct Pe;

/// The loops of an op of linalg over memrefs, whose sizes are known now.
struct Loops {
  llvm::SmallVector<int64_t> ranges;
  llvm::SmallVector<unsigned> parallel, reduction;
  llvm::SmallVector<int64_t> parallelShape, reductionShape;
};

/// Reports operands that do not fit together.
mlir::FailureOr<Loops> loopsOf(mlir::linalg::LinalgOp op, Pe &pe);

/// Runs the op's body for all points of its loops; its operands were checked.
mlir::LogicalResult evaluateBlocks(mlir::linalg::LinalgOp op, Pe &pe,
                                   const Loops &loops);

} // namespace tilebridge::accel
