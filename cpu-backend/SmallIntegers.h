//===- SmallIntegers.h - integers that short floats hold -----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TILEBRIDGE_CPU_BACKEND_SMALLINTEGERS_H
#define TILEBRIDGE_CPU_BACKEND_SMALLINTEGERS_H

#include "mlir/IR/Operation.h"

namespace tilebridge::cpu {

/// `op` converts integers to floats, none of them above 256 in magnitude: bf16
/// has each of them, and so has an f32 whose lower half is zero; or to f16,
/// none of them above 2048.
bool convertsSmallIntegers(mlir::Operation *op);

} // namespace tilebridge::cpu

#endif // TILEBRIDGE_CPU_BACKEND_SMALLINTEGERS_H
