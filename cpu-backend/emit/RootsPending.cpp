//===- RootsPending.cpp - roots whose emission is not written yet ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Roots.h"

using namespace mlir;
using namespace tilebridge::cpu;

static LogicalResult pending(Operation *op) {
  return op->emitError("is not supported by the CPU backend");
}

LogicalResult tilebridge::cpu::emitAtomic(Emitter &, Operation *op) {
  return pending(op);
}
LogicalResult tilebridge::cpu::emitScan(Emitter &, Operation *op) {
  return pending(op);
}
LogicalResult tilebridge::cpu::emitHistogram(Emitter &, Operation *op) {
  return pending(op);
}
LogicalResult tilebridge::cpu::emitPrint(Emitter &, Operation *op) {
  return pending(op);
}
LogicalResult tilebridge::cpu::emitAssert(Emitter &, Operation *op) {
  return pending(op);
}
LogicalResult tilebridge::cpu::emitGatherAlong(Emitter &, Operation *op) {
  return pending(op);
}
