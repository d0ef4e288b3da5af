//===- Permute.h - views and blocks in another order ------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"

namespace tilebridge::linalg_ext {

/// The view with its dimensions in another order, behind what it is made by;
/// casts that forget sizes are left out. Null where it is made in a way that
/// has none.
mlir::Value permuteView(mlir::OpBuilder &builder, mlir::Value view,
                        llvm::ArrayRef<int64_t> permutation);

/// The block with its dimensions in another order: a `linalg.transpose`.
mlir::Value transposed(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value block, llvm::ArrayRef<int64_t> permutation);

/// Each operand is read or written at the indices of the loops: all maps are
/// the identity.
bool keepsOrder(mlir::linalg::GenericOp op);

} // namespace tilebridge::linalg_ext
