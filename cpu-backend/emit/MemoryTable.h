//===- MemoryTable.h - small tables of arguments -----------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/Emitter.h"

namespace tilebridge::cpu {

/// How many elements behind its base a linalg_ext.gather may read, if these are
/// few, and none before; else 0. It is not one that goes by pieces of rows.
int64_t tableSizeOf(mlir::Operation *gather);
/// What one costs, in simple instructions.
inline constexpr int64_t tableCost = 5;

/// Elements `at + offsets` of `base`, a one-dimensional memref of an argument,
/// where offsets are below `size`: all of these are loaded, and lanes are
/// picked from them in registers. With a mask, which may be null, offsets of
/// lanes that are off may be any of these numbers.
class MemoryTable {
public:
  MemoryTable(mlir::Value base, mlir::Value at, mlir::Value offsets,
              mlir::Value mask, int64_t size)
      : base(base), at(at), offsets(offsets), mask(mask), size(size) {}

  /// The CPU has permutations of such tables.
  bool canLoad(const EmitTarget &target) const;

  /// Whether some lane is on, and no element is on another page than the one
  /// that it reads: then `load` may be used.
  mlir::Value isReadable(mlir::OpBuilder &b, mlir::Location loc) const;
  /// As a vector; `other` is what lanes have that are off.
  mlir::Value load(mlir::OpBuilder &b, mlir::Location loc,
                   const EmitTarget &target, mlir::Value other) const;

private:
  int64_t bits() const;

  mlir::Value base, at, offsets, mask;
  int64_t size;
};

} // namespace tilebridge::cpu
