//===- TTTypes.h - types and attributes of the tt dialect -------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/TTDialect.h"

#include "mlir/IR/BuiltinTypes.h"

#include "frontend/TTEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "frontend/TTAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "frontend/TTTypes.h.inc"

namespace tilebridge::tt {

/// What a pointer points to; for a tensor of pointers the tensor of that. A
/// type that is no pointer comes back as it is.
mlir::Type pointeeTypeOf(mlir::Type type);

/// i1, or a tensor of i1 with the type's shape.
mlir::Type maskTypeOf(mlir::Type type);

/// The element of a tensor; any other type as it is.
mlir::Type elementTypeOf(mlir::Type type);

/// The pointer to an element of a block pointer's tensor.
mlir::Type elementPointerOf(mlir::Type blockPointer);

} // namespace tilebridge::tt
