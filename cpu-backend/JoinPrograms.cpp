//===- JoinPrograms.cpp - two programs that wait side by side -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A norm adds up its row, waits until the lanes of the sum have become one
// number, and goes over the row again. A short row is gone over in the time
// that takes, or little more. Two programs that do each step together, a vector
// of the one and a vector of the other, wait once for both, and widen their
// weights once. Programs are in no order, and each computes what it would
// alone.
//===----------------------------------------------------------------------===//

#include "cpu-backend/OrderPrograms.h"
#include "cpu-backend/Passes.h"
#include "cpu-backend/PersistentTiles.h"
#include "cpu-backend/PlainAccesses.h"
#include "cpu-backend/ProgramLoop.h"
#include "cpu-backend/ShortRows.h"
#include "cpu-backend/merge/MergeReport.h"
#include "cpu-backend/merge/ProgramBatch.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUJOINPROGRAMSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// So many programs ahead rows are asked for: those of the next two that run
/// together would come too late.
static constexpr int ahead = 4;

namespace {
/// The function that runs two programs.
class Joiner {
public:
  Joiner(func::FuncOp kernel, Value id)
      : kernel(kernel), id(id), b(kernel.getContext()) {}

  func::FuncOp run(StringRef suffix) {
    b.setInsertionPointAfter(kernel);
    auto joined = func::FuncOp::create(
        b, kernel.getLoc(), (kernel.getName() + suffix).str(),
        b.getFunctionType(kernel.getArgumentTypes(), b.getI1Type()));
    joined.setPrivate();
    if (ArrayAttr attributes = kernel.getAllArgAttrs())
      joined.setAllArgAttrs(attributes);
    b.setInsertionPointToStart(joined.addEntryBlock());
    for (IRMapping &map : maps)
      map.map(kernel.getArguments(), joined.getArguments());
    Value own = maps[0].lookup(id);
    for (int64_t i = 1; i < 4; ++i) {
      int64_t distance = i < 2 ? i : ahead + i - 2;
      Value number = arith::ConstantIntOp::create(b, kernel.getLoc(),
                                                  id.getType(), distance);
      maps[i].map(id, arith::AddIOp::create(b, kernel.getLoc(), own, number));
    }
    join(kernel.getBody().front());
    Value yes = arith::ConstantIntOp::create(b, kernel.getLoc(), 1, 1);
    func::ReturnOp::create(b, kernel.getLoc(), yes);
    return joined;
  }

private:
  bool isSame(Value value) {
    return maps[0].lookupOrDefault(value) == maps[1].lookupOrDefault(value);
  }

  void join(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        join(loop);
      else if (auto branch = dyn_cast<scf::IfOp>(op))
        join(branch);
      else
        joinPlain(&op);
    }
  }

  void joinPlain(Operation *op) {
    if (auto asks = dyn_cast<memref::PrefetchOp>(op))
      return joinAsks(asks);
    bool isRead = accessedMemory(op) && !isPlainWrite(op);
    if ((isPure(op) || isRead) &&
        llvm::all_of(op->getOperands(),
                     [&](Value value) { return isSame(value); })) {
      ValueRange results = b.clone(*op, maps[0])->getResults();
      for (IRMapping &map : MutableArrayRef(maps).drop_front())
        map.map(op->getResults(), results);
      return;
    }
    b.clone(*op, maps[0]);
    b.clone(*op, maps[1]);
    for (IRMapping &map : MutableArrayRef(maps).drop_front(2))
      if (isPure(op) && llvm::all_of(op->getOperands(), [&](Value value) {
            return map.contains(value);
          }))
        b.clone(*op, map);
  }

  /// Programs alone go through rows in their order in memory, which the CPU
  /// sees; where two take turns, it does not, whether the kernel asks for the
  /// next row or for its own.
  void joinAsks(memref::PrefetchOp asks) {
    for (IRMapping &map : MutableArrayRef(maps).drop_front(2)) {
      IRMapping own;
      for (Value operand : asks->getOperands()) {
        Value known = map.lookupOrNull(operand);
        own.map(operand, known ? known : maps[1].lookup(operand));
      }
      b.clone(*asks, own);
    }
  }

  SmallVector<Value> ofBoth(ValueRange values) {
    SmallVector<Value> result;
    for (int i = 0; i < 2; ++i)
      for (Value value : values)
        result.push_back(maps[i].lookupOrDefault(value));
    return result;
  }

  void mapBoth(ValueRange from, ValueRange to) {
    maps[0].map(from, to.take_front(from.size()));
    maps[1].map(from, to.drop_front(from.size()));
  }

  /// What the body that was joined yields, where `b` stands.
  void yield(Block &block, Location loc) {
    scf::YieldOp::create(b, loc, ofBoth(block.getTerminator()->getOperands()));
  }

