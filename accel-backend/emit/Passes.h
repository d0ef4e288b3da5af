//===- Passes.h - passes of accel-backend/emit ------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tilebridge::accel {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "accel-backend/emit/Passes.h.inc"
} // namespace tilebridge::accel
