//===- TTDialect.cpp - Triton's tile IR -----------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTDialect.h"

#include "frontend/TTOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Transforms/InliningUtils.h"

#include "frontend/TTDialect.cpp.inc"

using namespace mlir;
using namespace tilebridge::tt;

namespace {
/// Every op may be inlined, and every call but those of functions that are
/// marked noinline.
struct TTInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Operation *callable, bool) const override {
    auto func = dyn_cast<FuncOp>(callable);
    return !func || !func.isNoinline();
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override {
    return true;
  }
  bool isLegalToInline(Operation *, Region *, bool,
                       IRMapping &) const override {
    return true;
  }

  void handleTerminator(Operation *op, Block *next) const override {
    auto ret = dyn_cast<ReturnOp>(op);
    if (!ret)
      return;
    OpBuilder builder(op);
    cf::BranchOp::create(builder, op->getLoc(), next, ret.getSrcs());
    op->erase();
  }
  void handleTerminator(Operation *op, ValueRange replaced) const override {
    for (auto [from, to] :
         llvm::zip_equal(replaced, cast<ReturnOp>(op).getSrcs())) {
      moveHints(from, to, op->getBlock());
      from.replaceAllUsesWith(to);
    }
  }

private:
  /// What a caller promises of a call's result is a promise about the value
  /// that the inlined code computes. A value from elsewhere has its own.
  static void moveHints(Value result, Value computed, Block *inlined) {
    Operation *call = result.getDefiningOp();
    Operation *source = computed.getDefiningOp();
    if (!call || !source || source->getBlock() != inlined ||
        call->getNumResults() != 1 || source->getNumResults() != 1)
      return;
    for (StringRef name : {"tt.contiguity", "tt.divisibility", "tt.constancy"})
      if (Attribute hint = call->getDiscardableAttr(name))
        source->setDiscardableAttr(name, hint);
  }
};
} // namespace

void TTDialect::initialize() {
  registerTypesAndAttributes();
  registerMemoryOps();
  registerDescriptorOps();
  registerShapeOps();
  registerComputeOps();
  registerRegionOps();
  registerProgramOps();
  registerFuncOps();
  addInterfaces<TTInlinerInterface>();
}

Operation *TTDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                          Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

void tilebridge::tt::registerTTDialect(DialectRegistry &registry) {
  registry.insert<TTDialect, TTGDialect>();
}
