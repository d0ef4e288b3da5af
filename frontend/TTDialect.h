//===- TTDialect.h - Triton's tile IR ---------------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Dialect.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

#include "frontend/TTDialect.h.inc"

namespace tilebridge::tt {
/// Registers `tt`, and the part of `ttg` that occurs with it.
void registerTTDialect(mlir::DialectRegistry &registry);
} // namespace tilebridge::tt
