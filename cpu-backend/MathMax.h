//===- MathMax.h - maxima of rows, where NaN counts as missing --*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Builders.h"

namespace tilebridge::cpu {

/// Writes `op`, an arith.maxnumf or minnumf, or an arith.maximumf or minimumf
/// that does not tell zeros apart, of several native vectors of f32 that a loop
/// carries, for a CPU whose maximum gives the second operand
/// where one is NaN. `general` writes it for any operands: what was found so
/// far, and the element. False if it is no such op.
bool expandReducedMaximum(
    mlir::Operation *op, int64_t vectorBits,
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value, mlir::Value)>
        general);

/// Which operand of each arith.maxnumf and minnumf of `ops` is never NaN; none
/// of those of which that is not known.
llvm::DenseMap<mlir::Operation *, unsigned>
findNumbers(llvm::ArrayRef<mlir::Operation *> ops);

/// Writes `op`, an arith.maxnumf or minnumf whose operand `number` is never
/// NaN, for such a CPU: one instruction.
void expandMaximumWithNumber(mlir::Operation *op, unsigned number);

} // namespace tilebridge::cpu
