//===- DirectOperands.h - operands computed while packed --------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/Plan.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include "llvm/ADT/DenseSet.h"

namespace tilebridge::cpu {

/// On the op that gives the right operand of a deep product: the loops that
/// pack it compute it.
inline constexpr llvm::StringLiteral directAttr = "tilebridge.direct";

struct DirectOperands {
  /// What these loops compute.
  llvm::DenseSet<mlir::Operation *> inner;
  /// What they read from a copy.
  llvm::DenseSet<mlir::Operation *> kept;
};

/// What is packed of a product: its right operand, or what the branch that
/// packs it for several programs gives.
mlir::Value packedValue(mlir::linalg::MatmulOp op);

/// Marks the operands.
void findDirectOperands(mlir::func::FuncOp func, DirectOperands &found);

} // namespace tilebridge::cpu
