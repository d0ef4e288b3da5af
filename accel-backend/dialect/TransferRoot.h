//===- TransferRoot.h - the memory behind a view --------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Value.h"

namespace tilebridge::accel {
/// The memory that a view is of: what no view, cast or metadata op made.
mlir::Value transferRoot(mlir::Value memref);
} // namespace tilebridge::accel
