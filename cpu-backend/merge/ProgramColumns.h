//===- ProgramColumns.h - columns that programs have side by side ---------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TILEBRIDGE_CPU_BACKEND_MERGE_PROGRAMCOLUMNS_H
#define TILEBRIDGE_CPU_BACKEND_MERGE_PROGRAMCOLUMNS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilebridge::cpu {

/// What programs next to one another along an axis access next to one another.
struct ProgramColumns {
  /// Elements of a row that each has; 0: one, and the row is no dimension of
  /// its blocks.
  int64_t width = 0;
  /// Of the smallest element.
  int64_t bytes = 0;
};

/// Single columns; nothing if there are none.
std::optional<ProgramColumns> findColumns(mlir::func::FuncOp func,
                                          unsigned axis);

/// Blocks of a few columns, less than a line of each row, or, where a loop goes
/// down the rows, a line, and up to four where it only sums these up.
std::optional<ProgramColumns> findNarrowBlocks(mlir::func::FuncOp func,
                                               unsigned axis);

/// A loop goes down rows, of which each iteration reads a block.
bool readsRowsInLoop(mlir::func::FuncOp func);

/// Whether a loop sums up rows of a matrix, and nothing else is costly: these
/// are read as fast as memory gives rows, which are followed, and whose pages
/// are found, sooner the more lines of each are read.
bool isSumOfRows(mlir::func::FuncOp func);

int64_t elementBytes(mlir::Type memref);

} // namespace tilebridge::cpu

#endif // TILEBRIDGE_CPU_BACKEND_MERGE_PROGRAMCOLUMNS_H
