//===- FewRows.h - programs that multiply few rows --------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TILEBRIDGE_CPU_BACKEND_MERGE_FEWROWS_H
#define TILEBRIDGE_CPU_BACKEND_MERGE_FEWROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilebridge::cpu {

/// Makes one function of programs that multiply a few rows with narrow blocks
/// of a matrix in row-major order, and on a machine of few `cores` a second one
/// of more programs; false where that is not possible.
bool mergeFewRows(mlir::func::FuncOp func, int64_t cores);

/// On the function that runs such programs: launches with more rows run the
/// kernel, in its own order.
inline constexpr llvm::StringLiteral mergedRowsAttr = "tilebridge.merged_rows";

} // namespace tilebridge::cpu

#endif // TILEBRIDGE_CPU_BACKEND_MERGE_FEWROWS_H
