//===- PlanBuffers.cpp - decides which tensors are in memory ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Backwards through the function: the roots that would compute a value again
// are known when its turn comes. Costs assume that what is not decided yet is
// inline, so a second round runs with the first one's decisions.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/PlanBuffers.h"
#include "cpu-backend/DecisionRemark.h"
#include "cpu-backend/emit/MaskedRows.h"
#include "cpu-backend/emit/MemoryTable.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/PlanWrites.h"
#include "cpu-backend/emit/StreamScans.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

static constexpr int64_t gatherCost = 20;
/// A value that costs more than this is not computed in each iteration of a
/// loop around its use.
static constexpr int64_t trivial = 3;

static int64_t costOf(Operation *op) {
  if (op->getNumResults() == 1 && matchLoad(op->getResult(0)))
    return loadCost;
  if (isReversal(op) || matchExchange(op))
    return 1;
  if (isPick(op))
    return costOfPick(op);
  if (isa<linalg_ext::GatherOp>(op))
    return costOfGather(op);
  if (isa<linalg_ext::LinalgExtDialect>(op->getDialect()))
    return gatherCost;
  return isElementwise(op) ? costOfBody(op) : 0;
}

static Operation *readOf(Operation *op) {
  if (op->getNumResults() != 1)
    return nullptr;
  if (auto load = matchLoad(op->getResult(0)))
    return load->read;
  bool irregular = isa<linalg_ext::GatherOp, linalg_ext::GatherRowsOp,
                       linalg_ext::MaskedLoadOp>(op);
  return irregular ? op : nullptr;
}

/// A load of elements that are not next to one another along the lanes.
static bool isApart(Operation *op) {
  auto load =
      op->getNumResults() == 1 ? matchLoad(op->getResult(0)) : std::nullopt;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!load ||
      failed(cast<MemRefType>(load->read.getBuffer().getType())
                 .getStridesAndOffset(strides, offset)) ||
      strides.empty())
    return false;
  return ShapedType::isDynamic(strides.back()) || std::abs(strides.back()) > 1;
}

static bool isMatmul(Operation *op) {
  return isa<linalg::LinalgOp>(op) && kindOf(op) == OpKind::OwnRoot;
}

/// `value`, or what it is a transpose of, is an input of a matmul.
static bool isMatmulInput(Value value) {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isShapeOfMemory(user) && use.getOperandNumber() == 0)
      return isMatmulInput(user->getResult(0));
    return isMatmul(user) && cast<linalg::LinalgOp>(user).isDpsInput(&use);
  });
}

/// `user` reads elements of another step of the loop.
static bool isFarExchange(Operation *user) {
  auto exchange = matchExchange(user);
  return exchange && !exchange->isNear();
}

/// The emission of `user` wants all of this operand in memory.
static bool needsMemory(Value value, Operation *user) {
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user))
    return !isComputedReshape(user);
  return (isa<linalg_ext::ScanOp>(user) && !isStreamedScan(user)) ||
         (isPick(user) && value == user->getOperand(0));
}

/// Its loops are over the block that is stored, and over nothing else.
static bool isStoreOfBlock(Operation *root) {
  return matchStore(root) || isa<linalg_ext::MaskedStoreOp>(root);
}

static bool isPartOfAccess(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return !type || !type.hasStaticShape();
}

BufferDecider::BufferDecider(func::FuncOp func, const DirectOperands &direct)
    : func(func) {
  // Reads before their uses: the walk is in program order.
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (kindOf(op) != OpKind::Inlineable)
      return;
    numberOf[op] = nodes.size();
    nodes.emplace_back();
    nodes.back().op = op;
    lanes.add(op);
    masks.add(op);
  });
  for (Node &node : nodes)
    describe(node, direct);
  updateCosts(/*round=*/0);
}

