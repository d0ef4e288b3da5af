//===- AccessKeys.h - which instances access the same memory --------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Which memory an operation accesses is a function of some scalars: those that
// its address, its bounds and the control flow around it are computed from.
// Instances in which all of these have the same values (the same class) do the
// same accesses. How a kernel computes its blocks from its program ids does
// not matter: the scalars are evaluated (InstanceValues.h), not matched.
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/plan/InstanceValues.h"

#include "mlir/IR/Operation.h"

namespace tilebridge::accel {

/// A partition of all instances. Classes are numbered in the order in which
/// instances come to them.
struct Classes {
  std::vector<unsigned> of;
  unsigned count = 0;

  /// All in one class.
  explicit Classes(size_t instances) : of(instances, 0), count(1) {}

  /// Instances that differ in a row are in different classes from now on.
  void refine(const InstanceValues::Row &row);
  void refine(const Classes &other);

  friend bool operator==(const Classes &a, const Classes &b) {
    return a.of == b.of;
  }
};

/// Finds the classes of values and operations of one kernel.
class AccessKeys {
public:
  /// Values that no slice goes beyond although they are not evaluated, because
  /// all instances agree on them: the induction variable of the loop over
  /// turns, for instance, where instances are turns.
  AccessKeys(mlir::Operation *kernel, InstanceValues &values)
      : kernel(kernel), values(values) {}

  /// The classes within which the values are equal (a value that changes from
  /// iteration to iteration: in each of them). None where a value comes from
  /// something that nothing is known of.
  std::optional<Classes> ofValues(mlir::ValueRange roots);

  /// The classes within which an operation is run equally often.
  std::optional<Classes> ofControl(mlir::Operation *op);

  /// Both: the values that the operation reads memory by, and its control. How
  /// often the loop `even` is run does not count.
  std::optional<Classes> ofAccess(mlir::Operation *op, mlir::ValueRange source,
                                  mlir::Operation *even = nullptr);

private:
  struct Slice;
  bool visit(mlir::Value value, Slice &slice);
  bool visitResult(mlir::OpResult result, Slice &slice);
  bool visitArgument(mlir::BlockArgument argument, Slice &slice);
  void addControl(mlir::Operation *op, Slice &slice,
                  mlir::Operation *even = nullptr);
  bool run(Slice &slice);

  mlir::Operation *kernel;
  InstanceValues &values;
};

} // namespace tilebridge::accel
