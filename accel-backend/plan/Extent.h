//===- Extent.h - parts of a box along one dimension ------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace tilebridge::accel {

/// A box along one dimension: where it begins in the block, its size, and how
/// much of it is before the part.
struct Extent {
  mlir::OpFoldResult low, size, skipped;
};

/// What of the box [low, low + size) in a block of `all` positions is in the
/// part [offset, offset + part) of the block.
Extent cutBox(mlir::OpBuilder &builder, mlir::Location loc,
              mlir::OpFoldResult low, mlir::OpFoldResult size, int64_t all,
              mlir::Value offset, int64_t part);

} // namespace tilebridge::accel
