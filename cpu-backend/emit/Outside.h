//===- Outside.h - what a block is where it was padded ----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace tilebridge::cpu {

/// What elements that no access reads, such as those behind a row's end, have
/// in common.
struct Outside {
  /// They are one number, known or not.
  bool isSame = false;
  /// The number, if it is known,
  mlir::Attribute value;
  /// or all of them are NaN.
  bool mayBeNaN = false;
  /// The number is a zero of either sign.
  bool anySign = false;
  /// They are integers, not all the same, and none is less than this or wraps
  /// around.
  std::optional<int64_t> least = std::nullopt;

  bool isExact() const { return value && !mayBeNaN && !anySign; }
  bool isFalse() const {
    return isSame && isExact() &&
           value == mlir::BoolAttr::get(value.getContext(), false);
  }
  static Outside same(mlir::Attribute value = {}) { return {true, value}; }
  static Outside zeroOrNaN(mlir::Attribute zero) {
    return {true, zero, true, true};
  }
};

/// What an elementwise `op` of one result, of scalars or of tensors, gives for
/// such operands.
Outside outsideOf(mlir::Operation *op, llvm::ArrayRef<Outside> operands);

/// What elements of `block` from `begin` on along `dim` are, by what pads the
/// loads that it is computed from.
Outside outsideFrom(mlir::Value block, unsigned dim, int64_t begin);

/// What elements of `block` along `dim` have in common where `mask`, of rank 1,
/// is false: in each row a number of its own.
Outside outsideOfMask(mlir::Value block, unsigned dim, mlir::Value mask);

/// The number that `value` is, or all of its elements are; null if that is not
/// known.
mlir::Attribute constantAttr(mlir::Value value);

/// What `op` folds to for operands of such values (null: not known), some of
/// which may be operands; empty if it does not. `op` stays as it is.
llvm::SmallVector<mlir::OpFoldResult>
foldCopy(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> operands);

} // namespace tilebridge::cpu
