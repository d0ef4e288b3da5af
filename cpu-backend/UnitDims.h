//===- UnitDims.h - dimensions of size 1 ------------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TILEBRIDGE_CPU_BACKEND_UNITDIMS_H
#define TILEBRIDGE_CPU_BACKEND_UNITDIMS_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/IntEqClasses.h"

#include <optional>

namespace tilebridge::cpu {

/// The type of a block; null for a number.
mlir::RankedTensorType blockType(mlir::Value value);

/// A block with a dimension of size 1, or of rank 0.
bool hasUnitDims(mlir::Value value);

bool isOneElement(mlir::Value block);

/// A block that can be made anew in any shape: one number, or nothing yet.
bool isAnyShape(mlir::Value block);

/// All blocks that the op reads and gives have one shape, and what it does is
/// the same without the dimensions.
bool hasOneShape(mlir::Operation *op);

/// Its operands are what a loop or a branch gives.
bool isYieldOfKnown(mlir::Operation *op);

/// An op between blocks of several shapes that can do without the dimensions of
/// size 1.
bool changesShape(mlir::Operation *op);

/// A read, or a slice of a block, that is a part of loads or stores of a box,
/// and nothing else.
bool isOnlyBox(mlir::Operation *op);

/// The sizes of a view, as far as they are known without asking it.
std::optional<llvm::SmallVector<mlir::OpFoldResult>> sizesOf(mlir::Value view);

/// Which blocks lose their dimensions of size 1: those that one is computed
/// from element by element do if it does, and a block stays as it is where an
/// op needs it so.
class UnitDims {
public:
  explicit UnitDims(llvm::ArrayRef<mlir::Operation *> ops);

  bool isDropped(mlir::Value value) const {
    return hasUnitDims(value) && !isAnyShape(value) && !kept.contains(value);
  }

private:
  unsigned nodeOf(mlir::Value value);
  void join(mlir::Value a, mlir::Value other);
  void joinAll(mlir::ValueRange values);
  void visit(mlir::Operation *op);

  llvm::IntEqClasses classes;
  llvm::DenseMap<mlir::Value, unsigned> nodes;
  llvm::SmallVector<unsigned> keptNodes;
  llvm::DenseSet<mlir::Value> kept;
};

} // namespace tilebridge::cpu

#endif // TILEBRIDGE_CPU_BACKEND_UNITDIMS_H
