//===- NumberQuestion.h - asking of all floats of a value -------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What a loop carries is such a number if it begins so, and is so again where
// it was before: what is asked for already is taken for such meanwhile.
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallVector.h"

namespace tilebridge::cpu {

/// Whether all floats of a value, through loops and what moves them, are
/// numbers of a kind.
class NumberQuestion {
public:
  virtual ~NumberQuestion() = default;
  /// Of a value of other types: false.
  bool holdsFor(mlir::Value value);

protected:
  bool holdsForAll(mlir::ValueRange values);

private:
  virtual bool isSuch(const llvm::APFloat &constant) const = 0;
  /// What `op` computes, which is no constant and does not only move elements.
  virtual bool makesSuch(mlir::Operation *op) = 0;
  bool ask(mlir::Value value);

  llvm::SmallVector<mlir::Value> asked;
  int steps = 0;
};

} // namespace tilebridge::cpu
