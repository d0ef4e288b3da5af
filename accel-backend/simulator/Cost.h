//===- Cost.h - how long units work on an op --------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/simulator/Transfer.h"
#include "accel-backend/target/Target.h"

#include "mlir/IR/Operation.h"

namespace tilebridge::accel {

/// What an op on blocks costs: linalg on memrefs, or accel.compute. `loops` are
/// the ranges of an op of linalg whose shapes are not static.
Work workOf(mlir::Operation *op, const Target &target,
            llvm::ArrayRef<int64_t> loops = {});

/// "f16", "i8", ...: what rates are given for.
llvm::StringRef rateTypeOf(mlir::Type type);

} // namespace tilebridge::accel
