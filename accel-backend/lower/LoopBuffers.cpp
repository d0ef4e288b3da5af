//===- LoopBuffers.cpp - several buffers for what a loop moves ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With D buffers the load of iteration i + D - 1 is started in iteration i, if
// there is such an iteration; before the loop those of the first D - 1 are.
// What computes the load's address is done again for that iteration: from the
// induction variable, and from carried scalars whose values D - 1 iterations
// ahead are carried too. A store is waited for where the next iteration has the
// same store, so that stores stay in order; it has two buffers.
//
//===----------------------------------------------------------------------===//

#include "accel-backend/lower/LoopBuffers.h"

#include "accel-backend/lower/Transfers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

CopyStartOp tilebridge::accel::startOf(OpBuilder &builder, CopyOp copy,
                                       ValueRange operands) {
  OperationState state(copy.getLoc(), CopyStartOp::getOperationName(), operands,
                       TypeRange(TokenType::get(copy.getContext())));
  state.addAttributes(llvm::to_vector(copy->getDiscardableAttrs()));
  state.propertiesAttr = copy->getPropertiesAsAttribute();
  return cast<CopyStartOp>(builder.create(state));
}

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

/// True if `value` can be computed for another iteration; collects the carried
/// values it needs. `always`: also for iterations that there are not.
static bool canRepeat(Value value, Work &work, bool always) {
  scf::ForOp loop = work.loop;
  if (!loop.getRegion().isAncestor(value.getParentRegion()))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument == loop.getInductionVar() || work.carried.contains(argument))
      return true;
    if (argument.getOwner() != loop.getBody() ||
        !argument.getType().isIntOrIndex())
      return false;
    work.carried.insert(argument);
    Value update = loop.getTiedLoopYieldedValue(argument)->get();
    return canRepeat(update, work, /*always=*/true);
  }
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != loop.getBody() || op->getNumRegions() != 0 ||
      !isMemoryEffectFree(op) || (always && !isSpeculatable(op)))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return canRepeat(operand, work, always);
  });
}

/// True if nothing says that there is memory for one buffer only.
static bool hasRoomForStores(scf::ForOp loop) {
  auto function = loop->getParentOfType<FunctionOpInterface>();
  return !function
              ->walk([](Operation *op) {
                auto depth = op->getAttrOfType<IntegerAttr>(depthAttr);
                return depth && depth.getInt() < 2 ? WalkResult::interrupt()
                                                   : WalkResult::advance();
              })
              .wasInterrupted();
}

/// True if nothing in the loop uses the buffer before the copy fills it: what
/// is written there, such as the values outside of the box, would otherwise
/// overwrite what has come ahead of it.
static bool isFirstUse(CopyOp copy, AllocOp buffer) {
  Block *body = copy->getBlock();
  SmallVector<Value> views = {buffer.getMemref()};
  for (size_t i = 0; i < views.size(); ++i)
    for (Operation *user : views[i].getUsers()) {
      if (auto view = dyn_cast<memref::SubViewOp>(user))
        views.push_back(view);
      else if (body->findAncestorOpInBlock(*user)->isBeforeInBlock(copy))
        return false;
    }
  return true;
}

/// Finds what of the loop can be started early or waited for late.
static void findTransfers(Work &work, int64_t defaultDepth) {
  scf::ForOp loop = work.loop;
  ChipAccesses all;
  for (Operation &op : loop.getBody()->without_terminator())
    all.add(&op);
  if (all.unknown)
    return;
  bool hasRoom = hasRoomForStores(loop);
  llvm::SmallPtrSet<Operation *, 8> taken;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (CopyOp store = storeIn(&op)) {
      Value root = transferRoot(store.getDest());
      auto apart = [&](Value other) { return areApart(root, other); };
      // Its own write is one of those of the loop, and what it adds to its own
      // read.
      bool alone =
          llvm::count(all.written, root) == 1 &&
          llvm::count(all.read, root) == (store.getAccumulate() ? 1 : 0) &&
          llvm::all_of(
              llvm::concat<Value>(all.written, all.read),
              [&](Value other) { return other == root || apart(other); });
      AllocOp buffer = bufferOf(store.getSource(), loop);
      // A buffer that is loaded, or stored twice, has its slots already.
      bool isNew = buffer && taken.insert(buffer).second;
      if (alone && isNew && !store.getRows() && !store.getMask() && hasRoom)
        work.stores.push_back(&op);
      continue;
    }
    auto copy = dyn_cast<CopyOp>(op);
    if (!copy || !isInChipMemory(copy.getSource().getType()) ||
        copy.getRows() || copy.getMask() || !bufferOf(copy.getDest(), loop) ||
        copy.getDest().getDefiningOp() != bufferOf(copy.getDest(), loop) ||
        !isFirstUse(copy, bufferOf(copy.getDest(), loop)))
      continue;
    int64_t depth = defaultDepth;
    if (auto attribute = copy->getAttrOfType<IntegerAttr>(depthAttr))
      depth = attribute.getInt();
    if (depth < 2)
      continue;
    Value root = transferRoot(copy.getSource());
    bool apart = llvm::all_of(
        all.written, [&](Value other) { return areApart(root, other); });
    // Carried values are kept only if the load can be started early.
    auto carried = work.carried;
    bool repeats =
        apart && llvm::all_of(copy->getOperands(), [&](Value value) {
          return value == copy.getDest() || canRepeat(value, work, false);
        });
    if (!repeats) {
      work.carried = carried;
      continue;
    }
    // The slots of all loads of a loop advance together.
    work.depth = work.loads.empty() ? depth : std::min(work.depth, depth);
    work.loads.push_back(copy);
    taken.insert(bufferOf(copy.getDest(), loop));
  }
}

