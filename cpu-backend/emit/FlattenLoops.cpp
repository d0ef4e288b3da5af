//===- FlattenLoops.cpp - tilebridge-cpu-flatten-loops --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A convolution adds products up over the rows and columns of its filter, and
// over blocks of channels: three loops, the innermost of which often has one or
// two iterations. What gathers the operands of many iterations before it
// multiplies, and what keeps packed weights for the next program, knows one
// loop. Where nothing else happens in between, they are one.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/MaskedRows.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUFLATTENLOOPSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

namespace {

/// The numbers of a loop's iterations, as i64.
class Iterations {
public:
  Iterations(ImplicitLocOpBuilder &b, scf::ForOp loop) : b(b), loop(loop) {
    Value first = wide(loop.getLowerBound()), step = wide(loop.getStep());
    Value length = arith::SubIOp::create(b, wide(loop.getUpperBound()), first);
    length = arith::AddIOp::create(b, length,
                                   arith::SubIOp::create(b, step, number(1)));
    count = arith::MaxSIOp::create(b, arith::DivSIOp::create(b, length, step),
                                   number(0));
  }

  /// What the loop counts in its iteration `i`.
  Value at(Value i) {
    Type type = loop.getInductionVar().getType();
    if (type.isIndex())
      i = arith::IndexCastOp::create(b, type, i);
    else if (type != i.getType())
      i = arith::TruncIOp::create(b, type, i);
    return arith::AddIOp::create(b, loop.getLowerBound(),
                                 arith::MulIOp::create(b, i, loop.getStep()));
  }

  Value count;

private:
  Value number(int64_t value) {
    return arith::ConstantIntOp::create(b, value, 64);
  }
  Value wide(Value value) { return toI64(b, b.getLoc(), value); }

  ImplicitLocOpBuilder &b;
  scf::ForOp loop;
};

} // namespace

/// Loads that are no boxes of memory: nothing stays where it lies.
static bool isGathered(Value block) {
  Operation *op = block.getDefiningOp();
  if (auto branch = dyn_cast_or_null<scf::IfOp>(op)) {
    unsigned i = cast<OpResult>(block).getResultNumber();
    return isGathered(branch.thenYield()->getOperand(i)) ||
           isGathered(branch.elseYield()->getOperand(i));
  }
  return isa_and_nonnull<linalg_ext::GatherRowsOp>(op);
}

/// The loop adds up products of gathered rows, and of all of them: those that a
/// mask chooses in a loop around it are counted there.
static bool addsGatheredProducts(scf::ForOp loop) {
  return llvm::any_of(
      loop.getBody()->getOps<linalg::MatmulOp>(), [](linalg::MatmulOp op) {
        return isDeepMatmul(op) && isGathered(op.getInputs()[0]) &&
               !findMaskedRows(op);
      });
}

/// Numbers that are not larger than an i64, compared with a sign.
static bool isUsual(scf::ForOp loop) {
  Type type = loop.getInductionVar().getType();
  return !loop.getUnsignedCmp() &&
         (type.isIndex() || type.getIntOrFloatBitWidth() <= 64);
}

/// The loop that is all that `outer` does, besides what can be computed again
/// in each iteration of it.
static scf::ForOp findInner(scf::ForOp outer) {
  scf::ForOp inner;
  for (Operation &op : outer.getBody()->without_terminator()) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (inner)
        return {};
      inner = loop;
    } else if (!isMemoryEffectFree(&op)) {
      return {};
    }
  }
  if (!inner || !llvm::equal(inner.getInitArgs(), outer.getRegionIterArgs()) ||
      !llvm::equal(outer.getYieldedValues(), inner.getResults()))
    return {};
  // Nobody else sees what the inner loop has added up.
  bool isAll = llvm::all_of(outer.getRegionIterArgs(),
                            [](Value value) { return value.hasOneUse(); }) &&
               llvm::all_of(inner.getResults(),
                            [](Value value) { return value.hasOneUse(); });
  return isAll ? inner : scf::ForOp();
}

/// The loops around `loop`, and itself, outermost first, that can be one.
static SmallVector<scf::ForOp> findNest(scf::ForOp loop) {
  SmallVector<scf::ForOp> nest = {loop};
  while (auto outer = dyn_cast<scf::ForOp>(nest.front()->getParentOp())) {
    bool isSame = llvm::all_of(nest, [&](scf::ForOp inner) {
      return outer.isDefinedOutsideOfLoop(inner.getLowerBound()) &&
             outer.isDefinedOutsideOfLoop(inner.getUpperBound()) &&
             outer.isDefinedOutsideOfLoop(inner.getStep());
    });
    if (!isSame || !isUsual(outer) || findInner(outer) != nest.front())
      break;
    nest.insert(nest.begin(), outer);
  }
  return nest;
}

static void flatten(ArrayRef<scf::ForOp> nest) {
  scf::ForOp outermost = nest.front();
  ImplicitLocOpBuilder b(outermost.getLoc(), outermost);
  SmallVector<Iterations> numbers;
  Value count = arith::ConstantIntOp::create(b, 1, 64);
  for (scf::ForOp loop : nest) {
    numbers.emplace_back(b, loop);
    count = arith::MulIOp::create(b, count, numbers.back().count);
  }
  Value zero = arith::ConstantIntOp::create(b, 0, 64),
        one = arith::ConstantIntOp::create(b, 1, 64);
  auto flat = scf::ForOp::create(b, zero, count, one, outermost.getInitArgs());
  b.setInsertionPointToStart(flat.getBody());
  IRMapping map;
  Value i = flat.getInductionVar();
  for (auto [loop, its] : llvm::reverse(llvm::zip_equal(nest, numbers))) {
    bool isOutermost = loop == outermost;
    Value own =
        isOutermost ? i : arith::RemSIOp::create(b, i, its.count).getResult();
    if (!isOutermost)
      i = arith::DivSIOp::create(b, i, its.count);
    map.map(scf::ForOp(loop).getInductionVar(), its.at(own));
  }
  scf::ForOp innermost = nest.back();
  map.map(innermost.getRegionIterArgs(), flat.getRegionIterArgs());
  for (scf::ForOp loop : nest)
    for (Operation &op : *loop.getBody())
      if (loop == innermost ||
          (!isa<scf::ForOp>(op) && !op.hasTrait<OpTrait::IsTerminator>()))
        b.clone(op, map);
  outermost.replaceAllUsesWith(flat.getResults());
  outermost.erase();
}

namespace {
struct CpuFlattenLoopsPass
    : tilebridge::cpu::impl::CpuFlattenLoopsPassBase<CpuFlattenLoopsPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (addsGatheredProducts(loop))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      if (SmallVector<scf::ForOp> nest = findNest(loop);
          isUsual(loop) && nest.size() > 1)
        flatten(nest);
  }
};
} // namespace
