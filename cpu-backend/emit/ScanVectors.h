//===- ScanVectors.h - scans within vectors ------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/Emitter.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

namespace tilebridge::cpu {

/// What leaves any other operand of the scan's region as it is, whatever its
/// bits; null where the region is more than one operation on one value, or has
/// no such element.
mlir::TypedAttr neutralOf(linalg_ext::ScanOp op);

/// Each result of the scan's region is one of its two operands, so that what is
/// combined with itself stays as it is: of cummax, and its indices.
bool isChoice(linalg_ext::ScanOp op);

/// What a scan does with the lanes of vectors, one for each of its inputs.
class ScanVectors {
public:
  ScanVectors(Emitter &emitter, linalg_ext::ScanOp op)
      : emitter(emitter), b(emitter.builder()), op(op), loc(op.getLoc()) {}

  /// What the region makes of `before` and `values`.
  llvm::SmallVector<mlir::Value> combine(llvm::ArrayRef<mlir::Value> before,
                                         llvm::ArrayRef<mlir::Value> values,
                                         int64_t lanes);

  /// Each lane combined with all before it that are a multiple of `apart` away,
  /// in its line of so many lanes (0: of all): behind it in a scan that is
  /// reversed. Those nearer than `first` have been combined.
  llvm::SmallVector<mlir::Value> scan(llvm::SmallVector<mlir::Value> values,
                                      int64_t lanes, int64_t apart = 1,
                                      int64_t line = 0, int64_t first = 0);

  /// Of a choice. Whether all lanes of what `combine` gave are those of the
  /// operands `before`, or `values`.
  mlir::Value areAll(llvm::ArrayRef<mlir::Value> combined,
                     llvm::ArrayRef<mlir::Value> operands, bool isBefore);

  /// `values` with the lanes of `before` in front, as far as `apart`: what is
  /// `apart` lanes before each.
  llvm::SmallVector<mlir::Value> neighbours(llvm::ArrayRef<mlir::Value> before,
                                            llvm::ArrayRef<mlir::Value> values,
                                            int64_t lanes, int64_t apart);

  /// The last `apart` of `lanes` lanes, again and again in `width` (0: as
  /// many); the first ones of a scan that is reversed.
  llvm::SmallVector<mlir::Value> lastLanes(llvm::ArrayRef<mlir::Value> values,
                                           int64_t lanes, int64_t apart = 1,
                                           int64_t width = 0);

private:
  Emitter &emitter;
  mlir::OpBuilder &b;
  linalg_ext::ScanOp op;
  mlir::Location loc;
};

} // namespace tilebridge::cpu
