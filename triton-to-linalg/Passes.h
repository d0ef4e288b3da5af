//===- Passes.h - passes of triton-to-linalg ---------------------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace tilebridge::ttl {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "triton-to-linalg/Passes.h.inc"
} // namespace tilebridge::ttl
