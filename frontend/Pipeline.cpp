//===- Pipeline.cpp - the steps of the frontend, in order -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void tilebridge::frontend::buildFrontendPipeline(OpPassManager &pm) {
  // What Triton's versions write differently becomes one form.
  pm.addPass(createNormalizePass());
  // Before it spreads to all that is computed from it.
  pm.addPass(createDefinePoisonPass());
  // Before inlining: a callee with an early return has several blocks, and
  // only one block fits into a loop's body.
  pm.addPass(createLiftControlFlowPass());
  pm.addPass(createInlinePass());
  pm.addPass(createUnflattenLoopsPass());
  // Arguments that became constants, values that are computed twice.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void tilebridge::frontend::registerFrontendPipeline() {
  PassPipelineRegistration<>(
      "tilebridge-frontend",
      "From TTIR as a Triton wheel writes it to its one normal form",
      buildFrontendPipeline);
}
