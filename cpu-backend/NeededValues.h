//===- NeededValues.h - what later code computes again ----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <functional>

namespace tilebridge::cpu {

/// What code takes from outside that runs later than it stands, when other ids
/// are the program's: what can be computed again from arguments is; of all else
/// the numbers are kept that it ends in, such as the sum of a loop's lanes.
class NeededValues {
public:
  /// `isGiven`: values that are there for the later code, too. Arguments of the
  /// function always are.
  explicit NeededValues(std::function<bool(mlir::Value)> isGiven)
      : isGiven(std::move(isGiven)) {}
  NeededValues() = default;

  /// False if it is neither, or too many numbers would be kept.
  bool add(mlir::Value value);
  /// Which numbers are kept where one leads to another that are not computed
  /// from arguments alone: Blocks: the last one that comes from a block, such
  /// as a sum of lanes; First: the first one, what follows is computed again;
  /// Last: the one that is taken.
  enum class Keep { Blocks, First, Last };
  Keep keep = Keep::Blocks;
  /// Operations of the later code itself, at the same level as what they take:
  /// what is computed from theirs is computed there.
  std::function<bool(mlir::Operation *)> isLater;

  /// The same for all that the operation, or one inside of it, takes from
  /// outside of it.
  bool addOperands(mlir::Operation *op);

  /// Operations that do nothing else, each behind those that it takes from.
  llvm::SetVector<mlir::Operation *> slice;
  llvm::SetVector<mlir::Value> kept;

private:
  /// Computed from arguments alone, or also from numbers that others give, such
  /// as one that is loaded.
  enum class From { Arguments, Numbers, Others };
  From originOf(mlir::Value value);
  bool isThere(mlir::Value value) const;
  bool takesFromLater(mlir::Value value);

  std::function<bool(mlir::Value)> isGiven;
  llvm::DenseMap<mlir::Value, From> origins;
  llvm::DenseMap<mlir::Value, bool> fromLater;
};

/// The buffer or argument that a memref is another name for.
mlir::Value namedMemory(mlir::Value memref);

/// The memref that the operation reads or writes by a plain access; null if it
/// does neither.
mlir::Value accessedMemref(mlir::Operation *op);

/// Whether the operation is a plain access that writes.
bool isPlainWrite(mlir::Operation *op);

/// Only what is read and written by plain accesses can be done later: no
/// atomics, nothing that waits or prints.
bool isPlain(mlir::Operation *op);

} // namespace tilebridge::cpu
