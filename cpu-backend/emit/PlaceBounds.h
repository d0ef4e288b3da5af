//===- PlaceBounds.h - between which numbers places are ----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What a gather reads is somewhere in memory. Where its places are computed
// from an index by sums, products, quotients and remainders, the least and the
// largest one are known before it reads, in a few instructions: whether a store
// writes there can be asked.
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/Emitter.h"
#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilebridge::cpu {

/// What is computed from `index`, a scalar, while that goes from 0 to `size` -
/// 1.
class PlaceBounds {
public:
  PlaceBounds(mlir::ImplicitLocOpBuilder &b, mlir::Value index, int64_t size)
      : b(b), index(index), size(size) {}

  /// Of type i64.
  struct Bounds {
    mlir::Value least, most;
  };
  /// Of an integer or index; nothing where that is not known. Writes where the
  /// builder stands, behind what is asked for.
  std::optional<Bounds> of(mlir::Value value);

  /// Whether all bounds hold, an i1; null: they do. No sum has run over then.
  mlir::Value hold() const { return condition; }

private:
  std::optional<Bounds> compute(mlir::Operation *op);
  std::optional<Bounds> ofProduct(mlir::Operation *op);
  std::optional<Bounds> ofDivision(mlir::Operation *op);
  bool dependsOn(mlir::Value value);
  /// Numbers of so many bits, with a sign, are these: else nothing holds.
  void require(const Bounds &bounds, unsigned bits);
  void require(mlir::Value holds);
  Bounds around(const Bounds &x, const Bounds &y);
  mlir::Value wide(mlir::Value value);
  mlir::Value number(int64_t value);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value max(mlir::Value x, mlir::Value y);

  mlir::ImplicitLocOpBuilder &b;
  mlir::Value index;
  int64_t size;
  mlir::Value condition;
  llvm::DenseMap<mlir::Value, bool> depending;
  llvm::DenseMap<mlir::Value, std::optional<Bounds>> known;
};

/// All between the first and the last element that `gather`, an op of the old
/// function that is read in pieces (isReadInPieces), reads of `from`, as a row.
/// Where `unknown`, an i1, is true, it may read others; null: it never does.
View rowAround(Emitter &emitter, mlir::Operation *gather, const View &from,
               mlir::Value &unknown);

} // namespace tilebridge::cpu
