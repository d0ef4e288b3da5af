//===- NumberRange.h - the values that integers can have ---------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Interfaces/InferIntRangeInterface.h"

namespace tilebridge::cpu {

/// The values that a scalar integer, or elements of a tensor of them, can have,
/// from what computes them.
mlir::ConstantIntRanges rangeOfNumbers(mlir::Value numbers);

} // namespace tilebridge::cpu
