//===- VersionStrides.cpp - tilebridge-cpu-version-strides ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Libraries that launch one kernel on tensors of any layout tell Triton not to
// specialize it by strides, so that the stride between neighbours is a number
// that only the launch knows. It nearly always is 1. Loops that ask for it in
// each step can neither write around the caches, nor take pairs of bf16, nor
// change masks to bounds. So the program asks once.
//===----------------------------------------------------------------------===//

#include "cpu-backend/DecisionRemark.h"
#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/ScalarSlice.h"
#include "cpu-backend/merge/ProgramBatch.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"
#include "triton-to-linalg/bridge/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge;

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUVERSIONSTRIDESPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace tilebridge::cpu;

using Arguments = llvm::SetVector<BlockArgument>;

/// The launch's multiples of 16 and the like are not 1.
static bool mayBeOne(func::FuncOp func, BlockArgument argument) {
  auto divisor = func.getArgAttrOfType<IntegerAttr>(
      argument.getArgNumber(), linalg_ext::kDivisibilityAttr);
  return argument.getType().isSignlessInteger() &&
         (!divisor || divisor.getInt() == 1);
}

/// Arguments that are the distance of neighbours along the last dimension in
/// which a view has any.
static Arguments innerStrides(func::FuncOp func) {
  Arguments found;
  func.walk([&](memref::ReinterpretCastOp view) {
    ArrayRef<int64_t> sizes = view.getType().getShape();
    auto strides = view.getConstifiedMixedStrides();
    while (!sizes.empty() && sizes.back() == 1) {
      sizes = sizes.drop_back();
      strides.pop_back();
    }
    if (strides.empty())
      return;
    if (auto stride = dyn_cast<Value>(strides.back()))
      if (BlockArgument argument = scalarArgumentOf(stride))
        if (mayBeOne(func, argument))
          found.insert(argument);
  });
  return found;
}

static void report(func::FuncOp func, size_t count) {
  if (!Decision::isWanted(func.getContext()))
    return;
  Decision(func.getLoc(), "versioned")
      .fact("strides", static_cast<int64_t>(count))
      .report("compiled twice: for launches whose " + Twine(count) +
              (count == 1 ? " stride" : " strides") +
              " between neighbours, arguments that are not specialized, are "
              "1, and for others");
}

static bool version(func::FuncOp func) {
  // Not those that run next to one another along another dimension.
  if (func->hasAttr(mergedCountAttr) || !mayBeCompiledTwice(func))
    return false;
  Arguments ones = innerStrides(func);
  if (ones.empty())
    return false;
  report(func, ones.size());
  OpBuilder b = OpBuilder::atBlockBegin(&func.getBody().front());
  Location loc = func.getLoc();
  Value all;
  for (BlockArgument argument : ones) {
    Value isOne = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::eq, argument,
        arith::ConstantOp::create(b, loc, b.getOneAttr(argument.getType())));
    all = all ? arith::AndIOp::create(b, loc, all, isOne) : isOne;
  }
  versionRest(b, all, [&](OpBuilder &then, IRMapping &known) {
    for (BlockArgument argument : ones)
      known.map(argument, arith::ConstantOp::create(
                              then, loc, b.getOneAttr(argument.getType())));
  });
  return true;
}

namespace {

struct VersionStridesPass
    : public tilebridge::cpu::impl::CpuVersionStridesPassBase<
          VersionStridesPass> {
  using Base::Base;

  void runOnOperation() override {
    if (!version(getOperation()))
      return;
    OpPassManager cleanup(func::FuncOp::getOperationName());
    addFoldStrides(cleanup);
    if (failed(runPipeline(cleanup, getOperation())))
      signalPassFailure();
  }
};

} // namespace
