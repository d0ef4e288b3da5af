//===- StridedVariables.h - strided tensors that flow --------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Every tensor that a loop carries, a branch gives or a select chooses is
// taken to be strided until a value that flows into it is not: the tensor is
// written as its parts (a base, an offset, a stride a dimension), which stand
// for what will be carried, and analysis goes on from them. What is left then
// is a fixed point; parts that never change need not be carried at all.
//===----------------------------------------------------------------------===//
#pragma once

#include "triton-to-linalg/analysis/StridedParts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace tilebridge::ttl {

/// A tensor that values flow into.
struct Variable {
  mlir::Operation *op; // the loop, branch or select
  mlir::Value value;   // an argument or a result of it
  llvm::SmallVector<mlir::OpOperand *, 2> sources;
  /// Gives the parts of `value`; all other uses are of `rebuilt`.
  mlir::UnrealizedConversionCastOp parts;
  mlir::Value rebuilt;
  /// A part that is one value whenever it flows in; null: not yet known.
  llvm::SmallVector<std::optional<Part>> known;
  llvm::SmallVector<bool> isCarried;
};

/// The one condition of a select between tensors; null if there are several.
mlir::Value conditionOf(mlir::arith::SelectOp select);

class StridedVariables {
public:
  /// Writes the variables in `root` as their parts. Those that are not strided
  /// are as they were before.
  StridedVariables(mlir::Operation *root, mlir::IRRewriter &rewriter);

  std::vector<Variable> variables;
  /// The parts of what flows into a variable.
  const StridedParts &partsOf(mlir::Value source) const {
    return formOf.find(source)->second;
  }
  /// A part in terms of those that are carried and of what is outside.
  Part resolve(const Part &part) {
    bool isUnknown = false;
    return resolve(part, isUnknown);
  }

private:
  void collect();
  void add(mlir::Operation *op, mlir::Value value,
           llvm::ArrayRef<mlir::OpOperand *> sources);
  void addLoop(mlir::scf::ForOp loop);
  void addLoop(mlir::scf::WhileOp loop);
  void addBranch(mlir::scf::IfOp branch);
  void addSelect(mlir::arith::SelectOp select);
  void split(Variable &variable);
  void giveUp(Variable &variable);
  bool dropUnstrided();
  void findKnownParts();
  Part resolve(const Part &part, bool &isUnknown);
  const Expr *resolve(const Expr *expr, bool &isUnknown);

  mlir::Operation *root;
  mlir::IRRewriter &rewriter;
  ExprPool pool;
  llvm::DenseMap<mlir::Value, unsigned> partOf; // a part: its variable's number
  llvm::DenseMap<mlir::Value, StridedParts> formOf; // of sources
};

} // namespace tilebridge::ttl
