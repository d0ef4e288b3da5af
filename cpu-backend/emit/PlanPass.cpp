//===- PlanPass.cpp - tilebridge-cpu-plan ------------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/MaskedRows.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/Wanted.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUPLANPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

/// Canonicalization lets linalg ops take a cast's dynamic source, although the
/// memory's shape is known; everything after this looks for static shapes.
static void makeReadsStatic(func::FuncOp func) {
  SmallVector<bufferization::ToTensorOp> reads;
  func.walk([&](bufferization::ToTensorOp read) { reads.push_back(read); });
  for (bufferization::ToTensorOp read : reads) {
    auto cast = read.getBuffer().getDefiningOp<memref::CastOp>();
    auto source =
        cast ? dyn_cast<MemRefType>(cast.getSource().getType()) : MemRefType();
    auto type = dyn_cast<RankedTensorType>(read.getType());
    if (!source || !type || type.hasStaticShape() || !source.hasStaticShape())
      continue;
    OpBuilder builder(read);
    Value known = bufferization::ToTensorOp::create(
        builder, read.getLoc(), type.clone(source.getShape()),
        cast.getSource());
    read->getResult(0).replaceUsesWithIf(known, [](OpOperand &use) {
      return isa<linalg::LinalgOp, tensor::CastOp>(use.getOwner());
    });
    if (read->use_empty())
      read.erase();
  }
}

namespace {
struct CpuPlanPass : tilebridge::cpu::impl::CpuPlanPassBase<CpuPlanPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    makeReadsStatic(getOperation());
    tilebridge::cpu::findDeepMatmuls(getOperation());
    tilebridge::cpu::markMaskedRows(getOperation());
    tilebridge::cpu::hoistWanted(getOperation());
    tilebridge::cpu::decidePlan(getOperation());
  }
};
} // namespace
