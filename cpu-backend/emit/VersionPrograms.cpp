//===- VersionPrograms.cpp - tilebridge-cpu-version-programs --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Whether a block's access is a box may only be known when the program runs: an
// index divided by a dimension's size must not have run over its type. With a
// branch for each access the block is copied behind each of them. So a program
// asks once, and what it is in nearly all launches has no branches.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/ScalarSlice.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge;

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUVERSIONPROGRAMSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace tilebridge::cpu;

/// A branch that reads or writes elements one by one.
static bool isIrregular(Region &branch) {
  return branch
      .walk([](Operation *op) {
        return isa<linalg_ext::GatherOp, linalg_ext::ScatterOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The conditions of branches between boxes and single elements; none if the
/// function must stay as it is.
static SmallVector<Value> conditionsOf(func::FuncOp func) {
  llvm::SetVector<Value> conditions;
  int64_t count = 0;
  bool isLarge =
      func.walk([&](Operation *op) {
            if (isa<linalg::LinalgOp>(op) && kindOf(op) == OpKind::OwnRoot)
              return WalkResult::interrupt();
            auto branch = dyn_cast<scf::IfOp>(op);
            if (branch && !branch.getElseRegion().empty() &&
                isIrregular(branch.getElseRegion()) &&
                !isIrregular(branch.getThenRegion()))
              conditions.insert(branch.getCondition());
            return ++count > mostOpsTwice ? WalkResult::interrupt()
                                          : WalkResult::advance();
          })
          .wasInterrupted();
  if (isLarge)
    return {};
  return SmallVector<Value>(conditions.getArrayRef());
}

static void version(func::FuncOp func) {
  if (!func->hasAttr("tilebridge.kernel") || !func.getBody().hasOneBlock())
    return;
  Block &block = func.getBody().front();
  SmallVector<Value> conditions = conditionsOf(func);
  if (conditions.empty())
    return;
  ScalarSlice slice;
  for (Value condition : conditions)
    if (failed(addToSlice(condition, block, slice)))
      return;
  if (!llvm::all_of(slice, isSpeculatable))
    return;
  OpBuilder b(func.getContext());
  moveToBegin(b, slice, block);
  Location loc = func.getLoc();
  Value all = conditions.front();
  for (Value condition : ArrayRef(conditions).drop_front())
    all = arith::AndIOp::create(b, loc, all, condition);
  versionRest(b, all, [&](OpBuilder &then, IRMapping &known) {
    Value holds = arith::ConstantIntOp::create(then, loc, then.getI1Type(), 1);
    for (Value condition : conditions)
      known.map(condition, holds);
  });
}

namespace {

struct VersionProgramsPass
    : public tilebridge::cpu::impl::CpuVersionProgramsPassBase<
          VersionProgramsPass> {
  using Base::Base;

  void runOnOperation() override { version(getOperation()); }
};

} // namespace
