//===- InstanceValues.h - integers of all programs at once ----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <optional>
#include <vector>

namespace tilebridge::accel {

/// The values that scalar integers of a kernel have in each of its instances:
/// the programs of a launch, or the turns of the PEs that run them. What
/// differs between instances is seeded (program ids); the rest follows through
/// arithmetic. Unknown: what depends on arguments that are no constants, on
/// memory, or on iterations of a loop.
class InstanceValues {
public:
  using Row = std::vector<int64_t>;

  explicit InstanceValues(size_t count) : count(count) {}

  size_t size() const { return count; }

  /// One value for each instance, sign-extended from the type's width.
  void seed(mlir::Value value, Row row);

  /// Null where it is not known.
  const Row *get(mlir::Value value);

private:
  std::optional<Row> compute(mlir::Operation *op);

  size_t count;
  unsigned depth = 0;
  // Not in place: computing one value adds others.
  llvm::DenseMap<mlir::Value, std::unique_ptr<Row>> rows;
};

} // namespace tilebridge::accel
