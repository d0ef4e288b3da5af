//===- Split.cpp - a loop over the parts of a block -----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/Split.h"

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Effects.h"
#include "accel-backend/plan/Shrink.h"
#include "accel-backend/plan/Sinks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

static bool isIn(const DimensionClasses &classes, unsigned number,
                 Value value) {
  return isa<RankedTensorType>(value.getType()) &&
         llvm::is_contained(classes.of(value), number);
}

// Whether an operation works on blocks of the class. What it contains does
// not count.
static bool isMember(const DimensionClasses &classes, unsigned number,
                     Operation *op) {
  auto is = [&](Value value) { return isIn(classes, number, value); };
  return llvm::any_of(op->getOperands(), is) ||
         llvm::any_of(op->getResults(), is);
}

// Bodies of scalars have no blocks of their own.
static void walkBlocks(Operation *root,
                       llvm::function_ref<void(Operation *)> visit) {
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != root)
      visit(op);
    return isa<linalg::LinalgOp>(op) ? WalkResult::skip()
                                     : WalkResult::advance();
  });
}

//===----------------------------------------------------------------------===//
// Parallel classes
//===----------------------------------------------------------------------===//

// Each part does all its loads before the next part does its own: an access
// that may be to what another part stores must be in its own place.
static Cut checkOrder(func::FuncOp kernel, const DimensionClasses &classes,
                      unsigned number) {
  SmallVector<Operation *> reads, writes;
  walkBlocks(kernel, [&](Operation *op) {
    if (readsChipMemory(op))
      reads.push_back(op);
    if (isSeen(op))
      writes.push_back(op);
  });
  for (Operation *write : writes) {
    bool isPart = isMember(classes, number, write);
    // What does not depend on the part would be done once for each part: a
    // store of the same values can be repeated, and nothing else.
    if (!isPart && !isPlainStore(write))
      return {false, "it would be done once for each part", write};
    for (Operation *other : llvm::concat<Operation *>(reads, writes)) {
      if (other == write)
        continue;
      bool isSamePlace = isPart && isMember(classes, number, other) &&
                         accessesSamePlaces(write, other);
      if (!isSamePlace && mayTouchSameMemory(write, other))
        return {false, "it may access what another part stores", other};
    }
  }
  return {true, "", nullptr};
}

// A slice with a size of its own is only understood where it is stored.
static Cut checkSlices(func::FuncOp kernel, const DimensionClasses &classes,
                       unsigned number) {
  Cut result{true, "", nullptr};
  walkBlocks(kernel, [&](Operation *op) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
    if (!slice || !isMember(classes, number, op) ||
        slice.getResultType().hasStaticShape())
      return;
    for (Operation *user : slice->getUsers())
      if (!isa<CopyOp>(user) || !slice->hasOneUse())
        result = {false, "only stores of a part of a block can be cut", user};
  });
  walkBlocks(kernel, [&](Operation *op) {
    auto copy = dyn_cast<CopyOp>(op);
    if (!copy || !copy.getMask() || copy.getRows() ||
        !isMember(classes, number, op))
      return;
    auto type = cast<ShapedType>(copy.getSource().getType());
    if (!type.hasStaticShape())
      result = {false, "a mask of a block of another size cannot be cut", op};
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Contracted and reduced classes
//===----------------------------------------------------------------------===//

namespace {
/// What combines the positions of a class, and what computes its operands.
struct Contraction {
  SmallVector<Operation *> sinks;
  /// The sinks are among them.
  SmallVector<Operation *> members;
  /// Operations before the last sink that need what a sink before gives.
  SmallVector<Operation *> later;
};
} // namespace

// What has to come after the sinks; the loop will be where the last one is.
static Cut orderAround(Contraction &found) {
  llvm::DenseSet<Operation *> inLoop(found.members.begin(),
                                     found.members.end()),
      late;
  Operation *last = found.sinks.back();
  for (Operation *op = found.sinks.front(); op != last->getNextNode();
       op = op->getNextNode()) {
    bool isLate = false;
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        isLate |= producer && (llvm::is_contained(found.sinks, producer) ||
                               late.contains(producer));
      }
    });
    if (isLate && inLoop.contains(op))
      return {false, "it needs what all parts give", op};
    if (isLate) {
      late.insert(op);
      found.later.push_back(op);
      continue;
    }
    // What stays must not mind that what is late comes after it.
    for (Operation *other : found.later)
      if (containsWriteTo(other, op) || containsWriteTo(op, other))
        return {false, "it may access what is stored before the last part", op};
  }
  return {true, "", nullptr};
}

