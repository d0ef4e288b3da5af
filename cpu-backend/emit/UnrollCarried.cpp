//===- UnrollCarried.cpp - tilebridge-cpu-unroll-carried -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Pooling, a convolution of each channel by itself, and stencils are loops over
// a small window that combine one block after another, element by element. On a
// GPU what they carry stays in registers. Here each iteration would read all of
// it from scratch memory, and write it there. With its iterations written one
// after another the loop is one elementwise computation: one nest, which keeps
// a vector in a register until the last block has come to it.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/CarriedBlocks.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUUNROLLCARRIEDPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge::cpu;

/// Operations of all iterations: compilation takes as much longer.
static constexpr int64_t mostOps = 400;
static constexpr int64_t mostIterations = 64;

namespace {
struct Iterations {
  APInt first, step;
  int64_t count;
};
} // namespace

static std::optional<Iterations> iterationsOf(scf::ForOp loop) {
  APInt first, end, step;
  if (loop.getUnsignedCmp() ||
      !matchPattern(loop.getLowerBound(), m_ConstantInt(&first)) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&end)) ||
      !matchPattern(loop.getStep(), m_ConstantInt(&step)) ||
      !step.isStrictlyPositive() || first.sge(end))
    return std::nullopt;
  // In more bits than any of them has.
  unsigned bits = first.getBitWidth() + 2;
  APInt length = end.sext(bits) - first.sext(bits), wide = step.sext(bits);
  APInt count = (length + wide - 1).udiv(wide);
  if (count.ugt(mostIterations))
    return std::nullopt;
  return Iterations{first, step, count.getSExtValue()};
}

/// What becomes of `block` in the loop it does element by element.
static bool staysElementwise(scf::ForOp loop, BlockArgument block) {
  llvm::SmallSetVector<Value, 16> seen;
  seen.insert(block);
  for (size_t next = 0; next < seen.size(); ++next)
    for (Operation *user : seen[next].getUsers()) {
      if (user == loop.getBody()->getTerminator())
        continue;
      if (user->getBlock() != loop.getBody() || !isElementwise(user))
        return false;
      seen.insert_range(user->getResults());
    }
  return true;
}

/// With other such loads in one nest, each is masked where any of them is, and
/// masks of such elements cost more than the block's way to memory. (Windows of
/// 3 x 3 with a stride of 2 took 1.15 times as long.)
bool tilebridge::cpu::isMaskedApart(Operation &op) {
  auto load =
      op.getNumResults() == 1 ? matchLoad(op.getResult(0)) : std::nullopt;
  if (!load || load->low.empty() || constantOf(load->low.back()) == 0)
    return false;
  auto type = cast<MemRefType>(load->read.getBuffer().getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  return failed(type.getStridesAndOffset(strides, offset)) ||
         (strides.back() != 1 && type.getShape().back() != 1);
}

bool tilebridge::cpu::carriesInPlace(scf::ForOp loop) {
  bool carries = false;
  for (auto [block, result] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults())) {
    auto type = dyn_cast<RankedTensorType>(block.getType());
    if (!type)
      continue;
    if (!staysElementwise(loop, block) ||
        llvm::any_of(result.getUsers(), llvm::IsaPred<linalg::ReduceOp>))
      return false;
    carries |= type.getRank() > 0;
  }
  return carries &&
         llvm::all_of(loop.getBody()->without_terminator(), [](Operation &op) {
           OpKind kind = kindOf(&op);
           return (kind == OpKind::Scalar || kind == OpKind::Inlineable) &&
                  !mayWrite(&op) && !hasOrder(&op);
         });
}

static void unroll(scf::ForOp loop, const Iterations &all) {
  OpBuilder b(loop);
  SmallVector<Value> carried(loop.getInitArgs());
  Value counter = loop.getInductionVar();
  APInt number = all.first;
  for (int64_t i = 0; i < all.count; ++i, number += all.step) {
    IRMapping map;
    map.map(counter,
            arith::ConstantOp::create(
                b, loop.getLoc(), b.getIntegerAttr(counter.getType(), number)));
    map.map(loop.getRegionIterArgs(), carried);
    for (Operation &op : loop.getBody()->without_terminator())
      b.clone(op, map);
    carried = llvm::map_to_vector(loop.getYieldedValues(), [&](Value value) {
      return map.lookupOrDefault(value);
    });
  }
  loop.replaceAllUsesWith(carried);
  loop.erase();
}

namespace {
struct CpuUnrollCarriedPass
    : tilebridge::cpu::impl::CpuUnrollCarriedPassBase<CpuUnrollCarriedPass> {
  void runOnOperation() override {
    bool changed = false;
    // Inner loops first: around what is left of them others may be unrolled.
    getOperation().walk([&](scf::ForOp loop) {
      std::optional<Iterations> all = iterationsOf(loop);
      if (!all || !carriesInPlace(loop))
        return;
      // Windows of 2 x 2 seldom reach beyond an edge.
      if (all->count > 2 && llvm::any_of(*loop.getBody(), isMaskedApart))
        return;
      auto ops = llvm::count_if(*loop.getBody(), [](Operation &op) {
        return !op.hasTrait<OpTrait::ConstantLike>();
      });
      if (ops * all->count > mostOps)
        return;
      unroll(loop, *all);
      changed = true;
    });
    if (!changed)
      return;
    // What the numbers of iterations decide is known now.
    OpPassManager folding(getOperation().getOperationName());
    folding.addPass(createCanonicalizerPass());
    folding.addPass(createCSEPass());
    if (failed(runPipeline(folding, getOperation())))
      signalPassFailure();
  }
};
} // namespace
