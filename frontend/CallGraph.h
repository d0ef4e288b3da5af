//===- CallGraph.h - what calls must be for a program to end ----*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tilebridge::frontend {

/// Emits an error for a call of a function that has no body, and for functions
/// that call each other in a circle: each call of the circle is named with its
/// place.
llvm::LogicalResult verifyCalls(mlir::ModuleOp module);

} // namespace tilebridge::frontend
