//===- Lifetimes.cpp - when buffers are needed ----------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/Lifetimes.h"

#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace tilebridge::accel;

namespace {
/// Where operations are written down: a number at the beginning, and one behind
/// the last operation inside.
struct Place {
  int64_t begin = 0, end = 0;
};

class Lifetimes {
public:
  explicit Lifetimes(func::FuncOp kernel) : flow(kernel) { number(kernel); }

  std::optional<Lifetime> of(AllocOp alloc) {
    Lifetime life{alloc, INT64_MAX, INT64_MIN};
    addUses(alloc.getMemref(), life);
    if (life.begin > life.end)
      return std::nullopt;
    return life;
  }

private:
  void number(Operation *op) {
    Place &own = places[op];
    own.begin = next++;
    for (Region &region : op->getRegions())
      for (Operation &nested : region.getOps())
        number(&nested);
    places[op].end = next++;
  }

  void extend(Lifetime &life, Operation *op, bool isWhole) {
    Place place = places.lookup(op);
    life.begin = std::min(life.begin, place.begin);
    life.end = std::max(life.end, isWhole ? place.end : place.begin + 1);
  }

  // The values that a buffer or a token reaches, itself included.
  void addUses(Value value, Lifetime &life) {
    for (Value alias : flow.resolve(value)) {
      // What a loop carries is needed from one iteration to the next.
      if (auto argument = dyn_cast<BlockArgument>(alias))
        if (isa<LoopLikeOpInterface>(argument.getOwner()->getParentOp()))
          extend(life, argument.getOwner()->getParentOp(), true);
      for (Operation *user : alias.getUsers())
        addUse(value, user, life);
    }
  }

  // A loop that does not hold the buffer itself, though perhaps a view of it,
  // uses it in each iteration.
  void addUse(Value buffer, Operation *user, Lifetime &life) {
    if (isa<ViewLikeOpInterface>(user))
      return;
    bool hasBody = isa<ComputeOp>(user);
    extend(life, user, hasBody);
    for (Operation *parent = user->getParentOp();
         parent && !parent->isAncestor(buffer.getParentBlock()->getParentOp());
         parent = parent->getParentOp())
      if (isa<LoopLikeOpInterface>(parent))
        extend(life, parent, true);
    // A transfer goes on until its token has been waited for.
    if (isa<CopyStartOp>(user))
      addUses(user->getResult(0), life);
  }

  BufferViewFlowAnalysis flow;
  llvm::DenseMap<Operation *, Place> places;
  int64_t next = 0;
};
} // namespace

SmallVector<Lifetime> tilebridge::accel::lifetimesOf(func::FuncOp kernel) {
  Lifetimes lifetimes(kernel);
  SmallVector<Lifetime> result;
  kernel.walk([&](AllocOp alloc) {
    if (std::optional<Lifetime> life = lifetimes.of(alloc))
      result.push_back(*life);
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Sinking
//===----------------------------------------------------------------------===//

// Whether an operation leaves nothing of what was in the buffer, and does not
// look at it.
static bool overwrites(Operation *op, Value buffer) {
  for (Value operand : op->getOperands())
    if (operand == buffer && llvm::count(op->getOperands(), buffer) > 1)
      return false;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    for (OpOperand &init : linalgOp.getDpsInitsMutable())
      if (init.get() == buffer)
        return !linalgOp.payloadUsesValueFromOperand(&init) &&
               linalgOp.getMatchingIndexingMap(&init).isProjectedPermutation();
    return false;
  }
  auto copiesAll = [&](auto copy) {
    if (copy.getDest() != buffer || copy.getAccumulate() || copy.getScatter())
      return false;
    if (copy.getPad())
      return true;
    auto source = cast<ShapedType>(copy.getSource().getType());
    auto dest = cast<ShapedType>(copy.getDest().getType());
    return !copy.getMask() && !copy.getRows() &&
           source.getShape() == dest.getShape();
  };
  if (auto copy = dyn_cast<CopyOp>(op))
    return copiesAll(copy);
  return false;
}

// The operation of a block that all users are in; null where there are several.
static Operation *commonAncestor(Block *block, AllocOp alloc) {
  Operation *common = nullptr;
  for (Operation *user : alloc->getUsers()) {
    Operation *own = block->findAncestorOpInBlock(*user);
    if (common && own != common)
      return nullptr;
    common = own;
  }
  return common;
}

static Operation *firstUser(Block *block, AllocOp alloc) {
  Operation *first = nullptr;
  for (Operation *user : alloc->getUsers()) {
    Operation *own = block->findAncestorOpInBlock(*user);
    if (!first || own->isBeforeInBlock(first))
      first = own;
  }
  return first;
}

static void sink(AllocOp alloc) {
  Value buffer = alloc.getMemref();
  // Loops around all users, the innermost one last.
  SmallVector<Block *> bodies;
  Block *block = alloc->getBlock();
  while (auto loop =
             dyn_cast_or_null<scf::ForOp>(commonAncestor(block, alloc))) {
    if (llvm::is_contained(loop->getOperands(), buffer))
      break;
    block = loop.getBody();
    bodies.push_back(block);
  }
  for (Block *body : llvm::reverse(bodies)) {
    Operation *first = firstUser(body, alloc);
    bool isCarried =
        llvm::is_contained(body->getTerminator()->getOperands(), buffer);
    if (isCarried || isa<ViewLikeOpInterface>(first) ||
        !overwrites(first, buffer))
      continue;
    alloc->moveBefore(first);
    return;
  }
}

void tilebridge::accel::sinkAllocations(func::FuncOp kernel) {
  SmallVector<AllocOp> allocs;
  kernel.walk([&](AllocOp alloc) { allocs.push_back(alloc); });
  for (AllocOp alloc : allocs)
    sink(alloc);
}
