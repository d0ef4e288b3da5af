//===- SharedOrder.h - programs that multiply the same ----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilebridge::cpu {

/// Programs that multiply with the same block, which is computed or packed once
/// if they follow one another.
struct SharedOrder {
  /// They are so far apart along x: a number of the kernel that is the same for
  /// all programs; null if they are not.
  mlir::Value distance;
  /// Or they follow one another along this axis, where that is not x.
  unsigned axis = 0;
  /// It takes operations to compute an element of the block.
  bool isComputed = false;
  /// It pays from so many programs with the same block on.
  int64_t least = 2;
};
/// What all products of the kernel agree on, if anything. `hasTwoFmas`: two
/// multiply-adds of native vectors a cycle.
SharedOrder findSharedOrder(mlir::func::FuncOp kernel, bool hasTwoFmas);

/// Writes into an order function (OrderPrograms.h) that such programs follow
/// one another, if x has a multiple of `distance` programs, or the axis has
/// several. `counts`: the grid.
void returnSharedOrder(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::IRMapping &arguments, const SharedOrder &order,
                       mlir::ValueRange counts);

} // namespace tilebridge::cpu
