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

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
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
// Contracted classes
//===----------------------------------------------------------------------===//

namespace {
/// The matmul that sums over a class, and what computes its operands.
struct Contraction {
  linalg::LinalgOp matmul;
  SmallVector<Operation *> members;
};
} // namespace

static Cut findContraction(func::FuncOp kernel, const DimensionClasses &classes,
                           unsigned number, Contraction &found) {
  Cut result{true, "", nullptr};
  auto refuse = [&](StringRef reason, Operation *op) {
    if (result.isPossible)
      result = {false, reason.str(), op};
  };
  walkBlocks(kernel, [&](Operation *op) {
    if (!isMember(classes, number, op))
      return;
    found.members.push_back(op);
    if (op->getNumRegions() && !isa<linalg::LinalgOp>(op))
      return refuse("a branch or a loop has blocks of it", op);
    if (llvm::any_of(op->getResults(),
                     [&](Value value) { return isIn(classes, number, value); }))
      return;
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || op->getNumResults() != 1 || found.matmul)
      return refuse("more than one operation combines its positions", op);
    found.matmul = linalgOp;
  });
  if (!result.isPossible)
    return result;
  if (!found.matmul)
    return {false, "no matmul sums over it", nullptr};
  // What is between the first load and the matmul is passed by the loads.
  Block *block = found.matmul->getBlock();
  for (Operation *member : found.members) {
    if (member->getBlock() != block)
      return {false, "its blocks are loaded elsewhere than where they are used",
              member};
    for (Operation *user : member->getUsers())
      if (member != found.matmul && !llvm::is_contained(found.members, user))
        return {false, "a block of it is used beside the matmul", user};
  }
  for (Operation *op = found.members.front(); op != found.matmul;
       op = op->getNextNode())
    for (Operation *member : found.members)
      if (readsChipMemory(member) && containsWriteTo(op, member))
        return {false, "memory that it loads is written before the matmul", op};
  return result;
}

static void splitContracted(func::FuncOp kernel,
                            const DimensionClasses &classes, unsigned number,
                            int64_t size) {
  Contraction found;
  findContraction(kernel, classes, number, found);
  Operation *matmul = found.matmul;
  Location loc = matmul->getLoc();
  OpBuilder builder(matmul);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value end = arith::ConstantIndexOp::create(builder, loc,
                                             classes.classes()[number].size);
  Value step = arith::ConstantIndexOp::create(builder, loc, size);
  OpOperand &init = *found.matmul.getDpsInitsMutable().begin();
  auto loop =
      scf::ForOp::create(builder, loc, zero, end, step, ValueRange{init.get()});
  matmul->getResult(0).replaceAllUsesWith(loop.getResult(0));
  init.set(loop.getRegionIterArgs().front());
  Block *body = loop.getBody();
  for (Operation *member : found.members)
    member->moveBefore(body, body->end());
  builder.setInsertionPointToEnd(body);
  scf::YieldOp::create(builder, loc, matmul->getResults());
  // Only members are looked at: the accumulator has no classes of its own here.
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
  case DimensionKind::Contracted: {
    Contraction found;
    return findContraction(kernel, classes, number, found);
  }
  case DimensionKind::Reduced:
    return {false, "its positions are combined", entry.because};
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
  if (classes.classes()[number].kind == DimensionKind::Contracted)
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
