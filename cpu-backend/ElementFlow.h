//===- ElementFlow.h - where elements come from and go to -------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Value.h"

#include <optional>

namespace tilebridge::cpu {

/// Values whose elements are all that `value` (a number, a tensor, or what a
/// region of linalg's or scf's ops is given) can have, unchanged: of what is
/// only moved, chosen, carried by loops, or gone through a region. Nothing
/// where `value` is computed, read from memory, or not known.
std::optional<llvm::SmallVector<mlir::Value, 4>> sourcesOf(mlir::Value value);

/// The other way: which values get elements of this operand. Empty where the
/// operation does not look at them.
std::optional<llvm::SmallVector<mlir::Value, 4>>
targetsOf(mlir::OpOperand &use);

} // namespace tilebridge::cpu
