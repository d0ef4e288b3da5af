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

/// How many elements of memory `other` lies behind `first`, if both are blocks
/// of one shape and strides that leave more elements than that out between each
/// two of one row: real and imaginary parts, or colors of pixels. No element is
/// in both. Nothing where that is not known.
std::optional<int64_t> gapFilledBy(const View &first, const View &other);

/// a0 b0 c0 a1 b1 c1 and so on.
mlir::Value interleaved(mlir::OpBuilder &b, mlir::Location loc,
                        llvm::ArrayRef<mlir::Value> parts);

} // namespace tilebridge::cpu
