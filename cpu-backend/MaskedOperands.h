//===- MaskedOperands.h - operands of masked accesses -----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/IR/IntrinsicInst.h"

namespace tilebridge::cpu {

/// The numbers of the operands of a masked load, store or scatter. `vector` is
/// what is stored, or what lanes that are off give.
struct MaskedOperands {
  unsigned pointer, mask, vector;
};

inline MaskedOperands maskedOperandsOf(const llvm::IntrinsicInst &access) {
  // (pointer, mask, otherwise) and (value, pointer, mask).
  return access.getIntrinsicID() == llvm::Intrinsic::masked_load
             ? MaskedOperands{0, 1, 2}
             : MaskedOperands{1, 2, 0};
}

} // namespace tilebridge::cpu
