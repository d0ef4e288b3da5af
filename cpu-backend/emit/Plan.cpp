//===- Plan.cpp - decides which tensors are in memory ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Backwards through the function: the roots that would compute a value again
// are known when its turn comes. Costs assume that what is not decided yet is
// inline, so a second round runs with the first one's decisions.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/DecisionRemark.h"
#include "cpu-backend/emit/DirectOperands.h"
#include "cpu-backend/emit/MaskedRows.h"
#include "cpu-backend/emit/MemoryTable.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/PlanGroups.h"
#include "cpu-backend/emit/PlanLanes.h"
#include "cpu-backend/emit/PlanMasks.h"
#include "cpu-backend/emit/StreamScans.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

static constexpr int64_t loadCost = 2, gatherCost = 20;
/// A value that costs more than this is not computed twice.
static constexpr int64_t cheap = 7;
/// A value that costs more than this is not computed in each iteration of a
/// loop around its use.
static constexpr int64_t trivial = 3;

Plan::Plan(func::FuncOp func) {
  llvm::DenseMap<int64_t, Value> reads;
  func.walk([&](Operation *op) {
    if (auto nest = op->getAttrOfType<IntegerAttr>(nestAttr)) {
      nestOf[op] = nest.getInt();
      groups[nest.getInt()].push_back(op);
    }
    if (auto read = op->getAttrOfType<IntegerAttr>(readAttr))
      reads[read.getInt()] = op->getResult(0);
    // The loads are before the stores.
    if (auto numbers = op->getAttrOfType<DenseI64ArrayAttr>(guardsAttr))
      for (int64_t number : numbers.asArrayRef())
        guards[op].push_back(reads.lookup(number));
  });
  findStorages(func, *this, storages);
}

bool Plan::isBuffer(Value tensor) const {
  Operation *op = tensor.getDefiningOp();
  auto attr = op ? op->getAttrOfType<StringAttr>(planAttr) : nullptr;
  return attr && attr.getValue() == "buffer";
}

ArrayRef<Operation *> Plan::groupOf(Operation *op) const {
  auto it = nestOf.find(op);
  if (it == nestOf.end())
    return {};
  return groups.find(it->second)->second;
}

ArrayRef<Value> Plan::guardedBy(Operation *op) const {
  auto it = guards.find(op);
  return it == guards.end() ? ArrayRef<Value>() : ArrayRef(it->second);
}

Value Plan::storageOf(Value tensor) const {
  auto it = storages.find(tensor);
  return it == storages.end() ? tensor : it->second;
}

namespace {
class Decider {
public:
  Decider(func::FuncOp func, const llvm::DenseSet<Operation *> &forced,
          const CarriedTensors &carried, const PassingTensors &passing,
          const DirectOperands &direct)
      : func(func), forced(forced), carried(carried), passing(passing),
        direct(direct) {
    // Reads before their uses: the walk is in program order.
    func.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  }

  void run() {
    for (int round = 0; round < 2; ++round) {
      computeCosts();
      buffers.clear();
      roots.clear();
      for (Operation *op : llvm::reverse(ops))
        decide(op);
    }
    OpBuilder builder(func.getContext());
    for (Operation *op : ops) {
      op->removeAttr(nestAttr);
      if (kindOf(op) == OpKind::Inlineable)
        op->setAttr(planAttr, builder.getStringAttr(
                                  buffers.contains(op) ? "buffer" : "inline"));
    }
  }

  /// Leaves a remark for each buffer.
  void report() {
    if (!Decision::isWanted(func.getContext()))
      return;
    for (Operation *op : ops) {
      if (!buffers.contains(op))
        continue;
      auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
      if (!type || !type.hasStaticShape())
        continue;
      StringRef why = reasons.lookup(op);
      Decision(op->getLoc(), "kept")
          .fact("shape", type.getShape())
          .fact("reason", why)
          .report(shapeText(type.getShape(), type.getElementType()) +
                  " in scratch memory: " + why);
    }
  }

  /// Whether other tensors pass on what is kept; needs the groups.
  bool update(PassingTensors &tensors) const {
    bool changed = false;
    for (Operation *op : ops)
      if (buffers.contains(op) || passing.contains(op))
        changed |= tensors.update(op, roots.lookup(op).getArrayRef());
    return changed;
  }

