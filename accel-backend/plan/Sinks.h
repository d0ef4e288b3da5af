//===- Sinks.h - what combines the positions of a block ------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace tilebridge::accel {

/// Whether an operation that combines the positions of a class can go on from
/// what it gave for the parts before: sums and products of linalg, counts, and
/// reductions with any region.
bool isAccumulating(mlir::Operation *op);

/// What a sink begins with, for each of its results.
llvm::SmallVector<mlir::Value> beginsOf(mlir::OpBuilder &builder,
                                        mlir::Operation *sink);

/// Lets a sink go on from what the parts before gave; `isFirst` is true for the
/// part before which there is none.
void continueFrom(mlir::Operation *sink, mlir::ValueRange before,
                  mlir::Value isFirst);

} // namespace tilebridge::accel
