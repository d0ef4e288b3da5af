//===- ShortNans.h - NaNs that rounding to bf16 keeps -------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// To round an f32 to bf16, to nearest even, 0x7fff is added to its bits, or
// 0x8000 where bit 16 is set, and the lower half is cut off. A NaN only becomes
// something else where that carries into its upper half, that is, where the
// lower half is not zero. Of bf16 it is. An IEEE operation that has a NaN among
// its operands gives one of them, at most with its quiet bit set, which is in
// the upper half; one that makes a NaN of numbers gives 0x7fc00000 or
// 0xffc00000 (x86). So each sum, product, quotient and so on of values whose
// NaNs are short, with lower halves of zeros, is such a value again, and two of
// six instructions are not needed where it is rounded. (Not what f16 was:
// 0x7fffe000 would become -0.)
//===----------------------------------------------------------------------===//
#ifndef TILEBRIDGE_CPU_BACKEND_SHORTNANS_H
#define TILEBRIDGE_CPU_BACKEND_SHORTNANS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tilebridge::cpu {

/// On a rounding to bf16: NaNs of its operand are short.
constexpr llvm::StringLiteral shortNansAttr = "tilebridge.short_nans";

/// Whether the lower half of each number of f32 `value` is zero, so that it is
/// what bf16 holds.
bool holdsBf16(mlir::Value value, int depth = 8);

/// Makes NaNs short where that costs nothing.
class ShortNans {
public:
  /// Whether NaNs of `operand`, of f32, are short. What comes from before the
  /// innermost loop is made so there, if need be: of a row's mean, say, one
  /// number is tested in place of all elements of the row.
  bool ensure(mlir::OpOperand &operand);

private:
  bool areShort(mlir::OpOperand &use, mlir::scf::ForOp loop,
                llvm::SmallVectorImpl<mlir::OpOperand *> &before, int depth);
  mlir::Value shorten(mlir::Value value);

  llvm::DenseMap<mlir::Value, mlir::Value> shortened;
  /// By the call of `ensure` that runs.
  llvm::DenseSet<mlir::Operation *> seen;
};

} // namespace tilebridge::cpu

#endif // TILEBRIDGE_CPU_BACKEND_SHORTNANS_H
