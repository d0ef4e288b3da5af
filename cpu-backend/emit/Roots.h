//===- Roots.h - operations that bring their own loops -----------*- C++
//-*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What the emitter does not turn into a loop nest of its own. Each function
// emits everything for `op` at the emitter's insertion point, through the
// services of Emitter, and leaves every tensor result in the memref that
// Emitter::resultBuffer or Emitter::accumulate gave for it. A failure has been
// reported, with the location of `op`, when the function returns.
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/Emitter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tilebridge::cpu {

class FunctionEmitter;

/// linalg.matmul, linalg.batch_matmul and their kin: `outs` is the accumulator.
mlir::LogicalResult emitMatmul(Emitter &emitter, mlir::linalg::LinalgOp op);
/// linalg_ext.atomic_rmw, atomic_cas, atomic_load, atomic_store.
mlir::LogicalResult emitAtomic(FunctionEmitter &emitter, mlir::Operation *op);
/// linalg_ext.scan.
mlir::LogicalResult emitScan(Emitter &emitter, mlir::Operation *op);
/// linalg_ext.histogram.
mlir::LogicalResult emitHistogram(Emitter &emitter, mlir::Operation *op);
/// linalg_ext.print.
mlir::LogicalResult emitPrint(Emitter &emitter, mlir::Operation *op);
/// linalg_ext.assert.
mlir::LogicalResult emitAssert(Emitter &emitter, mlir::Operation *op);

} // namespace tilebridge::cpu
