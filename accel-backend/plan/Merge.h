//===- Merge.h - programs that a PE runs together -------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Neighbours of the launch grid may be run as one program by one PE. From the
// mapping of the grid on, such a kernel has a loop over the neighbours around
// its body, a grid of the merged programs, and both are what `gridsOf` and
// `Turns` know of; the loop is taken apart once blocks have their sizes.
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilebridge::accel {

/// Why programs of a kernel must not be run together; null where they may.
struct MergeRefusal {
  llvm::StringRef reason;
  mlir::Operation *because;
};
std::optional<MergeRefusal> refuseMerge(mlir::func::FuncOp kernel);

/// The loop over the neighbours; null where there is none.
mlir::scf::ForOp mergeLoopOf(mlir::func::FuncOp kernel);

} // namespace tilebridge::accel
