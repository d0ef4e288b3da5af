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
// to it. Programs are in no order, so none can tell. A long row that is read
// again when it is stored is left in the same way: it is stored while the next
// one is read the first time.
//===----------------------------------------------------------------------===//

#include "cpu-backend/DeferredStores.h"
#include "cpu-backend/LeftState.h"
#include "cpu-backend/Passes.h"
#include "cpu-backend/PlainAccesses.h"
#include "cpu-backend/ProgramLoop.h"
#include "cpu-backend/emit/ShareOperands.h"
#include "cpu-backend/merge/ProgramBatch.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

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
/// and rows that are a multiple of a page apart would all meet that. A row of
/// bf16 goes through its page as slowly as each half of a buffer that has its
/// even elements apart (tilebridge-cpu-pair-halves): both begin further behind.
static constexpr int64_t wordsOfState = 256, wordsBeforeHalves = 448;

/// Of all rows of a launch that are long. In the caches reading two rows at
/// once takes up to 1.3 times as long (Zen 4).
static constexpr int64_t leastBytes = 32 << 20;

namespace {
class Rewriter {
public:
  Rewriter(func::FuncOp kernel, DeferredStores &stores)
      : kernel(kernel), stores(stores), b(kernel.getBody()),
        loc(stores.stored.getLoc()) {}

  void rewrite() {
    Block &body = kernel.getBody().front();
    // The slice may choose among these.
    auto begin = OpBuilder::atBlockBegin(&body);
    Operation *first = arith::ConstantIndexOp::create(begin, loc, 0);
    for (Operation *memory : stores.copies)
      hoist(cast<memref::AllocOp>(memory), first);
    b.setInsertionPoint(first);
    auto memory = memref::AllocOp::create(
        b, loc, MemRefType::get({words()}, b.getI64Type()));
    memory->setAttr(zeroedAttr, b.getUnitAttr());
    LeftState state(kernel, memory, 0);
    state.read(b, stores.kept.getArrayRef(), map);
    isThere = state.isThere;
    recompute();
    Value zero32 = arith::ConstantIntOp::create(b, loc, 0, 32);
    Value isRest = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                         idOf(0), zero32);
    auto branch = scf::IfOp::create(b, loc, isRest, /*withElseRegion=*/true);
    Operation *end = body.getTerminator();
    branch.elseBlock()->getOperations().splice(
        branch.elseBlock()->begin(), body.getOperations(), first->getIterator(),
        end->getIterator());
    if (stores.buffer)
      hoist(stores.buffer, branch);
    b.setInsertionPointToStart(branch.thenBlock());
    ifThere([&] { storeAll(map.lookup(stores.stored.getLowerBound())); });
    state.clear(b);
    fuse();
    b.setInsertionPoint(branch.elseBlock()->getTerminator());
    state.write(b, stores.kept.getArrayRef());
    stores.stored->erase();
    for (Operation *loop : stores.edges)
      loop->erase();
    kernel->setAttr(deferredAttr, b.getI64IntegerAttr(1));
  }

private:
  int64_t words() {
    bool isHalf = kernel
                      .walk([](vector::StoreOp store) {
                        return store.getVectorType().getElementType().isBF16()
                                   ? WalkResult::interrupt()
                                   : WalkResult::advance();
                      })
                      .wasInterrupted();
    return isHalf ? wordsBeforeHalves : wordsOfState;
  }

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value idOf(int dim) {
    return kernel.getArgument(kernel.getNumArguments() -
                              linalg_ext::kProgramArguments + dim);
  }

  /// What is kept is in memory whose place does not change. Every name has all
  /// its operands before: it is one of the whole allocation.
  void hoist(memref::AllocOp memory, Operation *before) {
    memory->setAttr(keptAttr, b.getUnitAttr());
    memory->moveBefore(before);
    SmallVector<Operation *> open = {memory};
    while (!open.empty())
      for (Operation *user : open.pop_back_val()->getUsers())
        if (isWholeName(user)) {
          user->moveBefore(before);
          open.push_back(user);
        }
  }

