//===- NextProgram.h - what the programs that run next read -----*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_CPU_BACKEND_EMIT_NEXTPROGRAM_H
#define TILEBRIDGE_CPU_BACKEND_EMIT_NEXTPROGRAM_H

#include "mlir/IR/Builders.h"

#include "llvm/ADT/SmallVector.h"

namespace tilebridge::cpu {

class FunctionEmitter;

/// How a place in memory moves from one program to the next ones that the same
/// thread runs. Axes along which it does not move, or nobody knows how far, are
/// left out.
class NextProgram {
public:
  /// `offset`: in elements, a value of the new function.
  NextProgram(FunctionEmitter &fe, mlir::Location loc, mlir::Value offset);

  /// It moves, along some axis.
  explicit operator bool() const { return !steps.empty(); }
  /// In elements, to the next program.
  mlir::OpFoldResult growth() const;
  /// Whether there is a program so many `ahead`, along the axis that counts
  /// fastest, whose place is known.
  mlir::Value exists(int64_t ahead) const;

private:
  struct Step {
    mlir::OpFoldResult growth;
    mlir::Value id, count;
    /// This axis counts fastest; null where all other steps say that they do
    /// not, and where it has one program if it does not count fastest.
    mlir::Value isFastest;
  };
  mlir::Value existsApart(const Step &step, int64_t ahead) const;

  FunctionEmitter &fe;
  mlir::Location loc;
  /// Programs that the function runs together.
  int64_t atOnce = 1;
  /// How far apart the ids are of those that follow one another, from so many
  /// programs on; null: 1.
  mlir::Value apart;
  int64_t least = 0;
  llvm::SmallVector<Step, 3> steps;
};

} // namespace tilebridge::cpu

#endif // TILEBRIDGE_CPU_BACKEND_EMIT_NEXTPROGRAM_H
