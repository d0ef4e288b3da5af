//===- StreamScans.h - scans in the nests of stores ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/Plan.h"

namespace tilebridge::cpu {

/// On a scan: it is computed in the loop of the store of its result.
inline constexpr llvm::StringLiteral streamedAttr = "tilebridge.streamed";

bool isStreamedScan(mlir::Operation *op);

/// Marks the scans that can be.
void findStreamedScans(mlir::func::FuncOp func);

} // namespace tilebridge::cpu
