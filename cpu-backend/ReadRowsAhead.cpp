//===- ReadRowsAhead.cpp - a row, read while another one is computed ------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A softmax needs its row's maximum before the first exponential, so that it
// does one thing after the other. So a program only looks for its maximum, and
// leaves the rest to the next program of its thread: in a cache, one loop reads
// a row, computes the exponentials of the one before, and stores the one before
// that (tilebridge-cpu-defer-stores). Rows of memory are better read by a loop
// of their own; they, too, are stored two rows later.
//===----------------------------------------------------------------------===//

#include "cpu-backend/DeferredStores.h"
#include "cpu-backend/LeftState.h"
#include "cpu-backend/Passes.h"
#include "cpu-backend/PlainAccesses.h"
#include "cpu-backend/ProgramLoop.h"
#include "cpu-backend/TakenValues.h"
#include "cpu-backend/emit/ShareOperands.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUREADROWSAHEADPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// What is kept between programs, at most: beside it the second cache has the
/// row that is computed, and the one that is read.
static constexpr int64_t maxKeptBytes = 136 << 10;

/// Words of the state that tilebridge-cpu-defer-stores has not taken.
static constexpr int64_t firstWord = 4;

namespace {
class RowsAhead {
public:
  RowsAhead(func::FuncOp kernel, int64_t cacheBytes)
      : kernel(kernel), cacheBytes(cacheBytes), b(kernel.getBody()),
        loc(kernel.getLoc()),
        taken([this](Value value) { return isAround(value); }) {}

  bool find() {
    return findLoops() && findRead() && findStep() && taken.add(others) &&
           findEarly();
  }

  void rewrite() {
    b.setInsertionPoint(branch);
    loc = both.getLoc();
    for (Operation &op : llvm::make_early_inc_range(*branch.elseBlock()))
      if (early.contains(&op))
        op.moveBefore(branch);
    LeftState left(kernel, state, firstWord);
    IRMapping map;
    left.read(b, taken.kept.getArrayRef(), map);
    for (Operation *op : taken.slice)
      b.clone(*op, map);
    Value yes = arith::ConstantIntOp::create(b, loc, 1, 1);
    Value isRest = branch.getCondition();
    isProgram = arith::XOrIOp::create(b, loc, isRest, yes);
    Value isEmpty = arith::XOrIOp::create(b, loc, left.isThere, yes);
    // Only stores are left.
    auto last = scf::IfOp::create(
        b, loc, arith::AndIOp::create(b, loc, isRest, isEmpty),
        /*withElseRegion=*/false);
    moveTo(last.thenBlock(), branch.thenBlock()->front(),
           *branch.thenBlock()->getTerminator());
    fuse(map, left.isThere);
    // This program, from where the loop ended.
    auto now = scf::IfOp::create(b, loc, isProgram, /*withElseRegion=*/true);
    moveTo(now.thenBlock(), branch.elseBlock()->front(),
           *branch.elseBlock()->getTerminator());
    b.setInsertionPoint(now.thenBlock()->getTerminator());
    left.write(b, taken.kept.getArrayRef());
    b.setInsertionPoint(now.elseBlock()->getTerminator());
    left.clear(b);
    branch.erase();
    kernel->setAttr(deferredAttr, b.getI64IntegerAttr(2));
  }

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  static void moveTo(Block *block, Operation &from, Operation &to) {
    block->getOperations().splice(block->getTerminator()->getIterator(),
                                  from.getBlock()->getOperations(),
                                  from.getIterator(), to.getIterator());
  }

  /// What is around all that programs compute.
  bool isAround(Value value) {
    Operation *op = value.getDefiningOp();
    return !op || op->getBlock() != branch.elseBlock();
  }

  /// What tilebridge-cpu-defer-stores has made.
  bool findLoops() {
    auto calls = kernel->getAttrOfType<IntegerAttr>(deferredAttr);
    if (!calls || calls.getInt() != 1 || !kernel.getBody().hasOneBlock())
      return false;
    Block &body = kernel.getBody().front();
    branch = dyn_cast_or_null<scf::IfOp>(body.getTerminator()->getPrevNode());
    if (!branch || branch.getNumResults() != 0 || !branch.elseBlock())
      return false;
    int64_t bytes = 0;
    for (auto memory : body.getOps<memref::AllocOp>()) {
      MemRefType type = memory.getType();
      if (memory->hasAttr(zeroedAttr))
        state = memory;
      else if (memory->hasAttr(keptAttr) && type.hasStaticShape())
        bytes += type.getNumElements() * type.getElementTypeBitWidth() / 8;
    }
    for (auto loop : branch.elseBlock()->getOps<scf::ForOp>())
      if (loop->hasAttr(fusedAttr))
        both = loop;
    return state && both && bytes <= maxKeptBytes;
  }

