//===- DimensionClasses.h - which dimensions are cut together -------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Two dimensions of tensors are in one class where an operation makes position
// i of one depend on position i of the other: elementwise arithmetic ties all
// of its operands' dimensions, a matmul its rows to those of the accumulator,
// a loop what it carries to what it yields. To make blocks smaller along one
// dimension is to make them smaller along its whole class.
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Value.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace tilebridge::accel {
class CopyOp;

/// What happens along a class, from what can be cut most easily on.
enum class DimensionKind {
  /// Positions do not see one another.
  Parallel,
  /// Matmuls sum over it, with an accumulator; nothing else combines positions.
  Contracted,
  /// Something else is reduced along it.
  Reduced,
  /// Each position depends on those before it.
  Scanned,
  /// Positions are rearranged, or looked up, or leave as a whole.
  Fixed,
};
llvm::StringRef nameOf(DimensionKind kind);

/// Gives each use of a block that is computed from scalars and positions alone
/// (a constant, a range, a mask of them) a copy of its own, so that it ties
/// none of its users to another. CSE undoes it. Fails, and leaves some of them
/// shared, where that would make the function too large.
mlir::LogicalResult separateUses(mlir::func::FuncOp func);

/// Uses must have been separated.
class DimensionClasses {
public:
  struct Class {
    DimensionKind kind = DimensionKind::Parallel;
    /// The largest size of its dimensions; those of size 1 are repeated.
    int64_t size = 1;
    /// The first operation that made it more than parallel; null if none.
    mlir::Operation *because = nullptr;
  };

  explicit DimensionClasses(mlir::func::FuncOp func);

  /// The number of the class of a tensor's dimension; numbers follow the order
  /// of the program.
  unsigned of(mlir::Value tensor, int64_t dimension) const;
  llvm::SmallVector<unsigned> of(mlir::Value tensor) const;

  llvm::ArrayRef<Class> classes() const { return all; }

private:
  unsigned node(mlir::Value tensor, int64_t dimension);
  void tie(mlir::Value a, int64_t aDim, mlir::Value b, int64_t bDim);
  void tieAll(mlir::Value a, mlir::Value b);
  void tieAll(mlir::ValueRange a, mlir::ValueRange b);
  void mark(mlir::Value tensor, int64_t dimension, DimensionKind kind,
            mlir::Operation *because);
  void fix(mlir::Value tensor, mlir::Operation *because);
  void fixAll(mlir::Operation *op);

  void visit(mlir::Operation *op);
  bool visitControlFlow(mlir::Operation *op);
  bool visitLinalg(mlir::Operation *op);
  bool visitShape(mlir::Operation *op);
  bool visitCompute(mlir::Operation *op);
  bool visitAccess(mlir::Operation *op);
  void visitCopy(CopyOp copy);

  struct Node {
    int64_t size;
    DimensionKind kind = DimensionKind::Parallel;
    mlir::Operation *because = nullptr;
  };
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, unsigned> numbers;
  std::vector<Node> nodes;
  llvm::EquivalenceClasses<unsigned> ties;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, unsigned> classOf;
  std::vector<Class> all;
};

} // namespace tilebridge::accel
