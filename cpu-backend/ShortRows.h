//===- ShortRows.h - kernels that wait for sums of their rows ---*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilebridge::cpu {

/// A small kernel whose programs have a row each, of vectors, and a loop over
/// it that waits for what an earlier one has reduced: a norm, say.
class ShortRows {
public:
  explicit ShortRows(mlir::func::FuncOp kernel) : kernel(kernel) {}

  /// Whether the kernel is one.
  bool find();

  /// Adds the function that returns 1 where a launch has many programs, whose
  /// rows are short, and reads and writes at most `cacheBytes`, or else 0. Null
  /// if how long rows are is not the same for all programs.
  mlir::func::FuncOp makeStep(llvm::StringRef suffix, int64_t cacheBytes);

  /// A program's id.
  mlir::Value idOf(unsigned dim);

  /// Of a row, at most. Two longer ones do not stay in the first cache until
  /// they are read again, and take long beside the wait.
  int64_t mostElements() const { return 4096 / bytesOfElement; }

private:
  bool isPlainAndSmall();
  bool findFirst();
  bool findBytes();

  mlir::func::FuncOp kernel;
  /// The first loop that others wait for, and what it reads in each step of a
  /// row.
  mlir::scf::ForOp first;
  int64_t bytesOfElement = 0;
  /// Such a loop reduces again what others wait for.
  bool waitsTwice = false;
};

} // namespace tilebridge::cpu
