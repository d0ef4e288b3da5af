//===- Memory.h - pointers as memrefs, values as memory holds them -*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tilebridge::ttl {

/// What memory holds for an element: a boolean is a byte there, a pointer an
/// address, and integers have no sign.
mlir::Type memoryElement(mlir::Type element);
/// The type with the memory's elements, and values between the two (scalars or
/// tensors): i1 is `!= 0` of a byte. Pointers that are loaded may be tensors of
/// them.
mlir::Type memoryType(mlir::Type type);
mlir::Value toMemory(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value value);
mlir::Value fromMemory(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value value, mlir::Type type);

/// memref<?xT, strided<[1], offset: ?>>, as every scalar pointer is in the
/// bridge IR.
mlir::MemRefType pointerMemref(mlir::Type element);
/// A scalar pointer as that; `element` (of memory) may differ from what it
/// points to. The type conversion that ends triton-to-linalg resolves the cast.
mlir::Value memrefOf(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value pointer, mlir::Type element);
/// The offset that a memref made of `pointer` may already have.
mlir::OpFoldResult offsetOf(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value pointer, mlir::Value memref);

mlir::Value zeroOf(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Type scalar);
/// The scalar that a tensor holds in each lane; null where that is not known.
mlir::Value uniformValue(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value tensor);

} // namespace tilebridge::ttl
