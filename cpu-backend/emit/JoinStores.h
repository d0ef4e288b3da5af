//===- JoinStores.h - stores that fill one another's gaps ---------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/View.h"

namespace tilebridge::cpu {

/// How many elements `b` is behind `a`, both indices, where that is a constant.
std::optional<int64_t> distanceBetween(mlir::OpFoldResult a,
                                       mlir::OpFoldResult b);

struct FilledGap {
  /// How many elements of memory the other block lies behind the first one.
  int64_t distance;
  /// How far apart the neighbours of one block are, at least.
  int64_t size;
  /// Strides that only the launch knows. No element is in both blocks if all
  /// of these are multiples of `size`, as the known ones are.
  llvm::SmallVector<mlir::Value, 2> strides;
};

/// `first` and `other` are blocks of one shape and strides that leave more
/// elements out between each two of one row than lie between both: real and
/// imaginary parts, or colors of pixels. Nothing where that is not known.
std::optional<FilledGap> gapFilledBy(const View &first, const View &other);

/// a0 b0 c0 a1 b1 c1 and so on.
mlir::Value interleaved(mlir::OpBuilder &b, mlir::Location loc,
                        llvm::ArrayRef<mlir::Value> parts);

} // namespace tilebridge::cpu
