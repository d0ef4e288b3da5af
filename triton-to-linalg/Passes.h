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

/// Adds the steps from TTIR in the frontend's normal form to bridge IR.
void buildTritonToLinalgPipeline(mlir::OpPassManager &manager);

/// Makes them known to tools as the pipeline `tilebridge-triton-to-linalg`.
void registerTritonToLinalgPipeline();
} // namespace tilebridge::ttl
