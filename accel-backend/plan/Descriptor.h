//===- Descriptor.h - transfers between memrefs as descriptors ------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/target/Descriptor.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace tilebridge::accel {

/// Whether a descriptor of the engine can combine what it copies with what is
/// there in this way.
inline bool canAccumulate(const DmaEngine &engine, CombiningKind kind) {
  return engine.accumulate && kind == CombiningKind::Add;
}

/// A box between memrefs of these types, of the same rank, with at most so many
/// positions in each dimension; kDynamic: any.
Box boxOf(mlir::MemRefType source, mlir::MemRefType dest,
          llvm::ArrayRef<int64_t> most);

/// Of each dimension the most that the size of a transfer can be.
llvm::SmallVector<int64_t> mostOf(mlir::Value source, mlir::Value dest);

/// What a size that is only known at run time is taken to be.
enum class Unknown {
  /// As large as the buffers allow: what a descriptor says is surely one.
  AtMost,
  /// As small as a dimension can be: what is more than one surely is.
  AtLeast,
};

/// True if a transfer, between memrefs, is one descriptor of the engine. With
/// `rows`, `dim` is the indexed dimension.
bool isOneDescriptor(mlir::Value source, mlir::Value dest, mlir::Value rows,
                     int64_t dim, bool pads, const DmaEngine &engine,
                     Unknown unknown = Unknown::AtMost);

} // namespace tilebridge::accel
