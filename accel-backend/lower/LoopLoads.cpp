//===- LoopLoads.cpp - loads that are started iterations ahead ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/lower/LoopBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

namespace {
/// Computes values of a loop's body for another iteration.
class OtherIteration {
public:
  OtherIteration(scf::ForOp loop, Value induction, ArrayRef<Value> carried)
      : loop(loop) {
    mapping.map(loop.getInductionVar(), induction);
    for (auto [argument, value] : llvm::zip(loop.getRegionIterArgs(), carried))
      if (value)
        mapping.map(argument, value);
  }

  Value get(OpBuilder &builder, Value value) {
    if (!loop.getRegion().isAncestor(value.getParentRegion()))
      return value;
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      get(builder, operand);
    builder.clone(*op, mapping);
    return mapping.lookup(value);
  }

private:
  scf::ForOp loop;
  IRMapping mapping;
};

} // namespace

namespace {
/// The buffers of all loads of a loop, and which of their slots an iteration
/// has.
struct Slots {
  /// By load.
  SmallVector<Value> of;
  /// Of what chains write for the loads, by the buffer of an iteration.
  llvm::MapVector<Value, Value> operands;
  /// Feeds have one more slot than others.
  Value slot, feedSlot;
};
} // namespace

/// The operands of a load for an iteration. `buffers` has those that its chain
/// wrote.
static SmallVector<Value> operandsAhead(IRRewriter &rewriter, LoopWork &work,
                                        size_t number, const Slots &slots,
                                        const IRMapping &buffers,
                                        OtherIteration &iteration) {
  CopyOp load = work.loads[number];
  Value slot = work.isFeed(load) ? slots.feedSlot : slots.slot;
  SmallVector<Value> operands;
  for (OpOperand &operand : load->getOpOperands()) {
    Value value = operand.get();
    if (&operand == &load.getDestMutable())
      operands.push_back(
          slotOf(rewriter, load.getLoc(), slots.of[number], slot));
    else if (value == load.getRows() || value == load.getMask())
      operands.push_back(buffers.lookupOrDefault(value));
    else
      operands.push_back(iteration.get(rewriter, value));
  }
  return operands;
}

/// Does the chains of loads for an iteration, what they have in common once.
static IRMapping repeatChains(IRRewriter &rewriter, LoopWork &work,
                              ArrayRef<size_t> numbers, const Slots &slots,
                              OtherIteration &iteration) {
  IRMapping buffers;
  Chain all;
  for (size_t number : numbers) {
    if (!work.chains[number])
      continue;
    CopyOp load = work.loads[number];
    all.add(*work.chains[number]);
    for (CopyOp feed : work.chains[number]->feeds) {
      size_t of = llvm::find(work.loads, feed) - work.loads.begin();
      buffers.map(feed.getDest(), slotOf(rewriter, load.getLoc(), slots.of[of],
                                         slots.feedSlot));
    }
    for (Value operand : {load.getRows(), load.getMask()})
      if (Value own = slots.operands.lookup(operand))
        buffers.map(operand, slotOf(rewriter, load.getLoc(), own, slots.slot));
  }
  repeatChain(rewriter, all, buffers,
              [&](Value value) { return iteration.get(rewriter, value); });
  return buffers;
}

