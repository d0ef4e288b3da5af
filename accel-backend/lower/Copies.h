//===- Copies.h - accesses as copies, one family a file ---------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/dialect/AccelOps.h"

#include "mlir/IR/PatternMatch.h"

namespace tilebridge::accel {
/// A copy without rows and mask, synchronous.
CopyOp createCopy(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value source, mlir::Value dest, mlir::ValueRange low,
                  mlir::Value pad);

/// bufferization.to_tensor with the paddings of what it gives, and
/// bufferization.materialize_in_destination.
mlir::LogicalResult lowerStructuredAccess(mlir::RewriterBase &rewriter,
                                          mlir::Operation *op);

/// Accesses of linalg_ext by mask, rows and element offsets, and atomic ones.
mlir::LogicalResult lowerIndexedAccess(mlir::RewriterBase &rewriter,
                                       mlir::Operation *op);
mlir::LogicalResult lowerAtomicAccess(mlir::RewriterBase &rewriter,
                                      mlir::Operation *op);
} // namespace tilebridge::accel
