//===- PrintCpp.cpp - EmitC as the text of C++ ----------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/emit/EmitCpp.h"
#include "accel-backend/emit/Passes.h"
#include "accel-backend/emit/Text.h"

#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "mlir/Dialect/EmitC/Transforms/Passes.h"
#include "mlir/Dialect/EmitC/Transforms/Transforms.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/Cpp/CppEmitter.h"

using namespace mlir;

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELPRINTCPPPASS
#include "accel-backend/emit/Passes.h.inc"

/// Whether a value has a name, or is used more than once: as a part of two
/// expressions it would be computed twice.
static bool isVariable(Value value) {
  return !value.use_empty() &&
         (!value.hasOneUse() || isa<emitc::VerbatimOp>(*value.user_begin()));
}

/// What has two uses is not made a part of an expression. The line that is the
/// second one is dropped in the end.
static void keepShared(ModuleOp module) {
  SmallVector<Operation *> shared;
  module.walk([&](emitc::CExpressionInterface op) {
    if (op->getNumResults() == 1 && isVariable(op->getResult(0)) &&
        !isa<emitc::LiteralOp, emitc::ExpressionOp>(op.getOperation()) &&
        !op->getParentOfType<emitc::ExpressionOp>())
      shared.push_back(op);
  });
  OpBuilder b(module.getContext());
  for (Operation *op : shared) {
    b.setInsertionPointAfter(op);
    emitc::VerbatimOp::create(b, op->getLoc(), "//@keep {}", op->getResults());
  }
}

FailureOr<std::string> translateToText(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  keepShared(*copy);
  PassManager manager(module.getContext());
  manager.addPass(emitc::createFormExpressionsPass());
  if (failed(manager.run(*copy)))
    return failure();
  std::string text;
  llvm::raw_string_ostream out(text);
  if (failed(emitc::translateToCpp(*copy, out)))
    return failure();
  return finishText(text);
}

namespace {
struct AccelPrintCppPass : impl::AccelPrintCppPassBase<AccelPrintCppPass> {
  void runOnOperation() override {
    FailureOr<std::string> text = translateToText(getOperation());
    if (failed(text))
      return signalPassFailure();
    llvm::outs() << *text;
  }
};
} // namespace

} // namespace tilebridge::accel
