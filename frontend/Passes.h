//===- Passes.h - passes over the tt dialect --------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Pass/Pass.h"

namespace tilebridge::frontend {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "frontend/Passes.h.inc"
} // namespace tilebridge::frontend
