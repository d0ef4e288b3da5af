//===- WideCombiner.h - sums of narrow floats in f32 ------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Builders.h"

namespace tilebridge::ttl {

/// A GPU adds up a block as a tree over many threads: few roundings to a narrow
/// type on the way to a result. Here terms come one after the other, so that
/// sums and products of floats narrower than f32 are taken in f32, and rounded
/// once. Types of which that is true:
bool isNarrowFloat(mlir::Type);

/// The region of a scan adds or multiplies in f16 or bf16, and does nothing
/// that needs these types.
bool canCombineInF32(mlir::Block &body);

/// A copy of such a region, on f32, at the end of `region`; its last op is left
/// to the caller, who gets what it gives.
llvm::SmallVector<mlir::Value> cloneInF32(mlir::OpBuilder &, mlir::Block &body,
                                          mlir::Region &region);

/// Blocks of narrow floats as f32.
llvm::SmallVector<mlir::Value> widenBlocks(mlir::OpBuilder &, mlir::Location,
                                           mlir::ValueRange blocks);

/// Blocks of f32 rounded to the element types of `types`.
llvm::SmallVector<mlir::Value> narrowBlocks(mlir::OpBuilder &, mlir::Location,
                                            mlir::ValueRange blocks,
                                            mlir::TypeRange types);

} // namespace tilebridge::ttl
