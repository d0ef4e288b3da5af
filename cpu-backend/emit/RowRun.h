//===- RowRun.h - gathered rows that follow one another ----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilebridge::cpu {

/// What is asked of a vector of numbers of rows, as i64, and of the mask of
/// those that are there (null: all are).
struct RowRun {
  RowRun(mlir::ImplicitLocOpBuilder &b, mlir::Value numbers, mlir::Value mask);

  /// Where the first row is, or would be, if those that are there follow one
  /// another. An index; 0 if none is there.
  mlir::Value start;
  /// They do; all are there, none is (null where there is no mask).
  mlir::Value isRun, isWhole, isNone;
};

} // namespace tilebridge::cpu
