//===- Unsupported.h - what cannot be compiled, and how that is said ------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

namespace tilebridge::ttl {

/// Reports that an op cannot be compiled, at its place in the kernel: why, and
/// what the kernel's author can do. Both are sentences without a final stop.
mlir::InFlightDiagnostic emitUnsupported(mlir::Operation *op,
                                         const llvm::Twine &why,
                                         const llvm::Twine &hint);

/// Reports the first op that the conversion to the bridge has no lowering for.
mlir::LogicalResult checkSupported(mlir::ModuleOp module);

} // namespace tilebridge::ttl