  void recompute() {
    for (Operation *op : stores.slice)
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
    for (Operation *edge : stores.edges) {
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
  /// What it asks for before is left out if that `isAsked` for already.
  SmallVector<Value> inLine(scf::ForOp loop, Value index, ValueRange carried,
                            IRMapping map, bool isAsked) {
    map.map(loop.getInductionVar(), index);
    map.map(loop.getRegionIterArgs(), carried);
    for (Operation &op : loop.getBody()->without_terminator())
      if (!isAsked || !onlyAsks(&op))
        b.clone(op, map);
    SmallVector<Value> results;
    for (Value value : loop.getYieldedValues())
      results.push_back(map.lookupOrDefault(value));
    return results;
  }

  /// Whether this program's row is long, and the launch's rows come from
  /// memory. Where not, the last program's row is stored first, as it would
  /// have been.
  Value pays() {
    auto index = [&](Value value) {
      return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
    };
    auto isAtLeast = [&](Value value, int64_t least) {
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, value,
                                   constant(least));
    };
    Value length = arith::SubIOp::create(b, loc, stores.filled.getUpperBound(),
                                         stores.filled.getLowerBound());
    Value bytes =
        arith::MulIOp::create(b, loc, length, constant(stores.bytesOfElement));
    // Of a row, at most 2^20, and of three counts below 2^14.
    Value all = arith::MinSIOp::create(b, loc, bytes, constant(1 << 20));
    for (int dim = 0; dim < 3; ++dim)
      all = arith::MulIOp::create(b, loc, all,
                                  arith::MinSIOp::create(b, loc,
                                                         index(idOf(3 + dim)),
                                                         constant(1 << 14)));
    return arith::AndIOp::create(b, loc, isAtLeast(bytes, leastRowBytes),
                                 isAtLeast(all, leastBytes));
  }

  /// The row that the loop asks for is read by this program now: it asks for
  /// the one behind it. Whether it asks for any.
  bool askFurther(scf::ForOp store, IRMapping &map) {
    llvm::SetVector<Value> distances;
    store.getBody()->walk([&](Operation *op) {
      if (onlyAsks(op))
        for (Value value : op->getOperands())
          if (store.isDefinedOutsideOfLoop(value) &&
              value.getType().isIndex() && !getConstantIntValue(value) &&
              llvm::all_of(value.getUsers(), [&](Operation *user) {
                return !store->isAncestor(user) || onlyAsks(user);
              }))
            distances.insert(value);
    });
    for (Value distance : distances)
      map.map(distance,
              arith::MulIOp::create(b, loc, map.lookupOrDefault(distance),
                                    constant(2)));
    return !distances.empty();
  }

  /// Whether the operation, and what it takes, is pure but for what it reads of
  /// arguments; all that comes behind `last` in the block is added to `found`,
  /// in order.
  bool onlyReads(Operation *op, Operation *last,
                 llvm::SetVector<Operation *> &found) {
    if (op->getBlock() != last->getBlock() || !last->isBeforeInBlock(op) ||
        found.contains(op))
      return true;
    bool isRead =
        isa<vector::LoadOp>(op) &&
        llvm::is_contained(kernel.getArguments(), baseOf(accessedMemory(op)));
    if ((!isRead && !isPure(op)) || op->getNumRegions() != 0)
      return false;
    for (Value operand : op->getOperands())
      if (Operation *owner = operand.getDefiningOp();
          owner && !onlyReads(owner, last, found))
        return false;
    found.insert(op);
    return true;
  }

  /// What the loop reads of arguments comes before the stores: a CPU that
  /// compares addresses by their lower 12 bits lets a load wait for a store
  /// before it that seems to be to the same place, as those of two arrays that
  /// begin in a page alike are.
  void readFirst(Operation *last) {
    bool writes = false;
    stores.filled.walk([&](Operation *op) {
      writes |= isPlainWrite(op) &&
                baseOf(accessedMemory(op)) != stores.buffer.getResult();
    });
    if (writes)
      return;
    Operation *first = &last->getBlock()->front();
    llvm::SetVector<Operation *> reads;
    for (Operation *op = last->getNextNode(); op; op = op->getNextNode())
      if (llvm::SetVector<Operation *> found = reads;
          isa<vector::LoadOp>(op) && onlyReads(op, last, found))
        reads = std::move(found);
    for (Operation *op : reads)
      op->moveBefore(first);
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
    Value isFused =
        stores.buffer ? arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                              from, begin)
                            .getResult()
                      : pays();
    // Where nothing was left, the rest was computed from nothing.
    Value no = arith::ConstantIntOp::create(b, loc, 0, 1);
    isFused = arith::SelectOp::create(b, loc, isThere, isFused, no);
    steps = arith::SelectOp::create(b, loc, isFused, steps, constant(0));
    Value length = arith::MulIOp::create(b, loc, steps, constant(stores.step));
    Value rest = arith::AddIOp::create(b, loc, from, length);
    if (stores.buffer)
      ifThere([&] { storeAll(rest); });
    IRMapping further = map;
    bool isAskedFor = !stores.buffer && askFurther(store, further);
    auto both = scf::ForOp::create(b, loc, constant(0), length,
                                   constant(stores.step), fill.getInitArgs());
    if (stores.buffer)
      both->setAttr(fusedAttr, b.getUnitAttr());
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(both.getBody());
      auto times = [&](scf::ForOp loop, Value base, SmallVector<Value> carried,
                       const IRMapping &map, bool isAsked = false) {
        int64_t step = *getConstantIntValue(loop.getStep());
        Value at = arith::AddIOp::create(b, loc, base, both.getInductionVar());
        for (int64_t done = 0; done < stores.step; done += step)
          carried =
              inLine(loop, arith::AddIOp::create(b, loc, at, constant(done)),
                     carried, map, isAsked);
        return carried;
      };
      times(store, from, {}, further);
      Operation *last = &both.getBody()->back();
      SmallVector<Value> next =
          times(fill, begin, SmallVector<Value>(both.getRegionIterArgs()), {},
                isAskedFor);
      if (stores.buffer)
        readFirst(last);
      if (!next.empty())
        scf::YieldOp::create(b, loc, next);
    }
    // What is done behind the loop stays behind it.
    if (!stores.buffer)
      ifThere([&] { storeAll(rest); });
    fill.getInitArgsMutable().assign(both.getResults());
    fill.setLowerBound(arith::AddIOp::create(b, loc, begin, length));
  }

  func::FuncOp kernel;
  DeferredStores &stores;
  OpBuilder b;
  Location loc;
  /// Whether something was left.
  Value isThere;
  /// What that program had for what this one has.
  IRMapping map;
};

struct DeferStoresPass
    : public tilebridge::cpu::impl::CpuDeferStoresPassBase<DeferStoresPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp kernel = kernelOfSinglePrograms(getOperation());
    if (!kernel)
      return;
    if (auto stores = findDeferredStores(kernel, longRows))
      Rewriter(kernel, *stores).rewrite();
  }
};
} // namespace
