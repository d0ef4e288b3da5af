//===- MergePrograms.cpp - neighbours in step, loads of both as one -------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Takes the loop over neighbours apart: each operation is followed by those of
// the other programs, so that loops and branches which all of them take alike
// stay one. The order within a program is kept, and between programs there is
// none. What is the same in all of them is there once.
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Effects.h"
#include "accel-backend/plan/Merge.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Turns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseSet.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELMERGEPROGRAMSPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

//===----------------------------------------------------------------------===//
// What differs
//===----------------------------------------------------------------------===//

namespace {
/// The values that may differ from one neighbour to the next.
class Differing {
public:
  Differing(scf::ForOp loop, Turns &turns) : turns(turns) {
    mark(loop.getInductionVar());
    // Loops carry values around: until nothing is added.
    do {
      grows = false;
      loop.getBody()->walk<WalkOrder::PreOrder>(
          [&](Operation *op) { return visit(op); });
    } while (grows);
  }

  bool has(Value value) const { return values.contains(value); }
  bool hasAny(ValueRange range) const {
    return llvm::any_of(range, [&](Value value) { return has(value); });
  }

private:
  void mark(Value value) {
    if (values.contains(value) || turns.isSameInMerged(value).value_or(false))
      return;
    values.insert(value);
    grows = true;
  }
  void mark(ValueRange range) {
    for (Value value : range)
      mark(value);
  }

  WalkResult visit(Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      visitLoop(loop);
      return WalkResult::advance();
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      visitBranch(branch);
      return WalkResult::advance();
    }
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    bool isControl = op->getNumRegions() && !isMemoryEffectFree(op);
    if (isSeen(op) || isControl || hasAny(op->getOperands()) ||
        hasAny(captured.getArrayRef()))
      mark(op->getResults());
    return WalkResult::skip();
  }

