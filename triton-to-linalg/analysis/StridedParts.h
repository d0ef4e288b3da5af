//===- StridedParts.h - a strided tensor as scalars ----------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A tensor of integers with `offset + stride0 * i0 + stride1 * i1 + ...` in
// each lane, or of pointers that far (in elements) from a base, is these
// numbers: the base of pointers first, then the offset, then a stride for each
// dimension that has more than one element. They are as wide as the integers,
// and 64 bits for pointers.
//===----------------------------------------------------------------------===//
#pragma once

#include "triton-to-linalg/analysis/AccessAnalysis.h"

#include "mlir/IR/Builders.h"

namespace tilebridge::ttl {

/// A scalar pointer, or a number.
struct Part {
  mlir::Value base;
  const Expr *expr = nullptr;
  bool operator==(const Part &other) const {
    return base == other.base && expr == other.expr;
  }
};

struct StridedParts {
  llvm::SmallVector<Part> parts;
};

/// Tensors of pointers to elements, and of integers that are no booleans.
bool canBeStrided(mlir::Type type);

llvm::SmallVector<mlir::Type> partTypesOf(mlir::RankedTensorType type);

/// The parts of a tensor; nothing if it is not strided.
std::optional<StridedParts>
stridedPartsOf(ExprPool &pool, AccessAnalysis &analysis, mlir::Value tensor);

/// The tensor of such parts, in operations that an analysis reads back.
mlir::Value rebuildStrided(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::RankedTensorType type, mlir::ValueRange parts);

} // namespace tilebridge::ttl