static Cut findContraction(func::FuncOp kernel, const DimensionClasses &classes,
                           unsigned number, Contraction &found) {
  Cut result{true, "", nullptr};
  auto refuse = [&](StringRef reason, Operation *op) {
    if (result.isPossible)
      result = {false, reason.str(), op};
  };
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == kernel)
      return WalkResult::advance();
    bool isWhole = isa<linalg::LinalgOp, ComputeOp>(op);
    WalkResult inner = isWhole ? WalkResult::skip() : WalkResult::advance();
    if (!isMember(classes, number, op))
      return inner;
    found.members.push_back(op);
    if (op->getNumRegions() && !isWhole)
      refuse("a branch or a loop has blocks of it", op);
    else if (llvm::none_of(op->getResults(), [&](Value value) {
               return isIn(classes, number, value);
             })) {
      if (isSeen(op))
        refuse("it is stored, and combined as well", op);
      else if (!isAccumulating(op))
        refuse("its positions are combined", op);
      found.sinks.push_back(op);
    } else if (isa<ComputeOp>(op)) {
      refuse("its positions are needed together", op);
    }
    return inner;
  });
  if (!result.isPossible)
    return result;
  if (found.sinks.empty())
    return {false, "nothing sums over it", nullptr};
  // What is between the first load and the last sum is passed by the loads.
  Block *block = found.sinks.front()->getBlock();
  for (Operation *member : found.members) {
    if (member->getBlock() != block)
      return {false, "its blocks are loaded elsewhere than where they are used",
              member};
    for (Operation *user : member->getUsers())
      if (!llvm::is_contained(found.sinks, member) &&
          !llvm::is_contained(found.members, user))
        return {false, "a block of it is used beside the sum", user};
  }
  for (Operation *op = found.members.front(); op != found.sinks.back();
       op = op->getNextNode())
    for (Operation *member : found.members)
      if (readsChipMemory(member) && containsWriteTo(op, member))
        return {false, "memory that it loads is written before the sum", op};
  return orderAround(found);
}

static void splitContracted(func::FuncOp kernel,
                            const DimensionClasses &classes, unsigned number,
                            int64_t size) {
  Contraction found;
  findContraction(kernel, classes, number, found);
  Operation *last = found.sinks.back();
  Location loc = last->getLoc();
  OpBuilder builder(last);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value end = arith::ConstantIndexOp::create(builder, loc,
                                             classes.classes()[number].size);
  Value step = arith::ConstantIndexOp::create(builder, loc, size);
  SmallVector<Value> begins;
  for (Operation *sink : found.sinks)
    llvm::append_range(begins, beginsOf(builder, sink));
  auto loop = scf::ForOp::create(builder, loc, zero, end, step, begins);
  for (Operation *op : llvm::reverse(found.later))
    op->moveAfter(loop);
  ValueRange results = loop.getResults();
  for (Operation *sink : found.sinks) {
    sink->replaceAllUsesWith(results.take_front(sink->getNumResults()));
    results = results.drop_front(sink->getNumResults());
  }
  Block *body = loop.getBody();
  for (Operation *member : found.members)
    member->moveBefore(body, body->end());
  builder.setInsertionPointToEnd(body);
  SmallVector<Value> sums;
  builder.setInsertionPointToStart(body);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        loop.getInductionVar(), zero);
  ValueRange before = loop.getRegionIterArgs();
  for (Operation *sink : found.sinks) {
    continueFrom(sink, before.take_front(sink->getNumResults()), isFirst);
    llvm::append_range(sums, sink->getResults());
    before = before.drop_front(sink->getNumResults());
  }
  if (isFirst.use_empty())
    isFirst.getDefiningOp()->erase();
  builder.setInsertionPointToEnd(body);
  scf::YieldOp::create(builder, loc, sums);
  // Only members are looked at: the accumulators have no classes of their own
  // here.
  shrinkMembers(found.members, classes, {number, size, loop.getInductionVar()});
}

//===----------------------------------------------------------------------===//
// Both
//===----------------------------------------------------------------------===//

Cut tilebridge::accel::canSplit(func::FuncOp kernel,
                                const DimensionClasses &classes,
                                unsigned number) {
  const DimensionClasses::Class &entry = classes.classes()[number];
  switch (entry.kind) {
  case DimensionKind::Parallel: {
    Cut cut = checkSlices(kernel, classes, number);
    return cut.isPossible ? checkOrder(kernel, classes, number) : cut;
  }
  case DimensionKind::Contracted:
  case DimensionKind::Reduced: {
    Contraction found;
    return findContraction(kernel, classes, number, found);
  }
  case DimensionKind::Scanned:
    return {false, "each of its positions depends on those before",
            entry.because};
  case DimensionKind::Fixed:
    return {false, "its positions are rearranged, or used as a whole",
            entry.because};
  }
  llvm_unreachable("all kinds of classes are handled");
}

// The program is what follows the ids; without them, all of the kernel.
static Operation *beginOfProgram(func::FuncOp kernel) {
  Operation *begin = &kernel.getBody().front().front();
  kernel.walk([&](ProgramOp program) { begin = program->getNextNode(); });
  return begin;
}

void tilebridge::accel::split(func::FuncOp kernel,
                              const DimensionClasses &classes, unsigned number,
                              int64_t size) {
  if (classes.classes()[number].kind != DimensionKind::Parallel)
    return splitContracted(kernel, classes, number, size);
  Operation *begin = beginOfProgram(kernel);
  Block *block = begin->getBlock();
  Location loc = kernel.getLoc();
  OpBuilder builder(begin);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value end = arith::ConstantIndexOp::create(builder, loc,
                                             classes.classes()[number].size);
  Value step = arith::ConstantIndexOp::create(builder, loc, size);
  auto loop = scf::ForOp::create(builder, loc, zero, end, step);
  Block *body = loop.getBody();
  body->getOperations().splice(body->begin(), block->getOperations(),
                               begin->getIterator(), std::prev(block->end()));
  shrink(loop.getRegion(), classes, {number, size, loop.getInductionVar()});
}
