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

/// Adds the steps that lower accesses to memory and say in remarks what became
/// of each (AccessRemark.h): the first ones of the pipeline below.
void buildAccessPipeline(mlir::OpPassManager &manager);

/// Adds the steps from TTIR in the frontend's normal form to bridge IR.
void buildTritonToLinalgPipeline(mlir::OpPassManager &manager);

/// Makes them known to tools as the pipeline `tilebridge-triton-to-linalg`.
void registerTritonToLinalgPipeline();
} // namespace tilebridge::ttl
