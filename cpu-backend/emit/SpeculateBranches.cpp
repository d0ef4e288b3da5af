//===- SpeculateBranches.cpp - tilebridge-cpu-speculate-branches ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A branch ends what can be computed in one loop: its blocks are written to
// memory and read again behind it. A few instructions more for each element
// cost less than that. A branch on a float that gives scalars is a branch on
// data: where the CPU guesses wrong, it loses the time of some 60 instructions.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/NestEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUSPECULATEBRANCHESPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

/// What both branches may cost for an element, in simple instructions. A store
/// and a load of an f32 that miss the first cache cost about half of it.
static constexpr int64_t mostCost = 16;

/// What both branches may hold that give scalars: a chain of 16 comparisons, as
/// of a number that is rounded to 4 bits, and the choices among them.
static constexpr int64_t mostScalarOps = 40;

static bool isShaped(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() > 1;
}

/// What is left of a branch that this pass has been at.
static bool onlyChooses(scf::IfOp op) {
  return op.getNumResults() > 0 &&
         op.thenBlock()->without_terminator().empty() &&
         op.elseBlock()->without_terminator().empty();
}

static bool isHarmlessScalarOp(Operation &op) {
  return op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
         isSpeculatable(&op);
}

/// Whether `op` may run although its branch is not taken.
static bool isHarmless(Operation &op) {
  if (isa<tensor::EmptyOp, tensor::SplatOp, tensor::ExpandShapeOp,
          tensor::CollapseShapeOp>(op))
    return true;
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return onlyChooses(branch);
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return generic.hasPureTensorSemantics() &&
           generic.getNumParallelLoops() == generic.getNumLoops() &&
           llvm::all_of(generic.getRegion().front().without_terminator(),
                        isHarmlessScalarOp);
  return isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) &&
         isHarmlessScalarOp(op);
}

/// What the branch costs for an element; none if it must not be speculated.
static std::optional<int64_t> costOf(Region &branch) {
  int64_t cost = 0;
  for (Operation &op : branch.front().without_terminator()) {
    if (!isHarmless(op))
      return std::nullopt;
    if (isa<scf::IfOp>(op))
      cost += op.getNumResults();
    else if (llvm::any_of(op.getResultTypes(), isShaped) &&
             !isa<tensor::TensorDialect>(op.getDialect()))
      cost += tilebridge::cpu::costOfBody(&op);
  }
  return cost;
}

/// Scalars by operations of one cycle or few.
static bool isCheapScalarOp(Operation &op) {
  if (llvm::any_of(op.getOperandTypes(), llvm::IsaPred<ShapedType>) ||
      !isHarmlessScalarOp(op))
    return false;
  return isa<arith::ConstantOp, arith::CmpFOp, arith::CmpIOp, arith::SelectOp,
             arith::AddIOp, arith::SubIOp, arith::AndIOp, arith::OrIOp,
             arith::XOrIOp, arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp,
             arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp,
             arith::IndexCastOp, arith::AddFOp, arith::SubFOp, arith::MulFOp,
             arith::NegFOp, math::AbsFOp>(op);
}

static bool isScalar(Type type) { return type.isIntOrIndexOrFloat(); }

/// Chains on integers are left to LLVM, which makes tables of them.
static bool choosesScalarsByFloat(scf::IfOp op) {
  if (op.getNumResults() == 0 || !llvm::all_of(op.getResultTypes(), isScalar) ||
      !op.getCondition().getDefiningOp<arith::CmpFOp>())
    return false;
  int64_t ops = 0;
  for (Region *branch : {&op.getThenRegion(), &op.getElseRegion()})
    for (Operation &inner : branch->front().without_terminator()) {
      auto nested = dyn_cast<scf::IfOp>(inner);
      if (nested ? !onlyChooses(nested) : !isCheapScalarOp(inner))
        return false;
      ops += nested ? nested.getNumResults() : 1;
    }
  return ops <= mostScalarOps;
}

static bool choosesCheapBlocks(scf::IfOp op) {
  if (!llvm::any_of(op.getResultTypes(), isShaped))
    return false;
  auto yes = costOf(op.getThenRegion()), no = costOf(op.getElseRegion());
  return yes && no && *yes + *no <= mostCost;
}

static void speculate(scf::IfOp op) {
  if (!choosesCheapBlocks(op) && !choosesScalarsByFloat(op))
    return;
  for (Region *branch : {&op.getThenRegion(), &op.getElseRegion()})
    for (Operation &inner :
         llvm::make_early_inc_range(branch->front().without_terminator()))
      inner.moveBefore(op);
}

namespace {

struct SpeculateBranchesPass
    : public tilebridge::cpu::impl::CpuSpeculateBranchesPassBase<
          SpeculateBranchesPass> {
  using Base::Base;

  // A branch within a branch comes first: then it only chooses.
  void runOnOperation() override {
    getOperation()->walk<WalkOrder::PostOrder>(speculate);
  }
};

} // namespace
