//===- Combine.h - two elements become one ----------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/dialect/AccelDialect.h"

#include "mlir/IR/Types.h"

#include <cstdint>

namespace tilebridge::accel {

/// The bits of the combination of two elements of a type.
uint64_t combined(CombiningKind kind, uint64_t x, uint64_t y, mlir::Type type);

/// What an atomic access stores.
uint64_t combined(AtomicAction action, uint64_t old, uint64_t value,
                  mlir::Type type);

} // namespace tilebridge::accel
