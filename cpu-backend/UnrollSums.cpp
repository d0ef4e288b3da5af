//===- UnrollSums.cpp - tilebridge-cpu-unroll-sums ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A few rows that are added up and stored, such as what a token's experts gave,
// are often a loop that carries a block. As a loop it has the block in memory,
// and reads one row at a time, at whose end nothing is under way. As so many
// blocks that are added where they are stored, all rows are read at once.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUUNROLLSUMSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// So many streams a CPU follows; more code than this is not worth it.
static constexpr int64_t mostIterations = 16, mostOps = 400;

/// How often a loop of few iterations runs; 0 for others.
static int64_t iterationsOf(scf::ForOp loop) {
  auto from = getConstantIntValue(loop.getLowerBound()),
       to = getConstantIntValue(loop.getUpperBound()),
       step = getConstantIntValue(loop.getStep());
  if (!from || !to || !step || *step <= 0 || *from < 0 || *to <= *from)
    return 0;
  int64_t count = llvm::divideCeil(*to - *from, *step);
  return count <= mostIterations ? count : 0;
}

/// Reads, and computes element by element.
static bool isOfSum(Operation &op) {
  if (mayWrite(&op) || isa<scf::SCFDialect>(op.getDialect()))
    return false;
  OpKind kind = kindOf(&op);
  return kind == OpKind::Scalar ? op.getNumRegions() == 0
                                : kind == OpKind::Inlineable;
}

/// What becomes of the block, element by element, is only stored.
static bool isOnlyStored(Value block, llvm::DenseSet<Operation *> &seen) {
  return llvm::all_of(block.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (!seen.insert(user).second || matchStore(user) ||
        isa<linalg_ext::MaskedStoreOp>(user))
      return true;
    return (isa<tensor::ExtractSliceOp>(user) || isElementwise(user)) &&
           isOnlyStored(user->getResult(0), seen);
  });
}

static bool isSum(scf::ForOp loop) {
  bool carriesBlock = false;
  llvm::DenseSet<Operation *> seen;
  for (Value result : loop.getResults()) {
    if (!isa<RankedTensorType>(result.getType()))
      continue;
    carriesBlock = true;
    if (!isOnlyStored(result, seen))
      return false;
  }
  return carriesBlock &&
         llvm::all_of(loop.getBody()->without_terminator(), isOfSum);
}

namespace {
struct UnrollSumsPass
    : public tilebridge::cpu::impl::CpuUnrollSumsPassBase<UnrollSumsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      int64_t count = iterationsOf(loop),
              ops = llvm::range_size(loop.getBody()->without_terminator());
      if (count > 0 && count * ops <= mostOps && isSum(loop))
        unroll(loop, count);
    }
  }

private:
  static void unroll(scf::ForOp loop, int64_t count) {
    OpBuilder b(loop);
    Type type = loop.getInductionVar().getType();
    int64_t from = *getConstantIntValue(loop.getLowerBound()),
            step = *getConstantIntValue(loop.getStep());
    SmallVector<Value> carried(loop.getInitArgs());
    for (int64_t i = 0; i < count; ++i) {
      IRMapping map;
      map.map(loop.getInductionVar(),
              arith::ConstantOp::create(b, loop.getLoc(),
                                        b.getIntegerAttr(type, from + i * step))
                  .getResult());
      map.map(loop.getRegionIterArgs(), carried);
      for (Operation &op : loop.getBody()->without_terminator())
        b.clone(op, map);
      for (auto [value, yielded] :
           llvm::zip_equal(carried, loop.getYieldedValues()))
        value = map.lookupOrDefault(yielded);
    }
    loop->replaceAllUsesWith(carried);
    loop.erase();
  }
};
} // namespace
