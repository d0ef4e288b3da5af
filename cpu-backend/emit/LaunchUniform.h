//===- LaunchUniform.h - numbers of the launch ------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace tilebridge::cpu {

/// The three ids of a kernel's program.
mlir::ValueRange programIdsOf(mlir::func::FuncOp kernel);

/// Values that are the same in all programs of a launch: arguments but for
/// program ids, and what is computed from such values.
class LaunchUniform {
public:
  /// By which operations: those without an effect, at least, and where a value
  /// is wanted before any program runs, those that may run then.
  using Admits = std::function<bool(mlir::Operation *)>;

  LaunchUniform(mlir::func::FuncOp kernel, Admits admits)
      : kernel(kernel), admits(std::move(admits)) {}

  bool contains(mlir::Value value);

private:
  mlir::func::FuncOp kernel;
  Admits admits;
  llvm::DenseMap<mlir::Operation *, bool> known;
};

} // namespace tilebridge::cpu
