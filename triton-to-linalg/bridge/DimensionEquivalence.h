//===- DimensionEquivalence.h - dimensions that are one ---------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Two dimensions of tensors are equivalent where an operation makes position i
// of one depend on position i of the other: elementwise arithmetic ties all of
// its operands' dimensions, a product its rows to those of the accumulator, a
// loop what it carries to what it yields. To give a dimension another size is
// to give it to its whole class.
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/IntEqClasses.h"

#include <optional>

namespace tilebridge::linalg_ext {

/// The classes of a function's dimensions. A back end derives from it: it says
/// what operations mean that only it knows, such as its accesses to memory,
/// and keeps what it asks of a dimension by the dimension's number. One block
/// that is used in several ways ties its users together: see SeparateUses.h.
class DimensionEquivalence {
public:
  using Dimension = std::pair<mlir::Value, unsigned>;
  /// An operand, and the dimension of it that an iterator runs over.
  using Place = std::pair<mlir::OpOperand *, unsigned>;

protected:
  DimensionEquivalence() = default;
  virtual ~DimensionEquivalence() = default;

  /// Numbers and ties the dimensions of all results, and of all arguments that
  /// some operation speaks of.
  void visitAll(mlir::func::FuncOp func);
  /// Ends the tying: numbers classes in the order of their first dimensions.
  void close() { joined.compress(); }

  /// What only the back end knows, or knows better; it is asked before the
  /// common rules, which hold where it says false.
  virtual bool visitOwn(mlir::Operation *op) = 0;
  /// Another size would need another operation than `because`.
  virtual void fix(mlir::Value tensor, unsigned dim,
                   mlir::Operation *because) = 0;
  /// Dimensions of operands that were tied, by the iterators of `op`.
  virtual void visitIterators(mlir::linalg::LinalgOp op,
                              llvm::ArrayRef<llvm::SmallVector<Place>> places) {
  }

  /// Of a dimension: numbers follow the order of the program.
  unsigned number(mlir::Value tensor, unsigned dim);
  void numberAll(mlir::Value tensor);
  void tie(mlir::Value a, unsigned aDim, mlir::Value b, unsigned bDim);
  /// Nothing where one of them has another rank, or is no tensor.
  void tieAll(mlir::Value a, mlir::Value b);
  void tieAll(mlir::ValueRange a, mlir::ValueRange b);
  void fixAll(mlir::Value tensor, mlir::Operation *because);
  void fixAll(mlir::Operation *op);

  /// By their numbers.
  llvm::ArrayRef<Dimension> dimensions() const { return numbered; }
  unsigned classCount() const { return joined.getNumClasses(); }
  unsigned classOf(unsigned number) const { return joined[number]; }
  /// None of a dimension that no operation speaks of.
  std::optional<unsigned> classOf(mlir::Value tensor, unsigned dim) const;

private:
  bool visitShared(mlir::Operation *op);
  bool visitControlFlow(mlir::Operation *op);
  bool visitLinalg(mlir::Operation *op);
  template <typename ReshapeT>
  bool visitReshape(ReshapeT op, mlir::Value narrow, mlir::Value wide);

  llvm::DenseMap<Dimension, unsigned> numbers;
  llvm::SmallVector<Dimension, 0> numbered;
  llvm::IntEqClasses joined;
};

/// Of no tensor: 0.
int64_t rankOf(mlir::Value value);

} // namespace tilebridge::linalg_ext
