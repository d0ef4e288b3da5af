//===- AllowContraction.cpp - products and sums may be fused --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUALLOWCONTRACTIONPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge::cpu;

namespace {

struct AllowContractionPass
    : public tilebridge::cpu::impl::CpuAllowContractionPassBase<
          AllowContractionPass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      auto flagged = dyn_cast<arith::ArithFastMathInterface>(op);
      if (!flagged || !isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op))
        return;
      auto flags = flagged.getFastMathFlagsAttr().getValue() |
                   arith::FastMathFlags::contract;
      op->setAttr(flagged.getFastMathAttrName(),
                  arith::FastMathFlagsAttr::get(op->getContext(), flags));
    });
  }
};

} // namespace