  /// Loads that are inline although memory may change before they are computed,
  /// but for those that can be guarded.
  llvm::SmallVector<Operation *> findClobbered(GuardedReads &guarded) {
    llvm::SmallVector<Operation *> result;
    for (Operation *op : ops) {
      Operation *read = buffers.contains(op) ? nullptr : readOf(op);
      if (!read || isPartOfAccess(op))
        continue;
      if (llvm::any_of(
              roots[op],
              [&](Operation *root) { return isClobbered(read, root); }) &&
          !guarded.add(op, roots[op].getArrayRef()))
        result.push_back(op);
    }
    return result;
  }

private:
  void computeCosts() {
    for (Operation *op : ops) {
      if (kindOf(op) != OpKind::Inlineable)
        continue;
      int64_t cost = 0;
      if (op->getNumResults() == 1 && matchLoad(op->getResult(0)))
        cost = loadCost;
      else if (isReversal(op) || matchExchange(op))
        cost = 1;
      else if (isPick(op))
        cost = costOfPick(op);
      else if (isa<linalg_ext::GatherOp>(op))
        cost = costOfGather(op);
      else if (isa<linalg_ext::LinalgExtDialect>(op->getDialect()))
        cost = gatherCost;
      else if (isElementwise(op))
        cost = costOfBody(op);
      for (OpOperand &operand : op->getOpOperands()) {
        if (!isRead(operand))
          continue;
        Operation *from = operand.get().getDefiningOp();
        if (from && isa<RankedTensorType>(operand.get().getType()))
          cost += buffers.contains(from) ? 1 : costs.lookup(from);
      }
      lanes.add(op);
      masks.add(op);
      if (Operation *mask = masks.ofLoad(op); mask && cost > cheap)
        cost -= std::min(costs.lookup(mask), cheap);
      costs[op] = std::min<int64_t>(cost, 1 << 20);
    }
  }

  /// The ops whose loops compute `op` when it is inline.
  void collectRoots(Operation *op, llvm::SetVector<Operation *> &result) {
    for (Operation *user : op->getUsers()) {
      if (kindOf(user) == OpKind::Inlineable && !buffers.contains(user)) {
        auto &further = roots[user];
        result.insert(further.begin(), further.end());
      } else {
        result.insert(user);
      }
    }
  }

  static bool isDeeper(Operation *root, Operation *op) {
    for (Operation *at = root->getParentOp(); at && at != op->getParentOp();
         at = at->getParentOp())
      if (isa<scf::ForOp, scf::WhileOp>(at))
        return true;
    return false;
  }

  /// A write may happen between the read `from` and the place where `root` is
  /// emitted. What is in one nest with the root is left out: emission guards
  /// against that, if it can.
  static bool isClobbered(Operation *from, Operation *root) {
    // The range of single elements is not known before they are read, if they
    // are none of a small table.
    bool canGuard = !isa<linalg_ext::GatherOp>(from) || tableSizeOf(from) > 0;
    auto writes = [&](Operation *op) {
      return mayWrite(op) && !(canGuard && isOneNest(op, root));
    };
    Operation *ancestor = from->getBlock()->findAncestorOpInBlock(*root);
    if (!ancestor)
      return true;
    for (Operation *at = from->getNextNode(); at && at != ancestor;
         at = at->getNextNode())
      if (writes(at))
        return true;
    if (ancestor == root)
      return mayWrite(root) && (kindOf(root) == OpKind::OwnRoot || !canGuard);
    if (isDeeper(root, from))
      return mayWrite(ancestor);
    return anyInside(ancestor, [&](Operation *inner) {
      return inner != root && inner->getNumRegions() == 0 && writes(inner);
    });
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
  static bool liesApart(Operation *op) {
    auto load =
        op->getNumResults() == 1 ? matchLoad(op->getResult(0)) : std::nullopt;
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!load ||
        failed(cast<MemRefType>(load->read.getBuffer().getType())
                   .getStridesAndOffset(strides, offset)) ||
        strides.empty())
      return false;
    return ShapedType::isDynamic(strides.back()) ||
           std::abs(strides.back()) > 1;
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

  /// The emission of `user` wants all of this operand in memory.
  bool needsMemory(Value value, Operation *user) const {
    if (direct.inner.contains(user))
      return false;
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user) &&
        !isComputedReshape(user))
      return true;
    // Elements of another step of the loop: computed again if that is cheap.
    if (auto exchange = matchExchange(user))
      return !exchange->isNear() &&
             (lanes.contains(value.getDefiningOp()) ||
              costs.lookup(value.getDefiningOp()) > cheap);
    return (isa<linalg_ext::ScanOp>(user) && !isStreamedScan(user)) ||
           (isPick(user) && value == user->getOperand(0));
  }

