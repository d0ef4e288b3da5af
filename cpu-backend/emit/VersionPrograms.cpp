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
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/ScalarSlice.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "mlir/IR/Matchers.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge;

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUVERSIONPROGRAMSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace tilebridge::cpu;

/// A branch that reads or writes elements or rows one by one.
static bool isIrregular(Region &branch) {
  return branch
      .walk([&](Operation *op) {
        return isa<linalg_ext::GatherOp, linalg_ext::ScatterOp,
                   linalg_ext::GatherRowsOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// A product, or another op of linalg with loops of its own.
static bool hasOwnLoops(Operation *op) {
  return isa<linalg::LinalgOp>(op) && kindOf(op) == OpKind::OwnRoot;
}

/// Products that a loop adds up pack what a branch gives as it is. Whatever
/// else is computed from it is in memory before, and so are the operands of
/// products that are scaled before they are added up.
static bool isOnlyPacked(Value block) {
  return llvm::all_of(block.getUsers(), [](Operation *user) {
    auto product = dyn_cast<linalg::MatmulOp>(user);
    return (product && isDeepMatmul(product)) ||
           (isShapeOfMemory(user) && isOnlyPacked(user->getResult(0)));
  });
}

/// A row is small: its copy costs nothing beside what is done with it.
static bool isRow(Value block) {
  auto type = dyn_cast<RankedTensorType>(block.getType());
  return type &&
         llvm::count_if(type.getShape(), [](int64_t n) { return n != 1; }) <= 1;
}

namespace {
struct Branches {
  /// Between boxes and single elements; none if the function must stay as it
  /// is.
  SmallVector<scf::IfOp> all;
  bool hasProduct = false;
};
} // namespace

static Branches branchesOf(func::FuncOp func) {
  bool hasProduct = anyInside(func, hasOwnLoops);
  SmallVector<scf::IfOp> branches;
  int64_t count = 0;
  auto find = [&](Operation *op) {
    auto branch = dyn_cast<scf::IfOp>(op);
    if (branch && !branch.getElseRegion().empty() &&
        isIrregular(branch.getElseRegion()) &&
        !isIrregular(branch.getThenRegion()))
      branches.push_back(branch);
    return ++count > mostOpsTwice ? WalkResult::interrupt()
                                  : WalkResult::advance();
  };
  if (func.walk(find).wasInterrupted())
    return {};
  // Products are large: not twice for what is as fast with a branch.
  if (hasProduct)
    llvm::erase_if(branches, [](scf::IfOp branch) {
      return llvm::all_of(branch.getResults(), isOnlyPacked);
    });
  return {branches, hasProduct};
}

/// What must hold for `condition` to hold.
static void addParts(Value condition, llvm::SetVector<Value> &parts) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    addParts(both.getLhs(), parts);
    addParts(both.getRhs(), parts);
  } else if (!matchPattern(condition, m_One())) {
    parts.insert(condition);
  }
}

/// It happens in any case: what is in front of it only computes, and ends.
static bool isAlwaysReached(Operation *op) {
  auto mayGoOn = [](Operation *inner) { return isa<scf::WhileOp>(inner); };
  return llvm::none_of(
      llvm::make_range(op->getBlock()->begin(), op->getIterator()),
      [&](Operation &before) {
        return !isMemoryEffectFree(&before) || anyInside(&before, mayGoOn);
      });
}

/// What `value` is computed from in `block`, by ops that only compute; what
/// lies around the block is known there.
static LogicalResult addToSliceIn(Block &block, Value value,
                                  ScalarSlice &slice) {
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) {
    return block.getParent()->isAncestor(op->getParentRegion());
  };
  bool isInside = block.getParent()->isAncestor(value.getParentRegion());
  if (isInside && !value.getDefiningOp())
    return success(value.getParentBlock() == &block);
  if (isInside && failed(getBackwardSlice(value, &slice, options)))
    return failure();
  return success(llvm::all_of(slice, [&](Operation *op) {
    return op->getBlock() == &block && op->getNumRegions() == 0 &&
           isMemoryEffectFree(op) &&
           llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
  }));
}

/// Conditions of branches in `block` that are known before it does anything,
/// with what they are computed from. At least one branch that matters asks for
/// nothing else.
static llvm::SetVector<Value> conditionsOf(Block &block, const Branches &found,
                                           ScalarSlice &slice) {
  llvm::SetVector<Value> conditions;
  bool isWorthwhile = false;
  for (scf::IfOp branch : found.all) {
    if (!block.getParent()->isAncestor(branch->getParentRegion()))
      continue;
    llvm::SetVector<Value> parts;
    addParts(branch.getCondition(), parts);
    bool areKnown = true;
    for (Value part : parts) {
      ScalarSlice here;
      if (succeeded(addToSliceIn(block, part, here)) &&
          llvm::all_of(here, [](Operation *op) {
            return isSpeculatable(op) || isAlwaysReached(op);
          })) {
        conditions.insert(part);
        slice.insert_range(here);
      } else {
        areKnown = false;
      }
    }
    isWorthwhile |= areKnown && !(found.hasProduct &&
                                  llvm::all_of(branch.getResults(), isRow));
  }
  if (!isWorthwhile)
    conditions.clear();
  return conditions;
}

/// The bodies of a program that may end early, from the outermost to what
/// follows the last return.
static SmallVector<Block *> bodiesOf(func::FuncOp func) {
  SmallVector<Block *> bodies = {&func.getBody().front()};
  for (size_t i = 0; i < bodies.size(); ++i)
    for (auto branch : bodies[i]->getOps<scf::IfOp>())
      if (branch->getNumResults() == 0)
        for (Region &region : branch->getRegions())
          if (!region.empty())
            bodies.push_back(&region.front());
  return bodies;
}

static void version(func::FuncOp func) {
  if (!func->hasAttr("tilebridge.kernel") || !func.getBody().hasOneBlock())
    return;
  ScalarSlice slice;
  llvm::SetVector<Value> conditions;
  Branches branches = branchesOf(func);
  Block *body = nullptr;
  for (Block *each : bodiesOf(func)) {
    slice.clear();
    conditions = conditionsOf(*each, branches, slice);
    body = each;
    if (!conditions.empty())
      break;
  }
  if (conditions.empty())
    return;
  Block &block = *body;
  OpBuilder b(func.getContext());
  moveToBegin(b, slice, block);
  Location loc = func.getLoc();
  Value all = conditions.front();
  for (Value condition : conditions.getArrayRef().drop_front())
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
