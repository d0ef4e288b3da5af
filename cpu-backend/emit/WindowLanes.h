//===- WindowLanes.h - lanes that lie in one line of memory ------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Builders.h"

namespace tilebridge::cpu {

/// Elements `at + offsets` of `base`, a one-dimensional memref of an argument:
/// vectors of 512 bits are read, and their elements put in order. With a mask,
/// which may be null, offsets of lanes that are off may be anything.
class WindowLanes {
public:
  WindowLanes(mlir::Value base, mlir::Value at, mlir::Value offsets,
              mlir::Value mask)
      : base(base), at(at), offsets(offsets), mask(mask) {}

  /// Elements of 16 bits and more, of which `offsets` has at least four.
  bool canLoad() const;

  /// Whether each vector of lanes lies in as many neighbouring elements as a
  /// vector has, none of which is on a page that no lane is on: then `load`
  /// may be used. Notes where these begin.
  mlir::Value areNear(mlir::OpBuilder &b, mlir::Location loc);
  /// As a vector; `other` is what lanes have that are off.
  mlir::Value load(mlir::OpBuilder &b, mlir::Location loc,
                   mlir::Value other) const;

private:
  static constexpr int64_t vectorBytes = 64, pageBytes = 4096;

  mlir::Type elementType() const;
  int64_t lanes() const;
  /// Of one vector, or all lanes if these are fewer.
  int64_t lanesAtOnce() const;
  mlir::Value piece(mlir::OpBuilder &b, mlir::Location loc, mlir::Value whole,
                    int64_t first) const;

  mlir::Value base, at, offsets, mask;
  /// Of each vector of lanes the lowest place, and the lanes' distances to it.
  llvm::SmallVector<mlir::Value> begins, distances;
};

} // namespace tilebridge::cpu
