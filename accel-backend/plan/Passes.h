//===- Passes.h - passes that decide ----------------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace tilebridge::accel {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel
