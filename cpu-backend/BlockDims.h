//===- BlockDims.h - what is asked of the sizes of blocks -------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "triton-to-linalg/bridge/DimensionEquivalence.h"

#include "llvm/ADT/SetVector.h"

namespace tilebridge::cpu {

/// What memory, products and sums say of the sizes of a function's blocks. The
/// dimensions of one class have one size.
class BlockDims : private linalg_ext::DimensionEquivalence {
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
    llvm::SmallVector<Place> summed;
    /// Masks by which its elements are stored, and their dimensions.
    llvm::SmallVector<Dimension> storeMasks;
  };

  /// That of a dimension; null where nobody asks for its size.
  const Class *classOf(mlir::Value block, unsigned dim) const;
  llvm::ArrayRef<Class> all() const { return classes; }
  /// The blocks that have a dimension in a class.
  llvm::ArrayRef<mlir::Value> blocks() const { return values.getArrayRef(); }

private:
  /// What was said of one dimension.
  using Facts = Class;
  Facts &factsOf(mlir::Value block, unsigned dim);
  void reach(mlir::Value block, unsigned dim, std::optional<int64_t> end);

  void fix(mlir::Value block, unsigned dim, mlir::Operation *because) override {
    factsOf(block, dim).isFixed = true;
  }
  bool visitOwn(mlir::Operation *op) override;
  void visitIterators(mlir::linalg::LinalgOp op,
                      llvm::ArrayRef<llvm::SmallVector<Place>> places) override;
  bool visitPart(mlir::Operation *op);
  bool visitRows(mlir::Operation *op);
  bool visitElements(mlir::Operation *op);

  llvm::SmallSetVector<mlir::Value, 32> values;
  llvm::SmallVector<Facts, 0> facts;
  llvm::SmallVector<Class, 0> classes;
};

} // namespace tilebridge::cpu
