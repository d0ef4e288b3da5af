//===- Passes.h - passes over the bridge IR ---------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tilebridge::linalg_ext {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "triton-to-linalg/bridge/Passes.h.inc"
} // namespace tilebridge::linalg_ext
