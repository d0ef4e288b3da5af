//===- Descriptor.h - what an engine can do in one go ---------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/target/Target.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace tilebridge::accel {

/// A box of elements that is copied, as far as it is known: two sides of the
/// same sizes.
struct Box {
  mlir::MemRefType source, dest;
  /// Of each dimension the most that its size can be; kDynamic: any.
  llvm::SmallVector<int64_t> most;
};

/// Whether a descriptor of the engine can combine what it copies with what is
/// there in this way.
inline bool canAccumulate(const DmaEngine &engine, CombiningKind kind) {
  return engine.accumulate && kind == CombiningKind::Add;
}

/// A dimension that has to be copied in parts, of so many positions at most.
struct Piece {
  int64_t dimension, size;
};

/// What has to be taken apart first for one descriptor of the engine to say the
/// rest; none where it says all. Strides that are not known are taken to be
/// good.
std::optional<Piece> nextPiece(const Box &box, const DmaEngine &engine);

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
