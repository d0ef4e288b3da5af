//===- Passes.h - passes of cpu-backend -------------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace tilebridge::cpu {
struct CpuTarget;

/// On a module: the width of the vectors that its code is to use, where that is
/// not the target's.
inline constexpr llvm::StringLiteral vectorBitsAttr = "tilebridge.vector_bits";
/// On a module with atomic accesses: what the manifest says of them.
inline constexpr llvm::StringLiteral atomicsAttr = "tilebridge.atomics";

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "cpu-backend/Passes.h.inc"

/// Bridge IR to loops over vectors and memrefs.
/// `contracts`: products and sums may be fused, quotients be products.
void buildCpuToVectorPipeline(mlir::OpPassManager &pm, const CpuTarget &target,
                              bool contracts = true);

/// Bridge IR to the LLVM dialect, ready to be translated.
void buildCpuPipeline(mlir::OpPassManager &pm, const CpuTarget &target,
                      bool contracts = true);

/// Accesses see strides that have become known.
void addFoldStrides(mlir::OpPassManager &pm);

/// Registers the pipelines for tilebridge-opt.
void registerCpuPipelines();
} // namespace tilebridge::cpu
