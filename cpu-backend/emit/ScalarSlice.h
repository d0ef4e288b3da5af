//===- ScalarSlice.h - scalars that can be computed first -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TILEBRIDGE_CPU_BACKEND_EMIT_SCALARSLICE_H
#define TILEBRIDGE_CPU_BACKEND_EMIT_SCALARSLICE_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/SetVector.h"

namespace tilebridge::cpu {

/// Operations of one block, each behind those that it uses.
using ScalarSlice = llvm::SetVector<mlir::Operation *>;

/// Adds to `slice` what `value` is computed from; fails if that is not only
/// scalars in `block` that touch no memory.
mlir::LogicalResult addToSlice(mlir::Value value, mlir::Block &block,
                               ScalarSlice &slice);

/// `value` and what it is computed from, where `b` stands; `map` has the
/// arguments.
mlir::Value copyWithSources(mlir::OpBuilder &b, mlir::IRMapping &map,
                            mlir::Value value);

/// The function's argument that `value` is a cast of; null if it is none.
mlir::BlockArgument scalarArgumentOf(mlir::Value value);

/// It is an integer; the launch's multiples of 16 and the like are not 1.
bool mayBeOne(mlir::BlockArgument argument);

/// Moves the slice to its block's begin, and `b` behind it.
void moveToBegin(mlir::OpBuilder &b, const ScalarSlice &slice,
                 mlir::Block &block);

/// Puts what is behind `b` in its block, but for the terminator, into both
/// sides of a branch: where `condition` holds with what `assume`, which writes
/// to that side's begin, maps there, elsewhere as it is. The branch is in front
/// of `b` then.
mlir::scf::IfOp versionRest(
    mlir::OpBuilder &b, mlir::Value condition,
    llvm::function_ref<void(mlir::OpBuilder &, mlir::IRMapping &)> assume);

/// Moves what is behind `op` in its block, but for the terminator, to the end
/// of `to`.
void moveRestInto(mlir::Operation *op, mlir::Block &to);

} // namespace tilebridge::cpu

#endif // TILEBRIDGE_CPU_BACKEND_EMIT_SCALARSLICE_H
