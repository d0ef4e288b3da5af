//===- Matmul.h - loops of a matrix product over memrefs --------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilebridge::cpu {

using Allocate = llvm::function_ref<mlir::Value(mlir::MemRefType)>;

/// What a product needs besides its operands.
struct MatmulSettings {
  int64_t vectorBits = 256;
  /// Integers narrower than the accumulator are zero-extended, not
  /// sign-extended.
  bool isUnsigned = false;
  /// There are instructions for sums of two products of bf16, and of i16.
  bool hasBf16Pairs = false, hasI16Pairs = false;
};

/// The registers that one call of the micro-kernel holds: rows x (vectors of
/// `lanes` elements).
struct MatmulTile {
  int64_t rows, vectors, lanes;
  int64_t columns() const { return vectors * lanes; }

  /// The tile for a block of m x n, in registers of so many elements.
  static MatmulTile choose(int64_t m, int64_t n, int64_t nativeLanes,
                           int64_t vectorBits);
};

/// c += a * b with a: MxK, b: KxN (static shapes, any strides) and c: MxN, rows
/// contiguous. The types of a and b may be narrower than that of c.
void emitMatmulLoops(mlir::ImplicitLocOpBuilder &b, mlir::Value lhs,
                     mlir::Value rhs, mlir::Value acc,
                     const MatmulSettings &settings, Allocate allocate);

/// The same by instructions for pairs of products; false, and nothing done, if
/// there is none for these operands.
bool emitMatmulByPairs(mlir::ImplicitLocOpBuilder &b, mlir::Value lhs,
                       mlir::Value rhs, mlir::Value acc,
                       const MatmulSettings &settings, Allocate allocate);

/// A scalar or vector of a narrower type as one of `element`.
mlir::Value widenTo(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                    mlir::Type element, bool isUnsigned);

/// Copies src to dst (one static shape of rank 2; rows of dst contiguous),
/// widening elements; src may have any strides. Vectors have up to `lanes`
/// elements.
void emitPack(mlir::ImplicitLocOpBuilder &b, mlir::Value src, mlir::Value dst,
              int64_t lanes, bool isUnsigned);

/// for (i = 0; i < count; i += step); the loop is left out if it has one
/// iteration.
void emitLoop(mlir::ImplicitLocOpBuilder &b, int64_t count, int64_t step,
              llvm::function_ref<void(mlir::Value)> body);

/// `value` + `offset` as an index.
mlir::Value offsetBy(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                     int64_t offset);

} // namespace tilebridge::cpu
