//===- GuardBlocks.cpp - tilebridge-cpu-guard-blocks ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The rows of a product's block, modulo the matrix's rows, are 32 to 128
// divisions in each program, and only the programs at the matrix's end gather
// rows by them.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/PlanGroups.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUGUARDBLOCKSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace tilebridge::cpu;

namespace {
/// A condition, and which of its branches is meant.
struct Guard {
  Value condition;
  bool isThen = false;
  bool operator==(const Guard &other) const {
    return condition == other.condition && isThen == other.isThen;
  }
};
} // namespace

/// Whether a body has operations that take several times as long as the test of
/// a condition for all of the block.
static bool isCostly(linalg::GenericOp op) {
  return llvm::any_of(op.getBody()->without_terminator(), [](Operation &inner) {
    return isa<math::MathDialect>(inner.getDialect()) ||
           isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
               arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
               arith::DivFOp>(inner);
  });
}

/// The branch around `user`, in a loop after `op`, whose condition does not
/// change in that loop.
static std::optional<Guard> guardOf(Operation *user, Operation *op) {
  std::optional<Guard> guard;
  bool isInLoop = false;
  Operation *inner = user;
  for (Operation *at = user->getParentOp(); at && at != op->getParentOp();
       inner = at, at = at->getParentOp()) {
    isInLoop |= isa<LoopLikeOpInterface>(at);
    auto branch = dyn_cast<scf::IfOp>(at);
    if (!branch)
      continue;
    Value condition = branch.getCondition();
    // Defined in the op's block, and not by what is in the loop.
    if (condition.getParentBlock() != op->getBlock())
      continue;
    guard =
        Guard{condition, inner->getParentRegion() == &branch.getThenRegion()};
    isInLoop = false;
  }
  return isInLoop ? guard : std::nullopt;
}

static std::optional<Guard> commonGuard(Operation *op) {
  std::optional<Guard> common;
  for (Operation *user : op->getUsers()) {
    std::optional<Guard> guard = guardOf(user, op);
    if (!guard || (common && !(*guard == *common)))
      return std::nullopt;
    common = guard;
  }
  return common;
}

/// The first op of the block in which a user of `op` is.
static Operation *firstUse(Operation *op) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers()) {
    Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user);
    if (!first || ancestor->isBeforeInBlock(first))
      first = ancestor;
  }
  return first;
}

static void computeIf(const Guard &guard, linalg::GenericOp op) {
  Value value = op.getResult(0);
  auto type = cast<RankedTensorType>(value.getType());
  // The condition is above the first use, which needs it.
  OpBuilder builder(firstUse(op));
  Location loc = op.getLoc();
  auto branch = scf::IfOp::create(builder, loc, TypeRange(type),
                                  guard.condition, /*withElseRegion=*/true);
  value.replaceAllUsesWith(branch.getResult(0));
  Block *taken = guard.isThen ? branch.thenBlock() : branch.elseBlock();
  Block *other = guard.isThen ? branch.elseBlock() : branch.thenBlock();
  builder.setInsertionPointToEnd(taken);
  op->moveBefore(taken, taken->end());
  scf::YieldOp::create(builder, loc, value);
  builder.setInsertionPointToEnd(other);
  Value nothing = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                          type.getElementType());
  scf::YieldOp::create(builder, loc, nothing);
}

namespace {
struct GuardBlocksPass
    : public tilebridge::cpu::impl::CpuGuardBlocksPassBase<GuardBlocksPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<linalg::GenericOp> costly;
    getOperation().walk([&](linalg::GenericOp op) {
      if (kindOf(op) == OpKind::Inlineable && op->getNumResults() == 1 &&
          op.hasPureTensorSemantics() && !op->use_empty() &&
          cast<RankedTensorType>(op.getResult(0).getType()).hasStaticShape() &&
          isCostly(op))
        costly.push_back(op);
    });
    for (linalg::GenericOp op : costly)
      if (std::optional<Guard> guard = commonGuard(op))
        computeIf(*guard, op);
  }
};
} // namespace
