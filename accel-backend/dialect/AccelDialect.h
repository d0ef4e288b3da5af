//===- AccelDialect.h - the dialect accel -----------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"

#include "accel-backend/dialect/AccelDialect.h.inc"
#include "accel-backend/dialect/AccelEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "accel-backend/dialect/AccelAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "accel-backend/dialect/AccelTypes.h.inc"

namespace tilebridge::accel {
/// Attributes by name, of functions, their arguments and modules.
/// On a kernel that is (being) lowered for a target.
constexpr llvm::StringLiteral kernelAttr = "accel.kernel";
/// On a pointer argument: no other argument's memory overlaps with its.
constexpr llvm::StringLiteral noaliasAttr = "accel.noalias";
/// On a pointer argument: the name of the target's memory that it is in.
constexpr llvm::StringLiteral placedAttr = "accel.placed";
/// On a module: the name of the target.
constexpr llvm::StringLiteral targetAttr = "accel.target";
/// On an accel.copy: how many buffers it is to have.
constexpr llvm::StringLiteral depthAttr = "accel.depth";

/// The name of the memory that the compute units of a PE work on.
constexpr llvm::StringLiteral localMemory = "local";

/// True if a memref of this type is in the chip's memory.
bool isInChipMemory(mlir::Type type);
} // namespace tilebridge::accel
