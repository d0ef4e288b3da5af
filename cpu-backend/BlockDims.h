//===- BlockDims.h - dimensions of blocks that are one ----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace tilebridge::cpu {

/// The dimensions of a function's blocks, in classes: those of one class have
/// one size, as element i of one block is computed from elements i of others.
class BlockDims {
public:
  explicit BlockDims(mlir::func::FuncOp func);

  struct Class {
    int64_t size = 0;
    /// Another size would need other code.
    bool isFixed = false;
    /// Behind the last index that is read from or written to memory.
    int64_t end = 0;
    /// It is a dimension of a product of elements of so many bits at least (0:
    /// of none).
    unsigned productBits = 0;
    /// Where its elements are added up: inputs and their dimensions.
    llvm::SmallVector<std::pair<mlir::OpOperand *, unsigned>> summed;
    /// Masks by which its elements are stored, and their dimensions.
    llvm::SmallVector<std::pair<mlir::Value, unsigned>> storeMasks;
  };

  /// That of a dimension; null where nobody asks for its size.
  const Class *classOf(mlir::Value block, unsigned dim) const;
  llvm::ArrayRef<Class> all() const { return classes; }
  /// The blocks that have a dimension in a class.
  llvm::ArrayRef<mlir::Value> blocks() const { return values.getArrayRef(); }

private:
  using Facts = Class;

  unsigned node(mlir::Value block, unsigned dim);
  void join(mlir::Value a, unsigned dimA, mlir::Value b, unsigned dimB);
  void joinAll(mlir::Value a, mlir::Value b);
  void fix(mlir::Value block, unsigned dim) {
    facts[node(block, dim)].isFixed = true;
  }
  void fixAll(mlir::Value block);
  void reach(mlir::Value block, unsigned dim, std::optional<int64_t> end);
  void visit(mlir::Operation *op);
  bool visitKnown(mlir::Operation *op);
  bool visitAccess(mlir::Operation *op);
  bool visitReshape(mlir::Operation *op);
  bool visitLinalg(mlir::Operation *op);
  bool visitControlFlow(mlir::Operation *op);

  llvm::DenseMap<std::pair<mlir::Value, unsigned>, unsigned> ids;
  llvm::SmallSetVector<mlir::Value, 32> values;
  llvm::SmallVector<Facts, 0> facts;
  llvm::SmallVector<Class, 0> classes;
  llvm::IntEqClasses joined;
};

} // namespace tilebridge::cpu