/// Where the iteration exists: the starts of the loads of these numbers into
/// their slots, with their chains before; completed tokens elsewhere.
static SmallVector<Value> startAhead(IRRewriter &rewriter, LoopWork &work,
                                     ArrayRef<size_t> numbers, Value exists,
                                     const OtherIteration &iteration,
                                     const Slots &slots) {
  Location loc = work.loads[numbers.front()].getLoc();
  Type token = TokenType::get(rewriter.getContext());
  SmallVector<Type> types(numbers.size(), token);
  auto branch = scf::IfOp::create(rewriter, loc, types, exists,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> none(numbers.size(),
                          CompletedOp::create(rewriter, loc, token).getToken());
  scf::YieldOp::create(rewriter, loc, none);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  // Values computed in this branch are not there in the next one.
  OtherIteration here = iteration;
  IRMapping buffers = repeatChains(rewriter, work, numbers, slots, here);
  SmallVector<Value> tokens;
  for (size_t number : numbers) {
    SmallVector<Value> operands =
        operandsAhead(rewriter, work, number, slots, buffers, here);
    tokens.push_back(startOf(rewriter, work.loads[number], operands));
  }
  scf::YieldOp::create(rewriter, loc, tokens);
  return llvm::to_vector_of<Value>(branch.getResults());
}

/// The starts of all loads of the loop that are feeds, or of all that are not,
/// by number; null for the others. Loads with chains share a branch.
static SmallVector<Value> startAllAhead(IRRewriter &rewriter, LoopWork &work,
                                        bool areFeeds, Value exists,
                                        const OtherIteration &iteration,
                                        const Slots &slots) {
  SmallVector<Value> tokens(work.loads.size());
  SmallVector<size_t> withChains;
  for (auto [n, load] : llvm::enumerate(work.loads)) {
    if (work.isFeed(load) != areFeeds)
      continue;
    if (work.chains[n])
      withChains.push_back(n);
    else
      tokens[n] =
          startAhead(rewriter, work, n, exists, iteration, slots).front();
  }
  if (withChains.empty())
    return tokens;
  SmallVector<Value> started =
      startAhead(rewriter, work, withChains, exists, iteration, slots);
  for (auto [n, token] : llvm::zip_equal(withChains, started))
    tokens[n] = token;
  return tokens;
}

/// The values of the carried scalars after an iteration.
static SmallVector<Value> advance(IRRewriter &rewriter, LoopWork &work,
                                  OtherIteration &iteration) {
  SmallVector<Value> next(work.loop.getRegionIterArgs().size());
  for (BlockArgument argument : work.carried)
    next[argument.getArgNumber() - 1] = iteration.get(
        rewriter, work.loop.getTiedLoopYieldedValue(argument)->get());
  return next;
}

/// The induction variable `steps` later, and whether there is such an
/// iteration. Both are computed without overflow of a narrow type.
static std::pair<Value, Value> later(IRRewriter &rewriter, scf::ForOp loop,
                                     Value induction, int64_t steps) {
  Location loc = loop.getLoc();
  Type index = rewriter.getIndexType();
  auto wide = [&](Value value) -> Value {
    if (value.getType().isIndex())
      return value;
    return arith::IndexCastOp::create(rewriter, loc, index, value);
  };
  Value count = arith::ConstantIndexOp::create(rewriter, loc, steps);
  Value distance =
      arith::MulIOp::create(rewriter, loc, wide(loop.getStep()), count);
  Value at = arith::AddIOp::create(rewriter, loc, wide(induction), distance);
  Value exists = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                                       at, wide(loop.getUpperBound()));
  if (!induction.getType().isIndex())
    at = arith::IndexCastOp::create(rewriter, loc, induction.getType(), at);
  return {at, exists};
}

/// A slot so many steps later.
static Value laterSlot(IRRewriter &rewriter, Location loc, Value slot,
                       int64_t steps, int64_t slots) {
  for (int64_t i = 0; i < steps; ++i)
    slot = nextSlot(rewriter, loc, slot, slots);
  return slot;
}

/// New buffers of all loads and of what chains write for them.
static Slots makeAllSlots(IRRewriter &rewriter, LoopWork &work) {
  Slots slots;
  for (CopyOp load : work.loads)
    slots.of.push_back(makeSlots(rewriter, work,
                                 bufferOf(load.getDest(), work.loop),
                                 work.depth + work.isFeed(load)));
  for (auto [load, chain] : llvm::zip_equal(work.loads, work.chains))
    for (Value operand : {load.getRows(), load.getMask()})
      if (operand && chain && !slots.operands.contains(operand))
        if (auto alloc = operand.getDefiningOp<AllocOp>();
            llvm::is_contained(chain->buffers, alloc))
          slots.operands[operand] =
              makeSlots(rewriter, work, alloc, work.depth);
  return slots;
}

