//===- TakenValues.h - what is left to another program ----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Value.h"

#include "llvm/ADT/SetVector.h"

#include <functional>

namespace tilebridge::cpu {

/// What operations take from around them, where the thread's next program is to
/// run them: what can be computed again is, from arguments, and of other values
/// the numbers are kept that they end in, such as the sum of a loop's lanes.
class TakenValues {
public:
  /// `isThere`: whether all programs have the value, or one in its place.
  explicit TakenValues(std::function<bool(mlir::Value)> isThere)
      : isThere(std::move(isThere)) {}

  /// All that the operations, and those in them, take from others. False if
  /// some of it can be neither computed again nor kept, or too much is kept.
  bool add(mlir::ArrayRef<mlir::Operation *> operations);

  /// What is computed again, in order, and what is kept.
  llvm::SetVector<mlir::Operation *> slice;
  llvm::SetVector<mlir::Value> kept;

private:
  /// Whether operations that do nothing else compute it from arguments alone,
  /// or also from numbers that others give, such as one that is loaded.
  enum class From { Arguments, Numbers, Others };
  From originOf(mlir::Value value);
  bool add(mlir::Value value);

  std::function<bool(mlir::Value)> isThere;
  llvm::DenseMap<mlir::Value, From> origins;
};

} // namespace tilebridge::cpu
