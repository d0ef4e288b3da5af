//===- BridgeTypes.h - types of tt as the bridge has them ----- -*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Transforms/DialectConversion.h"

#include <string>

namespace tilebridge::ttl {

/// Maps the types of tt to those of the bridge IR, as docs/bridge-ir.md lists
/// them: a pointer becomes a memref, a descriptor a memref and an i1, a block
/// pointer a memref and one index a dimension, a tensor of pointers a tensor of
/// i64 addresses. What is no type of tt stays.
class BridgeTypeConverter : public mlir::TypeConverter {
public:
  BridgeTypeConverter();
};

/// The bridge's types of several values, of which each may become several.
struct BridgeTypesOf {
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<size_t> counts;

  /// Nothing where a type has no bridge type.
  static mlir::FailureOr<BridgeTypesOf> get(const mlir::TypeConverter &,
                                            mlir::TypeRange);
  /// Values of these types, those of one source value together.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
  group(mlir::ValueRange values) const;
};

/// The type that an element of `type` has in memory: a boolean is a byte, a
/// pointer is 64 bits, and signs are gone.
mlir::Type memoryElementType(mlir::Type type);

/// The bytes from one element of `type` to the next.
int64_t elementBytes(mlir::Type type);

/// memref<?xT, strided<[1], offset: ?>>: what a pointer to `pointee` is.
mlir::MemRefType pointerMemRefType(mlir::Type pointee);

/// The memref of a descriptor or block pointer: all sizes and strides dynamic.
mlir::MemRefType viewMemRefType(int64_t rank, mlir::Type element);

/// True for a pointer to elements, and for a tensor of them.
bool isPointerLike(mlir::Type type);

/// How Triton writes the type in a kernel's signature: "*fp32", "i32",
/// "tensordesc<fp16[32, 64]>". Empty if it cannot be in one.
std::string signatureOf(mlir::Type type);

} // namespace tilebridge::ttl