  bool mustBeBuffer(Operation *op) {
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      return !isComputedReshape(op) || isPickedFrom(op->getResult(0));
    if (isa<tensor::InsertSliceOp>(op))
      return !matchLoad(op->getResult(0));
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return !isa<SplatElementsAttr>(constant.getValue());
    // A matmul reads a load where it lies, seen through transposes.
    bool inPlace = isShapeOfMemory(op) || matchLoad(op->getResult(0));
    return llvm::any_of(op->getResults(), [&](Value result) {
      // Rows that a mask chooses are computed where they are packed.
      if (!inPlace && isMatmulInput(result) && !maskedProductOf(result))
        return true;
      return llvm::any_of(result.getUsers(), [&](Operation *user) {
        return needsMemory(result, user);
      });
    });
  }

  static bool isPartOfAccess(Operation *op) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    return !type || !type.hasStaticShape();
  }

  void decide(Operation *op) {
    if (kindOf(op) != OpKind::Inlineable)
      return;
    llvm::SetVector<Operation *> all;
    collectRoots(op, all);
    roots[op] = all;
    if (isa<tensor::EmptyOp>(op) || isPartOfAccess(op))
      return;
    if (direct.inner.contains(op))
      return;
    int64_t cost = costs.lookup(op);
    StringRef why;
    if (mustBeBuffer(op) || lanes.areMixed(op) || direct.kept.contains(op))
      why = "what uses it wants all of it in memory";
    else if (isCutIntoPieces(op))
      why = "it is copied by pieces of rows";
    else if (cost > cheap && !passing.contains(op) &&
             !lanes.areShared(op, all) && isInSeveralLoops(op, all))
      why = "it is costly, and several loops use it";
    else if (cost > cheap && !isOnlyInPieces(op, all) &&
             llvm::any_of(op->getResults(), [&](Value result) {
               return llvm::any_of(result.getUsers(), [&](Operation *user) {
                 return isRepeated(result, user);
               });
             }))
      why = "it is costly, and each element is used several times";
    else if (liesApart(op) &&
             llvm::any_of(op->getResult(0).getUsers(), [&](Operation *user) {
               return isRepeated(op->getResult(0), user);
             }))
      why = "its elements lie apart, and each is used several times";
    // What is broadcast is kept instead: it is smaller.
    else if (cost > trivial && !isa<linalg::BroadcastOp>(op) &&
             llvm::any_of(all,
                          [&](Operation *root) { return isDeeper(root, op); }))
      why = "each iteration of a loop uses it";
    else if (forced.contains(op))
      why = "the memory that it is read from may change before it is used";
    else if (carried.contains(op))
      why = "a loop carries it, and other loops read what it is computed from";
    if (why.empty())
      return;
    buffers.insert(op);
    reasons[op] = why;
  }

  func::FuncOp func;
  const llvm::DenseSet<Operation *> &forced;
  const CarriedTensors &carried;
  const PassingTensors &passing;
  const DirectOperands &direct;
  SmallVector<Operation *> ops;
  llvm::DenseMap<Operation *, int64_t> costs;
  PlaceMasks masks;
  ExchangedLanes lanes;
  llvm::DenseSet<Operation *> buffers;
  llvm::DenseMap<Operation *, llvm::SetVector<Operation *>> roots;
  /// Why a buffer is one.
  llvm::DenseMap<Operation *, StringRef> reasons;
};
} // namespace

void tilebridge::cpu::decidePlan(func::FuncOp func) {
  sinkScalars(func);
  findStreamedScans(func);
  DirectOperands direct;
  findDirectOperands(func, direct);
  // Which loads are clobbered depends on which stores share a nest, and that on
  // what is inline.
  llvm::DenseSet<Operation *> forced;
  CarriedTensors carried(func);
  PassingTensors passing;
  while (true) {
    Decider decider(func, forced, carried, passing, direct);
    decider.run();
    decideGroups(func);
    if (carried.drop(func) || decider.update(passing))
      continue;
    GuardedReads guarded;
    auto clobbered = decider.findClobbered(guarded);
    if (clobbered.empty()) {
      guarded.write(func);
      return decider.report();
    }
    forced.insert(clobbered.begin(), clobbered.end());
  }
}