/// The loads of the first iterations, before the loop: gives what the loop
/// carries of each, and the values of carried scalars.
static SmallVector<SmallVector<Value>> startFirst(IRRewriter &rewriter,
                                                  LoopWork &work, Slots slots,
                                                  SmallVector<Value> &values) {
  scf::ForOp loop = work.loop;
  Location loc = loop.getLoc();
  int64_t ahead = work.depth - 1;
  values = llvm::to_vector(loop.getInitArgs());
  SmallVector<OtherIteration> iterations;
  SmallVector<Value> exist;
  SmallVector<Value> atAhead = values;
  for (int64_t i = 0; i <= ahead; ++i) {
    auto [at, exists] = later(rewriter, loop, loop.getLowerBound(), i);
    iterations.emplace_back(loop, at, values);
    exist.push_back(exists);
    atAhead = values;
    if (i < ahead)
      values = advance(rewriter, work, iterations.back());
  }
  values = atAhead;
  SmallVector<SmallVector<Value>> tokens(work.loads.size());
  auto start = [&](bool areFeeds, int64_t i) {
    slots.slot = slots.feedSlot =
        arith::ConstantIndexOp::create(rewriter, loc, i);
    SmallVector<Value> started =
        startAllAhead(rewriter, work, areFeeds, exist[i], iterations[i], slots);
    for (auto [of, token] : llvm::zip_equal(tokens, started))
      if (token)
        of.push_back(token);
  };
  for (int64_t i = 0; i <= ahead; ++i)
    start(/*areFeeds=*/true, i);
  for (int64_t i = 0; i < ahead; ++i) {
    for (auto [n, load] : llvm::enumerate(work.loads))
      if (work.isFeed(load))
        WaitOp::create(rewriter, loc, ValueRange(tokens[n][i]));
    start(/*areFeeds=*/false, i);
  }
  for (auto [n, load] : llvm::enumerate(work.loads))
    if (work.isFeed(load))
      tokens[n] = {tokens[n].back()};
  return tokens;
}

