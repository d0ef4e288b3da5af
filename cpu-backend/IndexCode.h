//===- IndexCode.h - what is computed from indices, as scalar code -*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilebridge::cpu {

/// Writes scalar code in the body of a generic over a row: the place of an
/// element, an i32, and what the elements of blocks of more dimensions are
/// there.
class IndexCode {
public:
  IndexCode(mlir::OpBuilder &builder, mlir::Location loc)
      : b(builder), loc(loc) {}

  /// The index of the row that the body is for, with the bits of `exchanged`
  /// changed.
  mlir::Value rowIndex(int64_t exchanged = 0);

  /// The indices of the element at `place` of a row-major block whose sizes are
  /// powers of two.
  llvm::SmallVector<mlir::Value> indicesOf(mlir::Value place,
                                           llvm::ArrayRef<int64_t> shape);

  /// The element of `tensor`, which is from indices, at these.
  mlir::Value elementOf(mlir::Value tensor,
                        llvm::ArrayRef<mlir::Value> indices);

  /// The operations of `body`, the terminator's operands being the result.
  /// `mapping` has the block's arguments, `indices` are those of the loops.
  llvm::SmallVector<mlir::Value> clone(mlir::Block &body,
                                       mlir::IRMapping &mapping,
                                       llvm::ArrayRef<mlir::Value> indices);

private:
  mlir::Value number(int64_t value);

  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// The elements of `tensor`, whose dimensions are powers of two, as one row
/// that is computed from the row's indices; null where they are not computed
/// from indices and scalars by a few operations. Element i is element `i ^
/// exchanged` of it.
mlir::Value rowFromIndices(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value tensor, int64_t exchanged = 0);

} // namespace tilebridge::cpu
