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
//
// The next are launches that store contiguously, and read what is broadcast, or
// runs backwards. All others gather and scatter: their loops are kept short.
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
#include "mlir/Interfaces/ViewLikeInterface.h"
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

/// Something is stored to the view, or to a part of it.
static bool isStoredTo(Value view) {
  return llvm::any_of(view.getUses(), [](OpOperand &use) {
    Operation *op = use.getOwner();
    if (auto part = dyn_cast<ViewLikeOpInterface>(op))
      return part.getViewSource() == use.get() && isStoredTo(op->getResult(0));
    return mayWrite(op);
  });
}

namespace {
/// Arguments that are the distance of neighbours along the last dimension in
/// which a view has any: of what is stored, and of what is only read.
struct InnerStrides {
  Arguments stored, read;
};
} // namespace

static InnerStrides innerStrides(func::FuncOp func) {
  InnerStrides found;
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
        if (mayBeOne(argument))
          (isStoredTo(view) ? found.stored : found.read).insert(argument);
  });
  for (BlockArgument argument : found.stored)
    found.read.remove(argument);
  return found;
}

static Value constantLike(OpBuilder &b, BlockArgument argument, int64_t value) {
  return arith::ConstantOp::create(b, argument.getLoc(),
                                   b.getIntegerAttr(argument.getType(), value));
}

/// The argument, as a number from -1 to 1.
static Value clamped(OpBuilder &b, BlockArgument argument) {
  Value most = arith::MinSIOp::create(b, argument.getLoc(), argument,
                                      constantLike(b, argument, 1));
  return arith::MaxSIOp::create(b, argument.getLoc(), most,
                                constantLike(b, argument, -1));
}

/// Whether those in `ones` are 1, and those in `near` from -1 to 1.
static Value conditionOf(OpBuilder &b, const Arguments &ones,
                         const Arguments &near) {
  Value all;
  auto require = [&](BlockArgument argument, Value other) {
    Value holds = arith::CmpIOp::create(
        b, argument.getLoc(), arith::CmpIPredicate::eq, argument, other);
    all = all ? arith::AndIOp::create(b, argument.getLoc(), all, holds) : holds;
  };
  for (BlockArgument argument : ones)
    require(argument, constantLike(b, argument, 1));
  for (BlockArgument argument : near)
    require(argument, clamped(b, argument));
  return all;
}

static void report(func::FuncOp func, size_t count, bool isThrice) {
  if (!Decision::isWanted(func.getContext()))
    return;
  Decision(func.getLoc(), "versioned")
      .fact("strides", static_cast<int64_t>(count))
      .report("compiled " + Twine(isThrice ? "three times" : "twice") +
              ": for launches whose " + Twine(count) +
              (count == 1 ? " stride" : " strides") +
              " between neighbours, arguments that are not specialized, are "
              "1, " +
              (isThrice ? "for those that read what is broadcast or runs "
                          "backwards, and for others"
                        : "and for others"));
}

static bool version(func::FuncOp func) {
  // Not those that run next to one another along another dimension.
  if (func->hasAttr(mergedCountAttr) || !mayBeCompiled(func, 2))
    return false;
  const auto strides = innerStrides(func);
  const Arguments &stored = strides.stored, &read = strides.read;
  Arguments ones = stored;
  ones.insert_range(read);
  if (ones.empty())
    return false;
  bool isThrice = !read.empty() && mayBeCompiled(func, 3);
  report(func, ones.size(), isThrice);
  OpBuilder b = OpBuilder::atBlockBegin(&func.getBody().front());
  scf::IfOp branch = versionRest(
      b, conditionOf(b, ones, {}), [&](OpBuilder &then, IRMapping &known) {
        for (BlockArgument argument : ones)
          known.map(argument, constantLike(then, argument, 1));
      });
  if (isThrice) {
    OpBuilder rest = OpBuilder::atBlockBegin(branch.elseBlock());
    branch =
        versionRest(rest, conditionOf(rest, stored, read),
                    [&](OpBuilder &then, IRMapping &known) {
                      for (BlockArgument argument : stored)
                        known.map(argument, constantLike(then, argument, 1));
                      for (BlockArgument argument : read)
                        known.map(argument, clamped(then, argument));
                    });
  }
  if (isThrice || read.empty())
    branch->setAttr(rareElseAttr, b.getUnitAttr());
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
