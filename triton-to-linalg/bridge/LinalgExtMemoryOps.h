//===- LinalgExtMemoryOps.h - accesses that are not boxes ------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "triton-to-linalg/bridge/LinalgExtMemoryEnums.h.inc"

#define GET_OP_CLASSES
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h.inc"
