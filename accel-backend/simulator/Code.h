//===- Code.h - a kernel as flat instructions -------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Regions become jumps, so that a PE can stop at any instruction and go on
// later.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace tilebridge::accel {

enum class Action {
  Evaluate,   // an op without regions, or one that runs as a whole
  ForBegin,   // to `target` where the loop has no iteration
  ForNext,    // to `target`, the body, where there is one more
  WhileBegin, // sets the arguments of the condition's block
  WhileTest,  // to `target`, behind the loop, where the condition is false
  WhileNext,  // to `target`, the condition's block
  IfBegin,    // to `target`, the other branch, where the condition is false
  Switch,     // to one of `targets`
  Yield,      // sets the results of an op and goes to `target`
  Call,       // to `target`, the callee
  Return
};

struct Instruction {
  Action action;
  mlir::Operation *op;
  size_t target = 0;
  std::vector<size_t> targets; // of a switch: default, then the cases
};

class Code {
public:
  /// Reports what cannot be run, such as calls to functions without a body.
  static mlir::FailureOr<Code> compile(mlir::func::FuncOp kernel);

  std::vector<Instruction> instructions;
  /// Where functions begin; the kernel's is 0.
  llvm::DenseMap<mlir::Operation *, size_t> entries;

private:
  mlir::LogicalResult append(mlir::func::FuncOp function);
  mlir::LogicalResult append(mlir::Block &block);
  mlir::LogicalResult append(mlir::Operation &op);
  mlir::LogicalResult appendFor(mlir::Operation &op);
  mlir::LogicalResult appendWhile(mlir::Operation &op);
  mlir::LogicalResult appendBranches(mlir::Operation &op);
  size_t add(Action action, mlir::Operation *op, size_t target = 0);
  size_t next() const { return instructions.size(); }

  std::vector<mlir::func::FuncOp> pending;
};

} // namespace tilebridge::accel
