//===- Pipeline.cpp - the steps of triton-to-linalg, in order ----------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/Passes.h"
#include "triton-to-linalg/bridge/Passes.h"

#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tilebridge;

void ttl::buildAccessPipeline(OpPassManager &manager) {
  // Indices that are scaled as floats are divided.
  manager.addPass(createScaledIndicesPass());
  // Sums of products with conditions are choices.
  manager.addPass(createChosenFactorsPass());
  // Masks that are set for the next iteration are computed in their own.
  manager.addPass(createRecomputeCarriedPass());
  // Lanes that wrap around and that no store has are left out of loads.
  manager.addPass(createMaskWrapsPass());
  // Pointers that a loop moves become a shape and a scalar offset.
  manager.addPass(createScalarizeOffsetsPass());
  // What else flows through loops and branches and is strided: its parts.
  manager.addPass(createCarryStridesPass());
  // Loads, stores and atomics: views, boxes and tensors, and forms below.
  manager.addPass(createLowerAccessesPass());
}

void ttl::buildTritonToLinalgPipeline(OpPassManager &manager) {
  buildAccessPipeline(manager);
  // Bounds and strides that a loop does not change are computed before it.
  manager.addPass(createLoopInvariantCodeMotionPass());
  // Assembly that only computes becomes such code of single elements.
  manager.addPass(createTranslateAssemblyPass());
  // Code of single elements computes both branches, as vectors do.
  manager.addPass(createFlattenBranchesPass());
  // Reductions whose region spells a maximum out are maxima.
  manager.addPass(createRecognizeMaximaPass());
  // Everything else becomes linalg, arith, math and scf; pointers become
  // memrefs.
  manager.addPass(createToBridgePass());
  // Casts between types of tt and of the bridge have met their opposites.
  manager.addPass(createReconcileUnrealizedCastsPass());
  // Reshapes that undo each other and values that nobody reads go away. From
  // the end on: each change takes what it was computed from out of the way,
  // where the other order looks at it again and again (10 seconds, of a sort
  // in 500000 characters).
  GreedyRewriteConfig fromEnd;
  fromEnd.setUseTopDownTraversal(false);
  manager.addPass(createCanonicalizerPass(fromEnd));
  manager.addPass(createCSEPass());
  // Chains of exchanges become blocks in the opposite order.
  manager.addPass(linalg_ext::createFoldReversalsPass());
  // Accesses see sizes and strides that became known.
  manager.addPass(linalg_ext::createFoldViewsPass());
  manager.addPass(createCanonicalizerPass(fromEnd));
  manager.addPass(createCSEPass());
  // Branches that only choose a block have become selects.
  manager.addPass(linalg_ext::createSpreadSelectsPass());
  // What a backend gets is what docs/bridge-ir.md promises.
  manager.addPass(linalg_ext::createVerifyBridgePass());
}

void ttl::registerTritonToLinalgPipeline() {
  PassPipelineRegistration<>("tilebridge-triton-to-linalg",
                             "Lowers normalized TTIR to bridge IR",
                             buildTritonToLinalgPipeline);
}
