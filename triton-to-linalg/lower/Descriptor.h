//===- Descriptor.h - a tensor descriptor as the bridge has it -----*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/TTOps.h"

namespace tilebridge::ttl {

/// What a descriptor becomes: a memref of the whole tensor, and whether
/// elements outside are NaN.
struct Descriptor {
  mlir::Value memref, isNan;
  mlir::Type element; // as memory has it, without a sign
  llvm::ArrayRef<int64_t> block;

  Descriptor(mlir::OpBuilder &builder, mlir::Location loc,
             mlir::Value descriptor);
  /// The value of elements outside of the tensor.
  mlir::Value padding(mlir::OpBuilder &builder, mlir::Location loc) const;
};

} // namespace tilebridge::ttl