/// Where the iteration `ahead` of the one at `induction` exists: the start of
/// its load into the slot; a completed token elsewhere.
static Value startAhead(IRRewriter &rewriter, Work &work, CopyOp load,
                        Value exists, OtherIteration &iteration, Value slots,
                        Value slot) {
  Location loc = load.getLoc();
  Type token = TokenType::get(rewriter.getContext());
  auto branch = scf::IfOp::create(rewriter, loc, TypeRange(token), exists,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(rewriter, loc,
                       CompletedOp::create(rewriter, loc, token).getToken());
  rewriter.setInsertionPointToStart(branch.thenBlock());
  // Values computed in this branch are not there in the next one.
  OtherIteration here = iteration;
  SmallVector<Value> operands;
  for (OpOperand &operand : load->getOpOperands())
    operands.push_back(&operand == &load.getDestMutable()
                           ? slotOf(rewriter, loc, slots, slot)
                           : here.get(rewriter, operand.get()));
  CopyStartOp start = startOf(rewriter, load, operands);
  scf::YieldOp::create(rewriter, loc, start.getToken());
  return branch.getResult(0);
}

/// The values of the carried scalars after an iteration.
static SmallVector<Value> advance(IRRewriter &rewriter, Work &work,
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

static void bufferLoads(IRRewriter &rewriter, Work &work) {
  scf::ForOp loop = work.loop;
  Location loc = loop.getLoc();
  int64_t ahead = work.depth - 1;
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> slots, inits;
  for (CopyOp load : work.loads)
    slots.push_back(
        makeSlots(rewriter, work, bufferOf(load.getDest(), loop), work.depth));
  // Carried anew: the slot, the values ahead, then each load's tokens.
  inits.push_back(arith::ConstantIndexOp::create(rewriter, loc, 0));
  SmallVector<Value> values = llvm::to_vector(loop.getInitArgs());
  SmallVector<SmallVector<Value>> tokens(work.loads.size());
  for (int64_t i = 0; i < ahead; ++i) {
    auto [at, exists] = later(rewriter, loop, loop.getLowerBound(), i);
    OtherIteration iteration(loop, at, values);
    Value slot = arith::ConstantIndexOp::create(rewriter, loc, i);
    for (auto [n, load] : llvm::enumerate(work.loads))
      tokens[n].push_back(
          startAhead(rewriter, work, load, exists, iteration, slots[n], slot));
    values = advance(rewriter, work, iteration);
  }
  for (BlockArgument argument : work.carried)
    inits.push_back(values[argument.getArgNumber() - 1]);
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
  llvm::SmallSetVector<BlockArgument, 4> carried;
  for (BlockArgument argument : work.carried)
    carried.insert(newLoop.getBody()->getArgument(argument.getArgNumber()));
  work.carried = carried;
  work.loop = newLoop;

  rewriter.setInsertionPointToStart(newLoop.getBody());
  Value slot = added[0];
  // The slot before this iteration's is free; it is `ahead` slots later.
  Value target = slot;
  for (int64_t i = 0; i < ahead; ++i)
    target = nextSlot(rewriter, loc, target, work.depth);
  auto [at, exists] =
      later(rewriter, newLoop, newLoop.getInductionVar(), ahead);
  SmallVector<Value> valuesAhead(newLoop.getRegionIterArgs().size());
  for (auto [n, argument] : llvm::enumerate(work.carried))
    valuesAhead[argument.getArgNumber() - 1] = added[1 + n];
  OtherIteration iteration(newLoop, at, valuesAhead);
  SmallVector<Value> yields = {nextSlot(rewriter, loc, slot, work.depth)};
  SmallVector<Value> started;
  for (auto [n, load] : llvm::enumerate(work.loads))
    started.push_back(
        startAhead(rewriter, work, load, exists, iteration, slots[n], target));
  SmallVector<Value> next = advance(rewriter, work, iteration);
  for (BlockArgument argument : work.carried)
    yields.push_back(next[argument.getArgNumber() - 1]);
  unsigned first = 1 + work.carried.size();
  for (auto [n, load] : llvm::enumerate(work.loads)) {
    ArrayRef<BlockArgument> mine = added.slice(first + n * ahead, ahead);
    llvm::append_range(yields, mine.drop_front());
    yields.push_back(started[n]);
    rewriter.setInsertionPoint(load);
    WaitOp::create(rewriter, load.getLoc(), ValueRange(mine.front()));
    AllocOp alloc = bufferOf(load.getDest(), newLoop);
    rewriter.setInsertionPoint(alloc);
    Value view = slotOf(rewriter, alloc.getLoc(), slots[n], slot);
    rewriter.eraseOp(load);
    replaceBuffer(rewriter, alloc.getMemref(), view);
    rewriter.eraseOp(alloc);
  }
  auto yield = cast<scf::YieldOp>(newLoop.getBody()->getTerminator());
  yield->setOperands(yield->getNumOperands() - yields.size(), yields.size(),
                     yields);
  // Those of the last iterations are of no transfer.
  rewriter.setInsertionPointAfter(newLoop);
  WaitOp::create(rewriter, loc,
                 newLoop.getResults().take_back(work.loads.size() * ahead));
}

void tilebridge::accel::bufferLoop(IRRewriter &rewriter, scf::ForOp loop,
                                   int64_t depth) {
  Work work{loop, depth, {}, {}, {}};
  findTransfers(work, depth);
  if (!work.loads.empty())
    bufferLoads(rewriter, work);
  if (!work.stores.empty())
    bufferStores(rewriter, work);
}
