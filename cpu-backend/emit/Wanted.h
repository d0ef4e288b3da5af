//===- Wanted.h - the part of a tensor that somebody sees --------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace tilebridge::cpu {

/// Indices [low, low + size) along a dimension; or, where `mask` is not null,
/// those that it is true for.
struct WantedRange {
  mlir::OpFoldResult low, size;
  mlir::Value mask;

  /// Those of the three that are no constants.
  llvm::SmallVector<mlir::Value> values() const;

  bool operator==(const WantedRange &other) const {
    return low == other.low && size == other.size && mask == other.mask;
  }
};

/// The indices along dimension `dim` of `tensor` that what is stored in the end
/// depends on, by values of its function, wherever these are computed; nothing
/// if that may be all. What lies at other indices may be anything. What the
/// reductions `besides` make of the tensor is not looked at.
std::optional<WantedRange>
findWanted(mlir::Value tensor, unsigned dim,
           llvm::ArrayRef<mlir::Operation *> besides = {});

/// `range` is known where `op` begins.
bool isKnownBefore(const WantedRange &range, mlir::Operation *op);

/// What has few elements in a row is computed up to a multiple of so many rows,
/// a divisor of `rows`, which the block has.
int64_t rowsAtEnd(int64_t rows, int64_t length);

/// Moves the numbers of such indices before what computes their tensors, where
/// they can be computed there.
void hoistWanted(mlir::func::FuncOp func);

} // namespace tilebridge::cpu
