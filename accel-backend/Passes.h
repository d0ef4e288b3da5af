//===- Passes.h - passes of accel-backend -----------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace tilebridge::accel {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "accel-backend/Passes.h.inc"

/// The stages of the lowering, in order: docs/accel-ir.md describes the IR
/// behind each.
llvm::ArrayRef<llvm::StringRef> stageNames();

/// Bridge IR to what the simulator and the emitters read. Stages from `from` to
/// `to`, both included; all of them where these are empty.
mlir::LogicalResult buildAccelPipeline(mlir::OpPassManager &pm,
                                       llvm::StringRef from = {},
                                       llvm::StringRef to = {});

/// Registers tilebridge-accel-pipeline for tilebridge-opt.
void registerAccelPipelines();
} // namespace tilebridge::accel
