//===- MergeReport.h - which programs run together, and why -----*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TILEBRIDGE_CPU_BACKEND_MERGE_MERGEREPORT_H
#define TILEBRIDGE_CPU_BACKEND_MERGE_MERGEREPORT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilebridge::cpu {

/// Says as a decision that `count` programs along an axis of the grid, or, if
/// that is divided, of one column of blocks, run together; `where` goes on from
/// there.
void reportMerged(mlir::func::FuncOp func, unsigned axis, int64_t count,
                  const llvm::Twine &where, bool isDivided = false);

} // namespace tilebridge::cpu

#endif // TILEBRIDGE_CPU_BACKEND_MERGE_MERGEREPORT_H
