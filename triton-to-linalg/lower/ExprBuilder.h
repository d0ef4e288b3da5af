//===- ExprBuilder.h - writes expressions into the program ---------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "triton-to-linalg/analysis/Expr.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace tilebridge::ttl {

/// Makes operations for expressions at the place of a builder. Uniform numbers
/// of 64 bits are written as `index`. A copy, for a region further in, shares
/// what is written so far.
class ExprBuilder {
public:
  ExprBuilder(mlir::OpBuilder &builder, mlir::Location loc,
              bool asIntegers = false)
      : builder(builder), loc(loc), asIntegers(asIntegers) {}

  /// A uniform expression: index where it is 64 bits wide, else an integer of
  /// its width.
  mlir::Value value(const Expr *expr);
  /// The same, as an integer in any case.
  mlir::Value integer(const Expr *expr);
  /// A uniform expression of 64 bits as an index, or a constant.
  mlir::OpFoldResult index(const Expr *expr);
  /// A tensor with `count` lanes of any expression.
  mlir::Value lanes(const Expr *expr, int64_t count);

private:
  mlir::Value make(const Expr *expr);
  mlir::Value makeOp(const Expr *expr, llvm::ArrayRef<mlir::Value> operands);
  mlir::Value makeCast(const Expr *expr, mlir::Value operand);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  bool asIntegers;
  llvm::DenseMap<const Expr *, mlir::Value> scalars;
};

} // namespace tilebridge::ttl