void BufferDecider::describe(Node &node, const DirectOperands &direct) {
  Operation *op = node.op;
  auto add = [&](Value value, SmallVectorImpl<unsigned> &to) {
    auto it = numberOf.find(value.getDefiningOp());
    if (it != numberOf.end())
      to.push_back(it->second);
  };
  for (OpOperand &operand : op->getOpOperands()) {
    add(operand.get(), node.uses);
    if (isa<RankedTensorType>(operand.get().getType()) && isRead(operand))
      add(operand.get(), node.reads);
  }
  if (Operation *mask = masks.ofLoad(op))
    node.mask = numberOf.lookup(mask);
  for (Operation *user : op->getUsers()) {
    auto it = numberOf.find(user);
    node.users.push_back({user, it == numberOf.end() ? -1 : int(it->second)});
  }
  node.ownCost = costOf(op);
  if (!isPartOfAccess(op))
    node.read = readOf(op);
  node.isNever = isa<tensor::EmptyOp>(op) || isPartOfAccess(op) ||
                 direct.inner.contains(op);
  if (node.isNever)
    return;
  node.isAlways = lanes.areMixed(op) || direct.kept.contains(op);
  node.isInPieces = isCutIntoPieces(op);
  node.isReadInPieces = isReadInPieces(op);
  if (node.isReadInPieces)
    node.ownCost = loadCost;
  node.isRepeated = llvm::any_of(op->getResults(), [](Value result) {
    return llvm::any_of(result.getUsers(), [&](Operation *user) {
      return isRepeated(result, user);
    });
  });
  node.liesApart = node.isRepeated && isApart(op);
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
    node.isAlways |= !isComputedReshape(op) || isPickedFrom(op->getResult(0));
    return;
  }
  if (isa<tensor::InsertSliceOp>(op))
    node.isAlways |= !matchLoad(op->getResult(0));
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    node.isAlways |= !isa<SplatElementsAttr>(constant.getValue());
    return;
  }
  // A matmul reads a load where it lies, seen through transposes.
  bool inPlace = isShapeOfMemory(op) || matchLoad(op->getResult(0));
  for (Value result : op->getResults()) {
    // Rows that a mask chooses are computed where they are packed.
    node.isAlways |=
        !inPlace && isMatmulInput(result) && !maskedProductOf(result);
    for (Operation *user : result.getUsers()) {
      if (direct.inner.contains(user))
        continue;
      node.isAlways |= needsMemory(result, user);
      node.isReadFar |= isFarExchange(user);
    }
  }
}

llvm::DenseSet<Operation *> BufferDecider::run(const PlanChoices &choices) {
  openChanged(choices);
  for (unsigned round : {0, 1}) {
    if (round == 1)
      updateCosts(round);
    for (Node &node : llvm::reverse(nodes))
      if (node.rounds[round].isOpen)
        decide(node, round);
  }
  if (breakChains())
    for (Node &node : llvm::reverse(nodes))
      if (node.rounds[1].isOpen)
        decide(node, /*round=*/1);
  llvm::DenseSet<Operation *> changed;
  OpBuilder builder(func.getContext());
  for (Node &node : nodes) {
    const State &last = node.rounds[1];
    if (node.written != last.isBuffer()) {
      node.op->setAttr(planAttr, builder.getStringAttr(
                                     last.isBuffer() ? "buffer" : "inline"));
      changed.insert(node.op);
      changed.insert_range(*last.roots);
      if (node.writtenRoots)
        changed.insert_range(*node.writtenRoots);
    }
    node.written = last.isBuffer();
    node.writtenRoots = last.roots;
  }
  return changed;
}

void BufferDecider::openChanged(const PlanChoices &choices) {
  for (Node &node : nodes) {
    unsigned char now = (choices.forced.contains(node.op) ? 1 : 0) |
                        (choices.carried.contains(node.op) ? 2 : 0) |
                        (choices.passing.contains(node.op) ? 4 : 0);
    if (now == node.choices)
      continue;
    node.choices = now;
    for (State &state : node.rounds)
      state.isOpen = true;
  }
}

const BufferDecider::Roots *BufferDecider::onlyRoot(Operation *op) {
  const Roots *&roots = onlyRoots[op];
  if (!roots) {
    sets.emplace_back();
    sets.back().insert(op);
    roots = &sets.back();
  }
  return roots;
}

const BufferDecider::Roots *BufferDecider::collectRoots(const Node &node,
                                                        unsigned round) {
  SmallVector<const Roots *, 4> parts;
  for (auto [user, number] : node.users) {
    const State *state = number >= 0 ? &nodes[number].rounds[round] : nullptr;
    bool isInline =
        state && !state->isBuffer() && !nodes[number].isReadInPieces;
    const Roots *part = isInline ? state->roots : onlyRoot(user);
    if (!part->empty() && !llvm::is_contained(parts, part))
      parts.push_back(part);
  }
  if (parts.empty())
    return &noRoots;
  if (parts.size() == 1)
    return parts.front();
  Roots all = *parts.front();
  for (const Roots *part : ArrayRef(parts).drop_front())
    all.insert_range(*part);
  for (const Roots *same : {parts.front(), node.rounds[round].roots})
    if (same && *same == all)
      return same;
  sets.push_back(std::move(all));
  return &sets.back();
}

