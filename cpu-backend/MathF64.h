//===- MathF64.h - elementary functions of f64, inline ----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilebridge::cpu {

/// exp(x) with AVX-512, right for every input and to 0.65 units in the last
/// place (0.8 where the result is subnormal), for vectors of rank 1 of 8 lanes
/// or several times as many; null for other types. `freeUnderflow`: whether
/// results that underflow are as fast as others.
mlir::Value expOfF64(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                     bool freeUnderflow);

} // namespace tilebridge::cpu
