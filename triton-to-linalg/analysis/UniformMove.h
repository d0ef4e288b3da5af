//===- UniformMove.h - values that differ by one number ------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "triton-to-linalg/analysis/AccessAnalysis.h"

#include "mlir/IR/Builders.h"

namespace tilebridge::ttl {

/// `value = root + delta` for every element, where delta is one number: 64 bits
/// wide and in elements for pointers. A tensor of integers that are all equal
/// has no root.
struct UniformMove {
  mlir::Value root;
  const Expr *delta = nullptr;
};

/// Tensors of integers and pointers, and scalar pointers.
bool canMove(mlir::Type type);
/// The type of the number that such a value moves by.
mlir::Type deltaTypeOf(mlir::Type type);

/// Takes all uniform additions off a value.
UniformMove uniformMoveOf(ExprPool &pool, AccessAnalysis &analysis,
                          mlir::Value value);

/// `root + delta` as operations.
mlir::Value movedValue(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Type type, mlir::Value root, mlir::Value delta);

} // namespace tilebridge::ttl
