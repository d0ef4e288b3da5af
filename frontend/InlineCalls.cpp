//===- InlineCalls.cpp - calls become the code they call ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/CallGraph.h"
#include "frontend/Passes.h"
#include "frontend/TTOps.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace tilebridge::frontend {
#define GEN_PASS_DEF_INLINEPASS
#include "frontend/Passes.h.inc"
} // namespace tilebridge::frontend

using namespace mlir;
using namespace tilebridge::tt;

namespace {
struct InlinePass : tilebridge::frontend::impl::InlinePassBase<InlinePass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(tilebridge::frontend::verifyCalls(module)))
      return signalPassFailure();
    OpPassManager pm(ModuleOp::getOperationName());
    pm.addPass(createInlinerPass({}, [](OpPassManager &) {}));
    pm.addPass(createSymbolDCEPass());
    if (failed(runPipeline(pm, module)))
      signalPassFailure();
  }
};
} // namespace
