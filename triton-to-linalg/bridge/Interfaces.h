//===- Interfaces.h - upstream's interfaces of the dialect's ops -*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace tilebridge::linalg_ext {

/// TilingInterface: what upstream's tiling and fusion need.
void registerTiling(mlir::DialectRegistry &registry);
/// BufferizableOpInterface: ops become loops over buffers.
void registerBufferization(mlir::DialectRegistry &registry);

inline void registerInterfaces(mlir::DialectRegistry &registry) {
  registerTiling(registry);
  registerBufferization(registry);
}

} // namespace tilebridge::linalg_ext
