//===- TTOps.h - operations of the tt dialect -------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/TTGDialect.h"
#include "frontend/TTTypes.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "frontend/TTMemoryOps.h.inc"
#define GET_OP_CLASSES
#include "frontend/TTDescriptorOps.h.inc"
#define GET_OP_CLASSES
#include "frontend/TTShapeOps.h.inc"
#define GET_OP_CLASSES
#include "frontend/TTComputeOps.h.inc"
#define GET_OP_CLASSES
#include "frontend/TTRegionOps.h.inc"
#define GET_OP_CLASSES
#include "frontend/TTProgramOps.h.inc"
#define GET_OP_CLASSES
#include "frontend/TTFuncOps.h.inc"
