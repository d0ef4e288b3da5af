//===- DeferStores.cpp - a program's last stores, done by the next one ----===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Stores wait for memory, and arithmetic for the units that multiply. A softmax
// computes all of its exponentials before the first one can be divided by their
// sum and stored, so that it does one thing after the other. Here a program
// stores what the one before has left in the buffer while it puts its own
// exponentials there: each step reads its part of the buffer before it writes
// to it. Programs are in no order, so none can tell.
//===----------------------------------------------------------------------===//

#include "cpu-backend/DeferredStores.h"
#include "cpu-backend/LeftProgram.h"
#include "cpu-backend/Passes.h"
#include "cpu-backend/ProgramLoop.h"
#include "cpu-backend/emit/ShareOperands.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUDEFERSTORESPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// Four are used. The others put the buffer half a page behind where large
/// arrays begin in theirs: a CPU that compares addresses by their lower 12 bits
/// takes loads of a row for those of a buffer that is just ahead in that page,
/// and rows that are a multiple of a page apart would all meet that.
static constexpr int64_t wordsOfState = 256;

namespace {
class Rewriter {
public:
  Rewriter(func::FuncOp kernel, DeferredStores &stores)
      : kernel(kernel), stores(stores), b(kernel.getBody()),
        loc(stores.stored.getLoc()) {}

  void rewrite() {
    Block &body = kernel.getBody().front();
    Operation *first = &body.front();
    b.setInsertionPoint(first);
    LeftProgram left(kernel, b, loc, wordsOfState, stores.needed.kept);
    left.read(map);
    isThere = left.isThere();
    recompute();
    auto branch =
        scf::IfOp::create(b, loc, left.isRest(), /*withElseRegion=*/true);
    Operation *end = body.getTerminator();
    branch.elseBlock()->getOperations().splice(
        branch.elseBlock()->begin(), body.getOperations(), first->getIterator(),
        end->getIterator());
    // What is kept is in memory whose place does not change.
    stores.buffer->moveBefore(branch);
    stores.buffer->setAttr(keptAttr, b.getUnitAttr());
    for (Operation *name : namesOfBuffer())
      name->moveBefore(branch);
    b.setInsertionPointToStart(branch.thenBlock());
    ifThere([&] { storeAll(map.lookup(stores.stored.getLowerBound())); });
    left.clear();
    fuse();
    b.setInsertionPoint(branch.elseBlock()->getTerminator());
    left.write();
    stores.stored->erase();
    for (scf::ForOp loop : stores.edges)
      loop->erase();
    kernel->setAttr(deferredAttr, b.getUnitAttr());
  }

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  /// Every name has all its operands before: it is one of the whole buffer.
  SmallVector<Operation *> namesOfBuffer() {
    SmallVector<Operation *> names;
    SmallVector<Value> open = {stores.buffer};
    while (!open.empty())
      for (Operation *user : open.pop_back_val().getUsers())
        if (isa<memref::ReinterpretCastOp, memref::CastOp>(user)) {
          names.push_back(user);
          open.push_back(user->getResult(0));
        }
    return names;
  }

  void recompute() {
    for (Operation *op : stores.needed.slice)
      b.clone(*op, map);
  }

  void ifThere(llvm::function_ref<void()> body) {
    auto branch = scf::IfOp::create(b, loc, isThere, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    body();
  }

  /// All that was left, but for what the loop stores before `from`.
  void storeAll(Value from) {
    // A mapping that has seen the loop's own values would not do for a copy.
    IRMapping own = map;
    auto loop = cast<scf::ForOp>(b.clone(*stores.stored, own));
    loop.setLowerBound(from);
    for (scf::ForOp edge : stores.edges) {
      own = map;
      b.clone(*edge, own);
    }
  }

  /// Steps of a loop from `lower` on that have all their elements.
  Value wholeSteps(Value lower, Value upper) {
    Value length = arith::SubIOp::create(b, loc, upper, lower);
    length = arith::MaxSIOp::create(b, loc, length, constant(0));
    return arith::DivUIOp::create(b, loc, length, constant(stores.step));
  }

  /// The body of the loop for the index; what it yields.
  SmallVector<Value> inLine(scf::ForOp loop, Value index, ValueRange carried,
                            IRMapping map) {
    map.map(loop.getInductionVar(), index);
    map.map(loop.getRegionIterArgs(), carried);
    for (Operation &op : loop.getBody()->without_terminator())
      b.clone(op, map);
    SmallVector<Value> results;
    for (Value value : loop.getYieldedValues())
      results.push_back(map.lookupOrDefault(value));
    return results;
  }

  /// The loop that fills the buffer, and stores what was there.
  void fuse() {
    scf::ForOp fill = stores.filled, store = stores.stored;
    b.setInsertionPoint(fill);
    Value begin = fill.getLowerBound(),
          from = map.lookup(store.getLowerBound());
    Value steps = arith::MinUIOp::create(
        b, loc, wholeSteps(begin, fill.getUpperBound()),
        wholeSteps(from, map.lookup(store.getUpperBound())));
    // Nothing is overwritten that was not read.
    Value isAhead =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, from, begin);
    // Where nothing was left, the rest was computed from nothing.
    Value no = arith::ConstantIntOp::create(b, loc, 0, 1);
    Value isFused = arith::SelectOp::create(b, loc, isThere, isAhead, no);
    steps = arith::SelectOp::create(b, loc, isFused, steps, constant(0));
    Value length = arith::MulIOp::create(b, loc, steps, constant(stores.step));
    Value rest = arith::AddIOp::create(b, loc, from, length);
    ifThere([&] { storeAll(rest); });
    auto both = scf::ForOp::create(b, loc, constant(0), length,
                                   constant(stores.step), fill.getInitArgs());
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(both.getBody());
      auto times = [&](scf::ForOp loop, Value base, SmallVector<Value> carried,
                       const IRMapping &map) {
        int64_t step = *getConstantIntValue(loop.getStep());
        Value at = arith::AddIOp::create(b, loc, base, both.getInductionVar());
        for (int64_t done = 0; done < stores.step; done += step)
          carried =
              inLine(loop, arith::AddIOp::create(b, loc, at, constant(done)),
                     carried, map);
        return carried;
      };
      times(store, from, {}, map);
      SmallVector<Value> next =
          times(fill, begin, SmallVector<Value>(both.getRegionIterArgs()), {});
      if (!next.empty())
        scf::YieldOp::create(b, loc, next);
    }
    fill.getInitArgsMutable().assign(both.getResults());
    fill.setLowerBound(arith::AddIOp::create(b, loc, begin, length));
  }

  func::FuncOp kernel;
  DeferredStores &stores;
  OpBuilder b;
  Location loc;
  Value isThere;
  /// What that program had for what this one has.
  IRMapping map;
};

struct DeferStoresPass
    : public tilebridge::cpu::impl::CpuDeferStoresPassBase<DeferStoresPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp kernel = findLeavingKernel(getOperation());
    if (!kernel)
      return;
    if (auto stores = findDeferredStores(kernel))
      Rewriter(kernel, *stores).rewrite();
  }
};
} // namespace
