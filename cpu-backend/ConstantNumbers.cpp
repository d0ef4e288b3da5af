//===- ConstantNumbers.cpp - what all numbers of a constant are -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/ConstantNumbers.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

bool tilebridge::cpu::isConstantOf(
    Operation *op, llvm::function_ref<bool(const APFloat &)> isSuch) {
  DenseFPElementsAttr numbers;
  FloatAttr number;
  if (matchPattern(op, m_Constant(&numbers)))
    return numbers.isSplat() ? isSuch(numbers.getSplatValue<APFloat>())
                             : llvm::all_of(numbers, isSuch);
  return matchPattern(op, m_Constant(&number)) && isSuch(number.getValue());
}
