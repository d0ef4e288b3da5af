//===- MaskedRows.h - products of rows that a mask chooses ------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilebridge::cpu {

/// On products of which only rows from the first to the last one of a mask are
/// multiplied.
inline constexpr llvm::StringLiteral maskedRowsAttr = "tilebridge.masked_rows";

/// The mask of rank 1 that is true wherever a row of the left operand is not
/// all zeros, if it is another one in each iteration of a loop that carries the
/// sums; null if none is found.
mlir::Value findMaskedRows(mlir::linalg::MatmulOp op);

/// The product whose rows are chosen like those of `tensor`, its left operand
/// and nothing else; null if there is none.
mlir::linalg::MatmulOp maskedProductOf(mlir::Value tensor);

/// A conversion of numbers, which makes zeros of zeros.
bool keepsZero(mlir::Operation *op);

/// Marks these products.
void markMaskedRows(mlir::func::FuncOp func);

} // namespace tilebridge::cpu
