//===- Growth.h - how offsets grow from step to step ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TILEBRIDGE_CPU_BACKEND_EMIT_GROWTH_H
#define TILEBRIDGE_CPU_BACKEND_EMIT_GROWTH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace tilebridge::cpu {

/// `value`, a constant where that is known, as one of type index.
mlir::OpFoldResult inIndex(mlir::OpBuilder &b, mlir::Location loc,
                           mlir::Value value);

/// How much `offset` grows from one iteration of `loop` to the next, of type
/// index; nothing where that is not known. `carriedStep` tells what the loop
/// adds to a value that it carries: null if it does anything else with it.
std::optional<mlir::OpFoldResult>
growthInLoop(mlir::OpBuilder &b, mlir::Location loc, mlir::Value offset,
             mlir::scf::ForOp loop,
             llvm::function_ref<mlir::Value(mlir::BlockArgument)> carriedStep);

/// How much it grows from one program to the next one along an axis of the
/// grid, along which its number is `program`, an argument of the function. With
/// a `divisor`, by which it is divided if it is: to the one so far behind.
std::optional<mlir::OpFoldResult>
growthOfProgram(mlir::OpBuilder &b, mlir::Location loc, mlir::Value offset,
                mlir::Value program, mlir::Value divisor = {});

} // namespace tilebridge::cpu

#endif // TILEBRIDGE_CPU_BACKEND_EMIT_GROWTH_H
