//===- LinalgExtComputeOps.h - the ops that compute -------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilebridge::linalg_ext {
/// What print and assert write to: something only the host sees.
struct HostResource : public mlir::SideEffects::Resource::Base<HostResource> {
  llvm::StringRef getName() final { return "linalg_ext.host"; }
};
} // namespace tilebridge::linalg_ext

#define GET_OP_CLASSES
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h.inc"
