//===- Float.h - floats of any type as double -*- C++ -*- ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"

#include <cstdint>

namespace tilebridge::reference {

/// The bits of a float of this type as a double, exactly: no type has more.
double toDouble(uint64_t bits, mlir::FloatType type);

/// A double rounded to the type once.
uint64_t
fromDouble(double value, mlir::FloatType type,
           llvm::RoundingMode rounding = llvm::RoundingMode::NearestTiesToEven);

llvm::APFloat toAPFloat(uint64_t bits, mlir::FloatType type);
uint64_t fromAPFloat(const llvm::APFloat &value);

} // namespace tilebridge::reference
