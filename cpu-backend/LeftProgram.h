//===- LeftProgram.h - what a program leaves to the next one ----*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/SetVector.h"

namespace tilebridge::cpu {

/// Words of scratch memory in which a program says to its thread's next one
/// that something of it is left to do, with its ids and some of its numbers.
class LeftProgram {
public:
  /// Code goes to where `b` stands. Four words are used of `words`.
  LeftProgram(mlir::func::FuncOp kernel, mlir::OpBuilder &b, mlir::Location loc,
              int64_t words, const llvm::SetVector<mlir::Value> &numbers);

  /// Maps this program's ids and numbers to those of the one that has left
  /// something. Where none has, the ids are this one's, for which all can be
  /// computed.
  void read(mlir::IRMapping &map);
  /// This program leaves something.
  void write();
  /// Nothing is left any more.
  void clear();

  /// Whether something was left; from `read` on.
  mlir::Value isThere() const { return there; }
  /// Whether this call is the one behind the last program, which has no ids.
  mlir::Value isRest();

private:
  mlir::Value idOf(int dim);
  mlir::Value constant(int64_t value);
  mlir::Value constant64(int64_t value);
  mlir::Value allocate(mlir::Type element, int64_t size, llvm::StringRef attr);
  void setState(int64_t at, mlir::Value value);

  mlir::func::FuncOp kernel;
  mlir::OpBuilder &b;
  mlir::Location loc;
  /// Of the ids that the kernel uses.
  mlir::SmallVector<int, 3> dims;
  mlir::SmallVector<mlir::Value> numbers, places;
  mlir::Value state, there;
};

/// The function whose programs may leave something to the next ones; null if
/// they may not: merged programs and those that the launch is told of.
mlir::func::FuncOp findLeavingKernel(mlir::ModuleOp module);

} // namespace tilebridge::cpu