void tilebridge::accel::bufferLoads(IRRewriter &rewriter, LoopWork &work) {
  scf::ForOp loop = work.loop;
  Location loc = loop.getLoc();
  int64_t ahead = work.depth - 1;
  bool hasFeeds =
      llvm::any_of(work.loads, [&](CopyOp load) { return work.isFeed(load); });
  rewriter.setInsertionPoint(loop);
  Slots slots = makeAllSlots(rewriter, work);
  SmallVector<Value> values;
  SmallVector<SmallVector<Value>> tokens =
      startFirst(rewriter, work, slots, values);
  // Carried anew: the slots, the values ahead, then each load's tokens.
  SmallVector<Value> inits(hasFeeds ? 2 : 1,
                           arith::ConstantIndexOp::create(rewriter, loc, 0));
  // By number: the arguments go with the loop that is replaced.
  SmallVector<unsigned> carriedNumbers;
  for (BlockArgument argument : work.carried)
    carriedNumbers.push_back(argument.getArgNumber());
  for (unsigned number : carriedNumbers)
    inits.push_back(values[number - 1]);
  unsigned firstToken = inits.size();
  for (ArrayRef<Value> of : tokens)
    llvm::append_range(inits, of);

  auto newLoop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
        return SmallVector<Value>(arguments.begin(), arguments.end());
      }));
  // The body moved, with the loads in it; its arguments are new ones.
  ArrayRef<BlockArgument> added =
      newLoop.getRegionIterArgs().take_back(inits.size());
  work.carried.clear();
  for (unsigned number : carriedNumbers)
    work.carried.insert(newLoop.getBody()->getArgument(number));
  work.loop = newLoop;

  rewriter.setInsertionPointToStart(newLoop.getBody());
  Value slot = added[0], feedSlot = hasFeeds ? Value(added[1]) : Value();
  auto [at, exists] =
      later(rewriter, newLoop, newLoop.getInductionVar(), ahead);
  SmallVector<Value> valuesAhead(newLoop.getRegionIterArgs().size());
  for (auto [n, argument] : llvm::enumerate(work.carried))
    valuesAhead[argument.getArgNumber() - 1] = added[hasFeeds + 1 + n];
  OtherIteration iteration(newLoop, at, valuesAhead);
  SmallVector<Value> next = advance(rewriter, work, iteration);
  SmallVector<Value> yields = {nextSlot(rewriter, loc, slot, work.depth)};
  if (hasFeeds)
    yields.push_back(nextSlot(rewriter, loc, feedSlot, work.depth + 1));
  for (BlockArgument argument : work.carried)
    yields.push_back(next[argument.getArgNumber() - 1]);

  // The slot before this iteration's is free; it is `ahead` slots later.
  slots.slot = laterSlot(rewriter, loc, slot, ahead, work.depth);
  SmallVector<Value> feedsStarted(work.loads.size());
  SmallVector<ArrayRef<BlockArgument>> mine;
  for (ArrayRef<Value> of : tokens) {
    mine.push_back(added.slice(firstToken, of.size()));
    firstToken += of.size();
  }
  if (hasFeeds) {
    Value free = laterSlot(rewriter, loc, feedSlot, ahead + 1, work.depth + 1);
    auto [atFeed, existsFeed] =
        later(rewriter, newLoop, newLoop.getInductionVar(), ahead + 1);
    OtherIteration feedIteration(newLoop, atFeed, next);
    slots.feedSlot = free;
    feedsStarted = startAllAhead(rewriter, work, /*areFeeds=*/true, existsFeed,
                                 feedIteration, slots);
    for (auto [n, load] : llvm::enumerate(work.loads))
      if (work.isFeed(load))
        WaitOp::create(rewriter, loc, ValueRange(mine[n].front()));
    slots.feedSlot = laterSlot(rewriter, loc, feedSlot, ahead, work.depth + 1);
  }
  SmallVector<Value> started = startAllAhead(rewriter, work, /*areFeeds=*/false,
                                             exists, iteration, slots);

  Chain all;
  for (const std::optional<Chain> &chain : work.chains)
    if (chain)
      all.add(*chain);
  SmallVector<bool> areFeeds = llvm::map_to_vector(
      work.loads, [&](CopyOp load) { return work.isFeed(load); });
  for (auto [n, load] : llvm::enumerate(work.loads)) {
    llvm::append_range(yields, mine[n].drop_front());
    yields.push_back(areFeeds[n] ? feedsStarted[n] : started[n]);
    // Feeds were waited for when the chains of their iteration began.
    rewriter.setInsertionPoint(load);
    if (!areFeeds[n])
      WaitOp::create(rewriter, load.getLoc(), ValueRange(mine[n].front()));
    AllocOp alloc = bufferOf(load.getDest(), newLoop);
    rewriter.setInsertionPoint(alloc);
    Value view = slotOf(rewriter, alloc.getLoc(), slots.of[n],
                        areFeeds[n] ? feedSlot : slot);
    rewriter.eraseOp(load);
    replaceBuffer(rewriter, alloc.getMemref(), view);
    rewriter.eraseOp(alloc);
  }
  eraseUnused(rewriter, all);
  auto yield = cast<scf::YieldOp>(newLoop.getBody()->getTerminator());
  yield->setOperands(yield->getNumOperands() - yields.size(), yields.size(),
                     yields);
  // Those of the last iterations are of no transfer.
  size_t open = 0;
  for (ArrayRef<Value> of : tokens)
    open += of.size();
  rewriter.setInsertionPointAfter(newLoop);
  WaitOp::create(rewriter, loc, newLoop.getResults().take_back(open));
}