void BufferDecider::decide(Node &node, unsigned round) {
  State &state = node.rounds[round];
  state.isOpen = false;
  const Roots *roots = collectRoots(node, round);
  bool isSame = state.roots && (roots == state.roots || *roots == *state.roots);
  if (!isSame)
    state.roots = roots;
  bool wasBuffer = state.isBuffer();
  bool isLast = round == 1 && node.breaksChain;
  state.why =
      node.isNever
          ? StringRef()
          : reasonFor(node, isLast ? node.cost : state.cost,
                      isLast ? node.blockCost : state.blockCost, *roots);
  bool isOther = state.isBuffer() != wasBuffer;
  if (isSame && !isOther)
    return;
  for (unsigned use : node.uses)
    nodes[use].rounds[round].isOpen = true;
  if (isOther && round == 0)
    for (auto [user, number] : node.users)
      if (number >= 0)
        nodes[number].rounds[1].isCostOpen = true;
}

StringRef BufferDecider::reasonFor(const Node &node, int64_t cost,
                                   int64_t blockCost, const Roots &roots) {
  Operation *op = node.op;
  bool isForced = node.choices & 1, isCarried = node.choices & 2,
       isPassing = node.choices & 4;
  // Elements of another step of the loop: computed again if that is cheap.
  if (node.isAlways || (node.isReadFar && (lanes.contains(op) || cost > cheap)))
    return "what uses it wants all of it in memory";
  if (node.isInPieces &&
      !(node.isReadInPieces && llvm::all_of(roots, isStoreOfBlock)))
    return "it is copied by pieces of rows";
  if (cost > cheap && !isPassing && !lanes.areShared(op, roots) &&
      pieces.isInSeveralLoops(op, roots)) {
    if (blockCost > cheap)
      return "it is costly, and several loops use it";
    keepWhatIsBroadcast(node);
  }
  if (node.isKeptForBlocks)
    return "several loops compute blocks of it";
  if (cost > cheap && node.isRepeated && !pieces.isOnlyInPieces(op, roots))
    return "it is costly, and each element is used several times";
  if (node.liesApart)
    return "its elements lie apart, and each is used several times";
  // What is broadcast is kept instead: it is smaller.
  if (cost > trivial && !isa<linalg::BroadcastOp>(op) &&
      llvm::any_of(roots, [&](Operation *root) { return isDeeper(root, op); }))
    return "each iteration of a loop uses it";
  if (isForced)
    return "the memory that it is read from may change before it is used";
  if (isCarried)
    return "a loop carries it, and other loops read what it is computed from";
  return {};
}

void BufferDecider::report() {
  if (!Decision::isWanted(func.getContext()))
    return;
  for (const Node &node : nodes) {
    const State &state = node.rounds[1];
    auto type = dyn_cast<RankedTensorType>(node.op->getResult(0).getType());
    if (!state.isBuffer() || !type || !type.hasStaticShape())
      continue;
    Decision(node.op->getLoc(), "kept")
        .fact("shape", type.getShape())
        .fact("reason", state.why)
        .report(shapeText(type.getShape(), type.getElementType()) +
                " in scratch memory: " + state.why);
  }
}

bool BufferDecider::update(PassingTensors &tensors) const {
  bool changed = false;
  for (const Node &node : nodes)
    if (node.rounds[1].isBuffer() || tensors.contains(node.op))
      changed |= tensors.update(node.op, node.rounds[1].roots->getArrayRef());
  return changed;
}

SmallVector<Operation *> BufferDecider::findClobbered(Writes &writes,
                                                      GuardedReads &guarded) {
  SmallVector<Operation *> result;
  for (const Node &node : nodes) {
    const State &state = node.rounds[1];
    if (!node.read || state.isBuffer())
      continue;
    bool isClobbered = llvm::any_of(*state.roots, [&](Operation *root) {
      return writes.mayChange(node.read, root);
    });
    if (isClobbered &&
        !guarded.add(node.op, state.roots->getArrayRef(), writes))
      result.push_back(node.op);
  }
  return result;
}
