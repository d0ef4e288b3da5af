//===- DefinePoison.cpp - values that a kernel does not define ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Triton gives no value to a loop's variable behind its loop. Computing with it
// is an error of the kernel that a GPU forgives, as its registers hold some
// number. LLVM may drop all that leads to it instead, up to a loop's exit.
//===----------------------------------------------------------------------===//

#include "frontend/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace tilebridge::frontend {
#define GEN_PASS_DEF_DEFINEPOISONPASS
#include "frontend/Passes.h.inc"
} // namespace tilebridge::frontend

using namespace mlir;

/// Hands a value on, without computing with it.
static bool onlyPasses(Operation *op) {
  return op->hasTrait<OpTrait::IsTerminator>() || isa<LoopLikeOpInterface>(op);
}

namespace {
struct DefinePoisonPass
    : tilebridge::frontend::impl::DefinePoisonPassBase<DefinePoisonPass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation()->walk([](ub::PoisonOp poison) {
      OpBuilder b(poison);
      // Pointers stay.
      TypedAttr zero = b.getZeroAttr(poison.getType());
      if (!zero)
        return;
      for (Operation *user : poison->getUsers())
        if (!onlyPasses(user))
          user->emitWarning("computes with a value that the kernel does not "
                            "define, such as a loop's variable behind its "
                            "loop: it is taken to be 0");
      Value value = arith::ConstantOp::create(b, poison.getLoc(), zero);
      poison.replaceAllUsesWith(value);
      poison.erase();
    });
  }
};
} // namespace
