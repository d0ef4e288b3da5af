//===- Report.h - what was decided, as JSON -------------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"

namespace tilebridge::accel {

/// Of a lowered kernel whose buffers have places: buffers with lifetimes and
/// offsets, bytes by memory, what multicasts save, and the time that the model
/// expects.
llvm::json::Object report(mlir::func::FuncOp kernel, const Target &target);

} // namespace tilebridge::accel
