//===- PointerMath.h - addresses of memrefs and back ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace tilebridge::ttl {

/// The byte address of a pointer's memref, its offset included, as i64.
mlir::Value addressOf(mlir::OpBuilder &, mlir::Location, mlir::Value memref);

/// The memref of a pointer to `type`'s elements at a byte address (i64).
mlir::Value memrefAt(mlir::OpBuilder &, mlir::Location, mlir::MemRefType type,
                     mlir::Value address);

} // namespace tilebridge::ttl
