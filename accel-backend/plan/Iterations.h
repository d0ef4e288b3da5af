//===- Iterations.h - integers of all iterations of a loop ----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/plan/Turns.h"

namespace tilebridge::accel {

/// The values that scalars of a loop's body have in each iteration of each
/// turn, and of the loops around it.
class Iterations {
public:
  /// None where bounds are not known, or there are too many iterations.
  static std::optional<Iterations> of(mlir::scf::ForOp loop, Turns &turns);

  /// How many there are of all turns together; none where no turn runs it.
  size_t size() const { return values.size(); }

  /// A scalar in each of them; null where it is not known.
  const InstanceValues::Row *valuesOf(mlir::Value scalar) {
    return values.get(scalar);
  }

  /// Another value is what the loop's variable is.
  void seedAsVariable(mlir::Value value);

private:
  Iterations(InstanceValues values, mlir::scf::ForOp loop)
      : values(std::move(values)), loop(loop) {}

  InstanceValues values;
  mlir::scf::ForOp loop;
};

/// The innermost loop around an operation whose variable is not known by turn.
mlir::scf::ForOp loopAround(mlir::Operation *op, Turns &turns);

} // namespace tilebridge::accel
