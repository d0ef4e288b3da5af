//===- Passes.h - passes over the tt dialect --------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace tilebridge::frontend {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "frontend/Passes.h.inc"

/// Everything between TTIR as a Triton wheel writes it and triton-to-linalg.
void buildFrontendPipeline(mlir::OpPassManager &pm);

/// Registers the pipeline `tilebridge-frontend`.
void registerFrontendPipeline();
} // namespace tilebridge::frontend
