//===- StridedLanes.h - lanes that are a few elements apart ------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Builders.h"

namespace tilebridge::cpu {

/// Lanes of memory that begin at element `start` of `base`, a one-dimensional
/// memref, and are `stride` elements apart.
struct StridedLanes {
  mlir::Value base, start;
  int64_t stride;
  int64_t lanes;
  /// Of a native vector.
  int64_t vectorBits;

  /// A gather takes about two cycles a lane (AMD Zen 4, Intel Sapphire Rapids),
  /// of elements below 32 bits more; one more vector with its shuffle takes two
  /// to three.
  static constexpr int64_t farthest = 4, farthestNarrow = 8;

  /// They are so near to each other that whole vectors are read and shuffled.
  bool canLoad(bool hasMask) const;
  /// There are stores that leave elements between out.
  bool canStore() const;

  /// As a vector. With a mask, which may be null, `other` is what the lanes
  /// that are out of it have. Reads nothing before the first lane or behind the
  /// last.
  mlir::Value load(mlir::OpBuilder &b, mlir::Location loc, mlir::Value mask,
                   mlir::Value other) const;
  void store(mlir::OpBuilder &b, mlir::Location loc, mlir::Value mask,
             mlir::Value value) const;

private:
  mlir::Type elementType() const;
  /// Lanes of one native vector, or all.
  int64_t lanesAtOnce() const;
  bool isNear() const;
  /// What vector `part` of those that `count` lanes are spread over has of
  /// `lanes`: the number of a lane, or -1, for each element.
  llvm::SmallVector<int64_t> lanesIn(int64_t part, int64_t count) const;
  mlir::Value loadChunk(mlir::OpBuilder &b, mlir::Location loc, int64_t first,
                        mlir::Value mask) const;
  void storeChunk(mlir::OpBuilder &b, mlir::Location loc, int64_t first,
                  mlir::Value mask, mlir::Value value) const;
};

} // namespace tilebridge::cpu