  /// The first loop, and all that comes before anything is written: nothing is
  /// read but arguments, which programs in no order do not write for others.
  bool findRead() {
    Block *block = branch.elseBlock();
    for (Operation &op : block->without_terminator()) {
      bool writes = &op == both, readsOthers = false;
      op.walk([&](Operation *inner) {
        writes |= isPlainWrite(inner);
        Value memory = accessedMemory(inner);
        readsOthers |= memory && !llvm::is_contained(kernel.getArguments(),
                                                     baseOf(memory));
      });
      if (writes) {
        for (Operation &other : llvm::make_range(
                 op.getIterator(), block->getTerminator()->getIterator()))
          others.push_back(&other);
        break;
      }
      if (readsOthers)
        return false;
      if (!read)
        read = dyn_cast<scf::ForOp>(op);
    }
    if (!read || read.getNumResults() == 0)
      return false;
    bool isWide = true;
    read.walk([&](vector::LoadOp load) {
      unsigned bits = load.getVectorType().getElementTypeBitWidth();
      bytesOfElement += bits / 8;
      isWide &= bits >= 32;
    });
    // What is written takes as much. Rows of half of that, whose exponentials
    // take as long, do not wait.
    bytesOfElement *= 2;
    return bytesOfElement != 0 && isWide && findBefore();
  }

  /// What comes before the loop that is left to the next program is done where
  /// one has left it: nobody asks for its results.
  bool findBefore() {
    return llvm::all_of(
        llvm::make_range(others.begin(), llvm::find(others, both)),
        [](Operation *op) { return isPure(op) || op->getNumResults() == 0; });
  }

  bool findStep() {
    std::optional<int64_t> step = getConstantIntValue(read.getStep());
    if (!step || *step < 1 || !read.getInductionVar().getType().isIndex() ||
        read.getBody()
            ->walk([](scf::ForOp) { return WalkResult::interrupt(); })
            .wasInterrupted())
      return false;
    stepOfRead = *step;
    stepOfBoth = *getConstantIntValue(both.getStep());
    all = std::max(stepOfRead, stepOfBoth);
    return all % stepOfRead == 0 && all % stepOfBoth == 0 &&
           all <= 4 * std::min(stepOfRead, stepOfBoth);
  }

  /// Adds what the operation takes from before, which must be computed without
  /// reading anything: for no program, too.
  bool addEarly(Operation *root, llvm::SetVector<Operation *> &set) {
    return !root->walk([&](Operation *op) {
                  for (Value operand : op->getOperands()) {
                    Operation *owner = operand.getDefiningOp();
                    if (!owner || owner->getBlock() != branch.elseBlock() ||
                        set.contains(owner))
                      continue;
                    if (owner->getNumRegions() != 0 || !isPure(owner) ||
                        llvm::is_contained(others, owner) ||
                        !addEarly(owner, set))
                      return WalkResult::interrupt();
                    set.insert(owner);
                  }
                  return WalkResult::advance();
                })
                .wasInterrupted();
  }

  bool findEarly() {
    if (!addEarly(read, early))
      return false;
    // The row that the other loop asks for is the one that is read meanwhile:
    // the one behind that is asked for in its place.
    llvm::SetVector<Operation *> set = early;
    bool isKnown =
        llvm::all_of(both.getBody()->without_terminator(), [&](Operation &op) {
          return !onlyAsks(&op) || (addAsks(&op) && addEarly(&op, set));
        });
    isKnown &=
        llvm::all_of(asks, [&](Operation *op) { return addEarly(op, set); });
    if (isKnown)
      early = std::move(set);
    else
      asks.clear();
    return true;
  }

  /// Adds the operation, and what it takes of the loop's body.
  bool addAsks(Operation *root) {
    if (asks.contains(root))
      return true;
    bool isKnown = !root->walk([&](Operation *op) {
                          for (Value operand : op->getOperands()) {
                            Operation *owner = operand.getDefiningOp();
                            if (owner && owner->getBlock() == both.getBody() &&
                                (!isPure(owner) || !addAsks(owner)))
                              return WalkResult::interrupt();
                            if (!owner && operand != both.getInductionVar() &&
                                operand.getParentBlock() == both.getBody())
                              return WalkResult::interrupt();
                          }
                          return WalkResult::advance();
                        })
                        .wasInterrupted();
    asks.insert(root);
    return isKnown;
  }

  /// The body of a loop for the index; what it yields.
  SmallVector<Value> inLine(scf::ForOp loop, Value index, ValueRange carried) {
    IRMapping map;
    map.map(loop.getInductionVar(), index);
    map.map(loop.getRegionIterArgs(), carried);
    for (Operation &op : loop.getBody()->without_terminator())
      if (loop == read || !onlyAsks(&op))
        b.clone(op, map);
    return llvm::map_to_vector(loop.getYieldedValues(), [&](Value value) {
      return map.lookupOrDefault(value);
    });
  }

