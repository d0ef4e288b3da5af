//===- RowRun.h - gathered rows that follow one another ----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/View.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilebridge::cpu {

/// What is asked of a vector of numbers of rows, as i64, and of the mask of
/// those that are there (null: all are): whether they follow one another, each
/// `step` behind the one before.
struct RowRun {
  RowRun(mlir::ImplicitLocOpBuilder &b, mlir::Value numbers, mlir::Value mask,
         int64_t step = 1);

  /// Where the first row is, or would be, if those that are there do so. An
  /// index; 0 if none is there.
  mlir::Value start;
  /// They do; all are there, none is (null where there is no mask).
  mlir::Value isRun, isWhole, isNone;
};

/// The numbers of the rows at `at`, and the mask of those that are there (null:
/// all are), as vectors of `lanes`.
struct RowLanes {
  static mlir::FailureOr<RowLanes> of(FunctionEmitter &fe, const View &view,
                                      llvm::ArrayRef<Index> at, int64_t lanes);

  mlir::Value numbers, mask;
};

/// Asks for the line behind that of an element, which need not exist.
void askForNextLine(mlir::ImplicitLocOpBuilder &b, const View &view,
                    mlir::Value place, bool isWrite);

/// What is stored of a part of a row; null: what was read.
using ConvertRow =
    llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &, mlir::Value)>;

/// Copies the rows `numbers` of `from`, where they are contiguous along its
/// rows, to those from `first` on of `to`, which is contiguous along the other
/// dimension. `pad`, a vector: what is not there.
void copyRun(mlir::OpBuilder &builder, const View &from, const View &to,
             mlir::Value first, mlir::Value numbers, mlir::Value mask,
             mlir::Value pad, mlir::Location loc, ConvertRow convert);

} // namespace tilebridge::cpu
