//===- WideCombiner.h - running sums of narrow floats in f32 ----*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Builders.h"

namespace tilebridge::ttl {

/// The region of a scan adds or multiplies in f16 or bf16, and does nothing
/// that needs these types. A GPU combines as a tree, with few roundings on the
/// way to an element; here they are one after the other, so that what is
/// combined so far is kept in f32 and rounded once. (A reduction is a tree
/// here, too, and stays what its region says.)
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
