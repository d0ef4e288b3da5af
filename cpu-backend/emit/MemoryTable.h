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
/// What one element of it costs, in simple instructions.
int64_t costOfGather(mlir::Operation *gather);

/// Elements `at + numbers` of `base`, a one-dimensional memref of an argument,
/// where numbers are below `size`: all of these are loaded, and lanes are
/// picked from them in registers. With a mask, which may be null, numbers of
/// lanes that are off may be any of these.
class MemoryTable {
public:
  /// Where the gather reads such elements, or, where its offsets are sums, such
  /// elements behind a place that is the same for all lanes. The lanes' mask
  /// may be null; `evaluate` gives a tensor of the function as it was.
  static std::optional<MemoryTable>
  find(mlir::OpBuilder &builder, mlir::Operation *gather, mlir::Value base,
       mlir::Value at, mlir::Value mask, const EmitTarget &target,
       llvm::function_ref<mlir::Value(mlir::Value)> evaluate);

  /// Whether some lane is on, and no element is on another page than the one
  /// that it reads: then `load` may be used.
  mlir::Value isReadable() const;
  /// As a vector; `other` is what lanes have that are off.
  mlir::Value load(mlir::Value other) const;

private:
  MemoryTable(mlir::OpBuilder &builder, mlir::Location loc,
              const EmitTarget &target, mlir::Value base)
      : b(builder), loc(loc), target(target), base(base) {}
  int64_t bits() const;
  mlir::Value constant(int64_t value) const;
  bool addPlaces(llvm::ArrayRef<mlir::Value> terms, bool mayWrap,
                 llvm::function_ref<mlir::Value(mlir::Value)> evaluate);

  mlir::OpBuilder &b;
  mlir::Location loc;
  const EmitTarget &target;
  mlir::Value base, at = {}, numbers = {}, mask = {};
  int64_t size = 0;
  /// Where not null: what must hold for sums to be what they are here.
  mlir::Value condition = {};
};

} // namespace tilebridge::cpu
