//===- LaneForms.h - integers of a block's lanes, as scalars --------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"

#include <optional>

namespace tilebridge::accel {

/// What is true for the lanes of a dimension from `end` on, or up to it; `end`
/// is an index.
struct LaneBound {
  unsigned dim;
  mlir::Value end;
  bool isUpper;
};

/// A block of integers: `base` plus, for each dimension, its stride times the
/// position in it; a null stride is zero. A block of booleans has bounds in
/// the place of strides, and `base` is what holds for all lanes; null: true.
struct LaneForm {
  mlir::Value base;
  llvm::SmallVector<mlir::Value> strides;
  llvm::SmallVector<LaneBound> bounds;

  bool isUniform() const;
};

/// Finds the forms of blocks, through the operations that the bridge IR makes
/// them by. Scalars are computed where the builder is. As everywhere in
/// addresses, the arithmetic of lanes is taken not to overflow.
class LaneForms {
public:
  LaneForms(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  /// None where the block is no such sum, or no such box.
  std::optional<LaneForm> of(mlir::Value block);

  /// A 64-bit index, sign-extended.
  mlir::Value toIndex(mlir::Value integer);

private:
  std::optional<LaneForm> find(mlir::Operation *op);
  std::optional<LaneForm> ofGeneric(mlir::linalg::GenericOp op);
  std::optional<LaneForm> ofBody(mlir::Operation *op,
                                 llvm::ArrayRef<LaneForm> operands);
  std::optional<LaneForm> compare(mlir::Operation *op, const LaneForm &left,
                                  const LaneForm &right);
  std::optional<LaneForm> both(const LaneForm &left, const LaneForm &right);
  mlir::Value multiply(mlir::Value left, mlir::Value right);
  LaneForm uniform(mlir::Value scalar, size_t rank);
  mlir::Value constant(mlir::Type type, int64_t value);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  llvm::DenseMap<mlir::Value, std::optional<LaneForm>> known;
};

} // namespace tilebridge::accel
