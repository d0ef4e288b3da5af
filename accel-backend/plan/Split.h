//===- Split.h - a loop over the parts of a block -------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/plan/DimensionClasses.h"

#include <string>

namespace tilebridge::accel {

/// Whether a class of a kernel can be cut into parts; if not, says why, and
/// which operation is in the way.
struct Cut {
  bool isPossible = false;
  std::string reason;
  mlir::Operation *because = nullptr;
};
Cut canSplit(mlir::func::FuncOp kernel, const DimensionClasses &classes,
             unsigned number);

/// Puts a loop over parts of `size` positions around the program (a parallel
/// class), or around what sums over the class, and what that loads.
/// `canSplit` holds, and the size divides that of the class.
void split(mlir::func::FuncOp kernel, const DimensionClasses &classes,
           unsigned number, int64_t size);

} // namespace tilebridge::accel
