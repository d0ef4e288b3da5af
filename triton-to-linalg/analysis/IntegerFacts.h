//===- IntegerFacts.h - what is known of a program's scalars -------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/DenseMap.h"

namespace tilebridge::ttl {

/// Ranges of scalar integers, by MLIR's integer range analysis with what Triton
/// promises (program ids) and the program assumes (`tl.assume`), and their
/// divisibility (`tt.divisibility` of arguments, arithmetic). It holds for the
/// values that are in the program when it is made.
class IntegerFacts {
public:
  explicit IntegerFacts(mlir::Operation *root);

  /// The values that a scalar integer or index can have.
  mlir::ConstantIntRanges rangeOf(mlir::Value scalar) const;

private:
  // Only what is narrower than the type.
  llvm::DenseMap<mlir::Value, mlir::ConstantIntRanges> ranges;
};

/// How many of the lowest bits of a scalar integer are known to be zero; the
/// width for zero itself.
unsigned trailingZeros(mlir::Value scalar);

/// The predicate for `b ? a`, given that for `a ? b`.
mlir::arith::CmpIPredicate swapped(mlir::arith::CmpIPredicate predicate);

} // namespace tilebridge::ttl
