//===- PieceCopy.h - copies of what grows evenly -----------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilebridge::cpu {

/// Copies elements of `from` to `to`, where they lie side by side, by vectors;
/// both are one-dimensional memrefs of one element type. Writes where the
/// builder stands.
class PieceCopy {
public:
  PieceCopy(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value from,
            mlir::Value to, int64_t lanes);

  /// Where the mask holds (null: always), `length` elements, at least as many
  /// as there are lanes, from element `source` on, each `growth` (an i64)
  /// behind the one before, to `target` on; elsewhere `other` as often.
  void run(mlir::Value mask, mlir::Value other, mlir::Value source,
           mlir::OpFoldResult growth, mlir::Value target, mlir::Value length);

  /// `value` at `length` places from `target` on.
  void fill(mlir::Value value, mlir::Value target, mlir::Value length);

private:
  void copy(mlir::Value source, mlir::OpFoldResult growth, mlir::Value target,
            mlir::Value length);
  void contiguous(mlir::Value source, mlir::Value target, mlir::Value length);
  void strided(mlir::Value source, mlir::Value step, mlir::Value target,
               mlir::Value length);
  void steps(mlir::Value length, llvm::function_ref<void(mlir::Value)> body);
  mlir::Value isEqual(mlir::Value value, int64_t number);
  mlir::Value element(mlir::Value at);
  void store(mlir::Value value, mlir::Value at);
  mlir::Value plus(mlir::Value x, mlir::Value y);
  mlir::Value constant(int64_t value);

  mlir::ImplicitLocOpBuilder b;
  mlir::Value from, to;
  int64_t lanes;
  mlir::VectorType type;
};

} // namespace tilebridge::cpu
