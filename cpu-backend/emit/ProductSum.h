//===- ProductSum.h - sums of products that a loop adds up ------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TILEBRIDGE_CPU_BACKEND_EMIT_PRODUCTSUM_H
#define TILEBRIDGE_CPU_BACKEND_EMIT_PRODUCTSUM_H

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace tilebridge::cpu {

/// `left` x `right`, element by element: blocks or numbers of the loop.
struct ProductTerm {
  mlir::Value left, right;
  bool isSubtracted;
  mlir::Location loc;
};

/// acc + terms, as one iteration of a loop computes them.
struct ProductSum {
  mlir::BlockArgument acc;
  llvm::SmallVector<ProductTerm> terms;

  /// What the loop carries as its value `i`, if tilebridge-cpu-raise-products
  /// may take it.
  static std::optional<ProductSum> match(mlir::scf::ForOp loop, unsigned i);

  /// One factor of each term is the same in all columns of the sums, and the
  /// other in all rows.
  bool areProducts(mlir::scf::ForOp loop) const;

private:
  /// `value` is a part of the sum.
  bool add(mlir::Value value, bool isSubtracted = false);

  bool hasAcc = false;
};

} // namespace tilebridge::cpu

#endif // TILEBRIDGE_CPU_BACKEND_EMIT_PRODUCTSUM_H
