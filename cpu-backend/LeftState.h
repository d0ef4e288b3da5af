//===- LeftState.h - what a program leaves to the next one ------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

namespace tilebridge::cpu {

/// Scratch memory in which a program leaves to the next one of its thread what
/// that needs to go on with it: that there was a program, its ids, and numbers.
class LeftState {
public:
  /// `memory`: i64, all zeros when a thread begins; four of them are used, from
  /// `first` on.
  LeftState(mlir::func::FuncOp kernel, mlir::memref::AllocOp memory,
            int64_t first)
      : kernel(kernel), memory(memory), first(first) {}

  /// Reads what was left: `map` gets it in place of this program's ids and of
  /// the values. Where nothing was, the ids are this one's, for which all can
  /// be computed.
  void read(mlir::OpBuilder &b, mlir::ValueRange values, mlir::IRMapping &map);
  /// Leaves this program, and these values.
  void write(mlir::OpBuilder &b, mlir::ValueRange values);
  /// Nothing is left any more.
  void clear(mlir::OpBuilder &b);

  mlir::Value idOf(int dim);
  mlir::Location loc() { return memory.getLoc(); }

  /// Whether something was left.
  mlir::Value isThere;

private:
  void set(mlir::OpBuilder &b, int64_t at, mlir::Value value);

  mlir::func::FuncOp kernel;
  mlir::memref::AllocOp memory;
  int64_t first;
  mlir::SmallVector<mlir::Value> places;
};

} // namespace tilebridge::cpu
