//===- Kernels.cpp - kernels without calls --------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/Passes.h"
#include "accel-backend/dialect/AccelDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELKERNELSPASS
#include "accel-backend/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

namespace {
struct AccelKernels : public accel::impl::AccelKernelsPassBase<AccelKernels> {
  void runOnOperation() override;
};
} // namespace

void AccelKernels::runOnOperation() {
  SmallVector<func::FuncOp> privates;
  bool failed = false;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (!function->hasAttr("tilebridge.kernel")) {
      privates.push_back(function);
      continue;
    }
    function->setAttr(kernelAttr, UnitAttr::get(&getContext()));
    function.walk([&](func::CallOp call) {
      InFlightDiagnostic diagnostic =
          call.emitError("cannot be lowered for an accelerator: '")
          << call.getCallee()
          << "' calls itself, and how deep is not known when scratchpad memory "
             "is given out; write it as a loop";
      if (auto callee =
              getOperation().lookupSymbol<func::FuncOp>(call.getCallee()))
        diagnostic.attachNote(callee.getLoc()) << "the function";
      failed = true;
    });
  }
  if (failed)
    return signalPassFailure();
  for (func::FuncOp function : privates)
    function.erase();
}
