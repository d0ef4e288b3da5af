//===- TTGDialect.h - the barrier of Triton's GPU dialect -------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "frontend/TTGDialect.h.inc"
#include "frontend/TTGEnums.h.inc"

#define GET_OP_CLASSES
#include "frontend/TTGOps.h.inc"
