//===- TransposeSquare.h - rows of registers to columns ----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Builders.h"

namespace tilebridge::cpu {

/// The columns of as many vectors as they have lanes, a power of two.
llvm::SmallVector<mlir::Value>
transposeSquare(mlir::OpBuilder &b, mlir::Location loc,
                llvm::ArrayRef<mlir::Value> rows);

} // namespace tilebridge::cpu
