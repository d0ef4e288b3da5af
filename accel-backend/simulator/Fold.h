//===- Fold.h - reductions by one operation ---------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Operation.h"

#include <cstdint>

namespace tilebridge::accel {

/// The bits of the combination of two elements.
using FoldFunction = uint64_t (*)(uint64_t x, uint64_t y);

/// What an op of arith does with two elements; null where reductions rarely do
/// it or it is not that simple. Both orders of the operands give the same.
FoldFunction foldOf(mlir::Operation &op);

} // namespace tilebridge::accel
