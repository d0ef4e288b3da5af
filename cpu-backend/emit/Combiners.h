//===- Combiners.h - what a reduction does with two numbers ------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

namespace tilebridge::cpu {

/// The only op of a block that gives the block's result from its first two
/// arguments, in any order; null if there is none.
mlir::Operation *combinerOf(mlir::Block &block);

/// Combining any number of `value` (null: not known which) gives `value`.
bool staysWhenCombined(mlir::Operation *combiner, mlir::Attribute value);

} // namespace tilebridge::cpu
