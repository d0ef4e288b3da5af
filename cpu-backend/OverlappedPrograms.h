//===- OverlappedPrograms.h - programs in two halves ------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/NeededValues.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace tilebridge::cpu {

/// A kernel whose first loops reduce what they read to a few numbers, and
/// whose last ones store. All operations are those of the function's block.
struct OverlappedPrograms {
  /// What has effects or regions: of the first loops and before, behind them,
  /// and from the last loops on.
  llvm::SetVector<mlir::Operation *> begin, middle, end;
  llvm::SmallVector<mlir::memref::AllocOp> buffers;
  /// What the second half takes from the first one, and the last loops from all
  /// before.
  NeededValues later, last;
  /// Of the first loop: what is computed from arguments alone, for `length`;
  /// bytes that it reads in an element of that length.
  NeededValues early;
  mlir::scf::ForOp first;
  int64_t bytes = 0;
  /// It widens all that it reads.
  bool isNarrow = true;
};

/// The halves of the kernel; nothing if it has none.
std::optional<OverlappedPrograms>
findOverlappedPrograms(mlir::func::FuncOp kernel);

} // namespace tilebridge::cpu