  /// Whether the launch's rows are in a cache: loads that wait for memory are
  /// held up by the stores beside them.
  Value pays(Value row) {
    Value all = arith::MinSIOp::create(b, loc, row, constant(1 << 20));
    for (int dim = 3; dim < 6; ++dim) {
      Value count = arith::IndexCastOp::create(
          b, loc, b.getIndexType(),
          kernel.getArgument(kernel.getNumArguments() -
                             linalg_ext::kProgramArguments + dim));
      all = arith::MulIOp::create(
          b, loc, all,
          arith::MinSIOp::create(b, loc, count, constant(1 << 13)));
    }
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, all,
                                 constant(cacheBytes / bytesOfElement));
  }

  /// What is left by the program before, for which `map` has what this one has
  /// for itself, where `isThere`: with the loop that reads this program's row
  /// besides.
  void fuse(const IRMapping &map, Value isThere) {
    // What comes before the loop.
    SmallVector<Operation *> behind;
    for (Operation *op : others) {
      if (op == both || !behind.empty()) {
        behind.push_back(op);
        continue;
      }
      Operation *before = branch;
      if (!isPure(op))
        before = scf::IfOp::create(b, loc, isThere, /*withElseRegion=*/false)
                     .thenBlock()
                     ->getTerminator();
      op->moveBefore(before);
    }
    Value first = read.getLowerBound(),
          row = arith::SubIOp::create(b, loc, read.getUpperBound(), first);
    row = arith::MaxSIOp::create(b, loc, row, constant(0));
    Value isFused = arith::AndIOp::create(b, loc, isProgram, isThere);
    isFused = arith::AndIOp::create(b, loc, isFused, pays(row));
    Value count = arith::MinUIOp::create(
        b, loc, row, map.lookupOrDefault(both.getUpperBound()));
    count = arith::DivUIOp::create(b, loc, count, constant(all));
    count = arith::SelectOp::create(b, loc, isFused, count, constant(0));
    Value length = arith::MulIOp::create(b, loc, count, constant(all));
    auto begin = llvm::map_to_vector(both.getInitArgs(), [&](Value value) {
      return map.lookupOrDefault(value);
    });
    llvm::append_range(begin, read.getInitArgs());
    auto loop =
        scf::ForOp::create(b, loc, constant(0), length, constant(all), begin);
    // The rest of the program before.
    auto rest = scf::IfOp::create(b, loc, isThere, /*withElseRegion=*/false);
    for (Operation *op : behind)
      op->moveBefore(rest.thenBlock()->getTerminator());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    auto add = [&](Value to, int64_t more) -> Value {
      return arith::AddIOp::create(b, loc, to, constant(more));
    };
    Value index = loop.getInductionVar();
    unsigned results = both.getNumResults();
    ValueRange carried = loop.getRegionIterArgs();
    SmallVector<Value> computed(carried.take_front(results)),
        found(carried.drop_front(results));
    for (int64_t done = 0; done < all; done += stepOfBoth) {
      IRMapping own;
      own.map(both.getInductionVar(), add(index, done));
      for (Operation &op : both.getBody()->without_terminator())
        if (asks.contains(&op))
          b.clone(op, own);
    }
    Value at = arith::AddIOp::create(b, loc, first, index);
    for (int64_t done = 0; done < all; done += stepOfRead)
      found = inLine(read, add(at, done), found);
    // All others are the ones of the program before.
    for (Operation *op : others)
      op->walk([&](Operation *inner) {
        for (OpOperand &operand : inner->getOpOperands())
          operand.set(map.lookupOrDefault(operand.get()));
      });
    for (int64_t done = 0; done < all; done += stepOfBoth)
      computed = inLine(both, add(index, done), computed);
    computed.append(found);
    scf::YieldOp::create(b, loc, computed);
    both.setLowerBound(length);
    both.getInitArgsMutable().assign(loop.getResults().take_front(results));
    read.getInitArgsMutable().assign(loop.getResults().drop_front(results));
    b.setInsertionPoint(read);
    read.setLowerBound(arith::AddIOp::create(b, loc, first, length));
  }

  func::FuncOp kernel;
  int64_t cacheBytes;
  OpBuilder b;
  Location loc;
  /// Whether this call has no program, or else what it does.
  scf::IfOp branch;
  memref::AllocOp state;
  /// The loop that fills the buffer and stores what was there; the one before
  /// that first reads the row.
  scf::ForOp both, read;
  int64_t stepOfBoth = 0, stepOfRead = 0, all = 0;
  /// Of a row, read and written.
  int64_t bytesOfElement = 0;
  /// What is left to the next program, and what that takes from before it.
  SmallVector<Operation *> others;
  TakenValues taken;
  /// What is computed before anything else, and what the loop asks for, with
  /// what is computed for that in it.
  llvm::SetVector<Operation *> early, asks;
  /// Whether this call has a program.
  Value isProgram;
};

struct ReadRowsAheadPass
    : public tilebridge::cpu::impl::CpuReadRowsAheadPassBase<
          ReadRowsAheadPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || !function->hasAttr(deferredAttr))
        continue;
      RowsAhead rows(function, cacheBytes);
      if (rows.find())
        rows.rewrite();
    }
  }
};
} // namespace