  static bool hasMasks(scf::ForOp loop) {
    return loop
        ->walk([](Operation *op) {
          return isa<vector::CreateMaskOp, vector::MaskedLoadOp,
                     vector::MaskedStoreOp>(op)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  }

  void join(scf::ForOp loop) {
    Location loc = loop.getLoc();
    if (isSame(loop.getLowerBound()) && isSame(loop.getUpperBound()) &&
        isSame(loop.getStep())) {
      mapBoth(loop.getResults(), joinBodies(loop));
      return;
    }
    // A few vectors at a row's ends.
    if (!isSame(loop.getStep()) || hasMasks(loop)) {
      clone(loop);
      return;
    }
    auto isEqual = [&](Value value) -> Value {
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                   maps[0].lookupOrDefault(value),
                                   maps[1].lookupOrDefault(value));
    };
    Value areEqual = arith::AndIOp::create(
        b, loc, isEqual(loop.getLowerBound()), isEqual(loop.getUpperBound()));
    auto types = llvm::to_vector(loop.getResultTypes());
    llvm::append_range(types, loop.getResultTypes());
    auto branch = scf::IfOp::create(b, loc, types, areEqual,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    auto ended = [&](ArrayRef<Value> results) {
      if (!types.empty())
        scf::YieldOp::create(b, loc, results);
    };
    b.setInsertionPointToStart(branch.elseBlock());
    clone(loop);
    ended(ofBoth(loop.getResults()));
    b.setInsertionPointToStart(branch.thenBlock());
    ended(llvm::to_vector(joinBodies(loop)));
    mapBoth(loop.getResults(), branch.getResults());
  }

  /// One after the other; before anything in it is joined: a mapping that has
  /// seen that would not do for a copy.
  void clone(Operation *op) {
    for (int i = 0; i < 2; ++i) {
      IRMapping own = maps[i];
      maps[i].map(op->getResults(), b.clone(*op, own)->getResults());
    }
  }

  /// One loop, whose bounds are the first program's.
  ValueRange joinBodies(scf::ForOp loop) {
    auto joined = scf::ForOp::create(
        b, loop.getLoc(), maps[0].lookupOrDefault(loop.getLowerBound()),
        maps[0].lookupOrDefault(loop.getUpperBound()),
        maps[0].lookupOrDefault(loop.getStep()), ofBoth(loop.getInitArgs()),
        /*bodyBuilder=*/nullptr, loop.getUnsignedCmp());
    joined->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(joined.getBody());
    for (IRMapping &map : maps)
      map.map(loop.getInductionVar(), joined.getInductionVar());
    mapBoth(loop.getRegionIterArgs(), joined.getRegionIterArgs());
    join(*loop.getBody());
    if (loop.getNumResults() != 0)
      yield(*loop.getBody(), loop.getLoc());
    return joined.getResults();
  }

  void join(scf::IfOp branch) {
    if (!isSame(branch.getCondition())) {
      clone(branch);
      return;
    }
    auto types = llvm::to_vector(branch.getResultTypes());
    llvm::append_range(types, branch.getResultTypes());
    bool hasElse = branch.elseBlock() != nullptr;
    auto joined = scf::IfOp::create(
        b, branch.getLoc(), types,
        maps[0].lookupOrDefault(branch.getCondition()), hasElse);
    OpBuilder::InsertionGuard guard(b);
    auto fill = [&](Block *from, Block *to) {
      b.setInsertionPointToStart(to);
      join(*from);
      if (!types.empty())
        yield(*from, branch.getLoc());
    };
    fill(branch.thenBlock(), joined.thenBlock());
    if (hasElse)
      fill(branch.elseBlock(), joined.elseBlock());
    mapBoth(branch.getResults(), joined.getResults());
  }

  func::FuncOp kernel;
  Value id;
  OpBuilder b;
  /// Of the two programs, and of two behind them, of which only what is
  /// computed without loops and memory is known.
  IRMapping maps[4];
};

struct JoinProgramsPass
    : public tilebridge::cpu::impl::CpuJoinProgramsPassBase<JoinProgramsPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp kernel = kernelOfSinglePrograms(getOperation());
    if (!kernel || kernel->hasAttr(deferredAttr) ||
        kernel->hasAttr(orderAttr) || kernel->hasAttr(tilesAttr))
      return;
    ShortRows rows(kernel);
    if (!rows.find())
      return;
    func::FuncOp step = rows.makeStep(".joined_step", cacheBytes);
    if (!step)
      return;
    func::FuncOp joined = Joiner(kernel, rows.idOf(0)).run(".joined");
    OpBuilder b(&getContext());
    joined->setAttr(mergedCountAttr, b.getI64IntegerAttr(2));
    joined->setAttr(mergedAxisAttr, b.getI64IntegerAttr(0));
    joined->setAttr(mergedStepAttr, FlatSymbolRefAttr::get(step.getNameAttr()));
    // Launches of long rows find it where they would without the other one.
    kernel->setAttr("passthrough", b.getStrArrayAttr({"alwaysinline"}));
    reportMerged(kernel, 0, 2,
                 "rows have at most " + Twine(rows.mostElements()) +
                     " elements, and all of them are in a cache: they wait for "
                     "sums of both at once");
  }
};
} // namespace
