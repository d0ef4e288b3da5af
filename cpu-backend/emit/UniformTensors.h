//===- UniformTensors.h - blocks that a loop carries as one number -*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <array>

namespace tilebridge::cpu {

/// What a branch that only chooses gives as `result`: one of two values from
/// before it.
std::pair<mlir::Value, mlir::Value> choicesOf(mlir::scf::IfOp branch,
                                              mlir::OpResult result);

/// The block that an element of `generic`'s body is taken from; null if it is
/// none's.
mlir::Value blockOf(mlir::linalg::GenericOp generic, mlir::Value element);

/// It has the elements of its operand, in another order or shape.
bool keepsElements(mlir::Operation *op);

/// The tensors of a loop that have one number in all their elements.
class UniformTensors {
public:
  explicit UniformTensors(mlir::scf::ForOp loop);

  bool contains(mlir::Value value) const { return arguments.contains(value); }
  bool empty() const { return arguments.empty(); }

  bool isUniform(mlir::Value value);

private:
  bool isUniformButLast(mlir::Value value);
  bool isTrueButLast(mlir::Value mask);
  std::optional<int64_t> distanceFromIndex(mlir::Value block);
  bool isEndOfLoop(mlir::Value block);
  bool isComputedFromNumbers(mlir::Value value);

  mlir::scf::ForOp loop;
  llvm::DenseSet<mlir::Value> arguments;
  llvm::DenseMap<mlir::Value, bool> known;
};

/// A choice of two uniform tensors that a loop carries on, by a mask that ends
/// in the last iteration.
struct Ending {
  mlir::linalg::GenericOp choice;
  mlir::Value mask;
  std::array<mlir::Value, 2> choices;

  explicit Ending(mlir::Value yielded);
};

} // namespace tilebridge::cpu