  void visitLoop(scf::ForOp loop) {
    bool areBounds =
        hasAny({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    if (areBounds)
      mark(loop.getInductionVar());
    for (auto [argument, begin, next, result] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs(),
                         loop.getYieldedValues(), loop.getResults()))
      if (areBounds || has(begin) || has(next)) {
        mark(argument);
        mark(result);
      }
  }

  void visitBranch(scf::IfOp branch) {
    if (!branch.getNumResults())
      return;
    for (auto [result, yes, no] :
         llvm::zip_equal(branch.getResults(), branch.thenYield().getOperands(),
                         branch.elseYield().getOperands()))
      if (has(branch.getCondition()) || has(yes) || has(no))
        mark(result);
  }

  Turns &turns;
  llvm::DenseSet<Value> values;
  bool grows = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// In step
//===----------------------------------------------------------------------===//

// What gives the same to all of them, and changes nothing.
static bool isPlain(Operation *op) {
  if (auto copy = dyn_cast<CopyOp>(op))
    return !isSeen(op) && copy->getNumResults();
  return isa<memref::LoadOp>(op) || isMemoryEffectFree(op);
}

namespace {
class InStep {
public:
  InStep(scf::ForOp loop, Turns &turns)
      : loop(loop), differing(loop, turns),
        maps(size_t(countOf(mergeOf(loop)))) {}

  void run() {
    OpBuilder builder(loop);
    for (auto [number, map] : llvm::enumerate(maps))
      map.map(loop.getInductionVar(),
              arith::ConstantIndexOp::create(builder, loop.getLoc(),
                                             int64_t(number))
                  .getResult());
    emit(*loop.getBody(), builder);
    loop.erase();
  }

private:
  void emit(Block &block, OpBuilder &builder) {
    for (Operation &op : block.without_terminator()) {
      auto inner = dyn_cast<scf::ForOp>(op);
      auto branch = dyn_cast<scf::IfOp>(op);
      if (inner && !differing.hasAny({inner.getLowerBound(),
                                      inner.getUpperBound(), inner.getStep()}))
        emitLoop(inner, builder);
      else if (branch && !differing.has(branch.getCondition()))
        emitBranch(branch, builder);
      else if (op.getNumResults() && isPlain(&op) &&
               !differing.hasAny(op.getResults()))
        emitOnce(op, builder);
      else
        for (IRMapping &map : maps)
          builder.clone(op, map);
    }
  }

  void emitOnce(Operation &op, OpBuilder &builder) {
    Operation *only = builder.clone(op, maps.front());
    for (IRMapping &map : maps)
      map.map(op.getResults(), only->getResults());
  }

  /// The values that stand for those of all programs: one where they agree.
  SmallVector<Value> valuesOf(ValueRange range, ValueRange stands) {
    SmallVector<Value> result;
    for (auto [value, stand] : llvm::zip_equal(range, stands))
      for (IRMapping &map : maps) {
        result.push_back(map.lookupOrDefault(value));
        if (!differing.has(stand))
          break;
      }
    return result;
  }

  void mapAll(ValueRange from, ValueRange to) {
    for (Value value : from) {
      for (IRMapping &map : maps) {
        map.map(value, to.front());
        if (differing.has(value))
          to = to.drop_front();
      }
      if (!differing.has(value))
        to = to.drop_front();
    }
  }

  void emitLoop(scf::ForOp from, OpBuilder &builder) {
    IRMapping &first = maps.front();
    auto to = scf::ForOp::create(
        builder, from.getLoc(), first.lookupOrDefault(from.getLowerBound()),
        first.lookupOrDefault(from.getUpperBound()),
        first.lookupOrDefault(from.getStep()),
        valuesOf(from.getInitArgs(), from.getResults()));
    to->setAttrs(from->getAttrs());
    for (IRMapping &map : maps)
      map.map(from.getInductionVar(), to.getInductionVar());
    mapAll(from.getRegionIterArgs(), to.getRegionIterArgs());
    emitBody(*from.getBody(), *to.getBody(), from.getResults());
    mapAll(from.getResults(), to.getResults());
  }

  void emitBranch(scf::IfOp from, OpBuilder &builder) {
    SmallVector<Type> types;
    for (Value result : from.getResults())
      types.append(differing.has(result) ? maps.size() : 1, result.getType());
    auto to = scf::IfOp::create(
        builder, from.getLoc(), types,
        maps.front().lookupOrDefault(from.getCondition()),
        /*addThenBlock=*/true, /*addElseBlock=*/from.elseBlock() != nullptr);
    to->setAttrs(from->getAttrs());
    emitBody(*from.thenBlock(), *to.thenBlock(), from.getResults());
    if (from.elseBlock())
      emitBody(*from.elseBlock(), *to.elseBlock(), from.getResults());
    mapAll(from.getResults(), to.getResults());
  }

  /// With a terminator that gives what stands for `results`.
  void emitBody(Block &from, Block &to, ValueRange results) {
    if (!to.empty() && to.back().hasTrait<OpTrait::IsTerminator>())
      to.back().erase();
    OpBuilder inner = OpBuilder::atBlockEnd(&to);
    emit(from, inner);
    scf::YieldOp::create(
        inner, from.getTerminator()->getLoc(),
        valuesOf(from.getTerminator()->getOperands(), results));
  }

  scf::ForOp loop;
  Differing differing;
  SmallVector<IRMapping> maps;
};
} // namespace

static LogicalResult check(scf::ForOp loop) {
  Merge merge = mergeOf(loop);
  std::optional<APInt> count = loop.getStaticTripCount();
  auto begin = getConstantIntValue(loop.getLowerBound());
  auto step = getConstantIntValue(loop.getStep());
  if (loop.getNumResults() || begin != 0 || step != 1 || !count ||
      count->getSExtValue() != countOf(merge))
    return loop.emitError("'accel.merge' is on a loop over ")
           << countOf(merge)
           << " programs, from 0 in steps of 1, which carries nothing";
  return success();
}

namespace {
struct AccelMergeProgramsPass
    : accel::impl::AccelMergeProgramsPassBase<AccelMergeProgramsPass> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    scf::ForOp loop = mergeLoopOf(kernel);
    if (!loop)
      return;
    FailureOr<std::optional<Target>> target = targetOf(kernel);
    if (failed(target) || failed(check(loop)))
      return signalPassFailure();
    // Without a target nothing is known of ids: what they reach differs.
    Turns turns(kernel, *target ? **target : Target(),
                gridsOf(kernel, *target));
    InStep(loop, turns).run();
    // Most kernels have no such loop: they need none of this. What differed
    // from one neighbour to the next may be the same for each of them alone.
    OpPassManager simplify(func::FuncOp::getOperationName());
    simplify.addPass(createAccelFoldUniformPass());
    simplify.addPass(createCanonicalizerPass());
    simplify.addPass(createCSEPass());
    if (failed(runPipeline(simplify, kernel)))
      signalPassFailure();
  }
};
} // namespace
