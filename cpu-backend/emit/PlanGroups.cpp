//===- PlanGroups.cpp - roots that share a nest ------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A nest is emitted where its last root stands. A root joins the open group
// when its loops are the same and nothing that it needs is only known after the
// group's loops.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/PlanGroups.h"
#include "cpu-backend/emit/MemoryTable.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/StreamScans.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

static bool isPlannedBuffer(Operation *op) {
  auto attr = op->getAttrOfType<StringAttr>(planAttr);
  return attr && attr.getValue() == "buffer";
}

Indices tilebridge::cpu::identityIndices(unsigned rank) {
  Indices indices(rank);
  for (unsigned d = 0; d < rank; ++d)
    indices[d].dim = d;
  return indices;
}

namespace {
/// A value that several others use is visited once for each place, else a chain
/// of such values would take a time exponential in its length.
class InlineWalk {
public:
  explicit InlineWalk(function_ref<bool(Value, ArrayRef<Index>)> visit)
      : visit(visit) {}

  void walk(Value tensor, ArrayRef<Index> indices, Operation *root) {
    if (!isa<RankedTensorType>(tensor.getType()))
      return;
    SmallVector<Indices, 1> &places = visited[tensor];
    if (llvm::any_of(places, [&](const Indices &place) {
          return ArrayRef<Index>(place) == indices;
        }))
      return;
    places.push_back(Indices(indices));
    if (!visit(tensor, indices))
      return;
    Operation *op = tensor.getDefiningOp();
    if (!op || kindOf(op) != OpKind::Inlineable ||
        (isPlannedBuffer(op) && op != root) ||
        isa<arith::ConstantOp, tensor::SplatOp, tensor::EmptyOp>(op))
      return;
    if (auto load = matchLoad(tensor)) {
      if (load->other)
        walk(load->other, indices, nullptr);
      return;
    }
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!type || !isRead(operand))
        continue;
      if (auto from = operandIndices(operand, indices, nullptr))
        walk(operand.get(), *from, nullptr);
      else // Irregular: any element.
        walk(operand.get(), Indices(type.getRank()), nullptr);
    }
  }

private:
  function_ref<bool(Value, ArrayRef<Index>)> visit;
  llvm::DenseMap<Value, SmallVector<Indices, 1>> visited;
};
} // namespace

void tilebridge::cpu::walkInline(
    Value tensor, ArrayRef<Index> indices,
    function_ref<bool(Value, ArrayRef<Index>)> visit, Operation *root) {
  InlineWalk(visit).walk(tensor, indices, root);
}

SmallVector<Value> tilebridge::cpu::rootOperands(Operation *root) {
  if (auto store = matchStore(root))
    return {store->tensor};
  if (auto store = dyn_cast<linalg_ext::MaskedStoreOp>(root))
    return {store.getValue(), store.getMask()};
  if (isa<linalg::ReduceOp, linalg_ext::ReduceOp>(root)) {
    SmallVector<Value> operands(reduceInputs(root));
    if (auto reduce = dyn_cast<linalg::ReduceOp>(root))
      llvm::append_range(operands, reduce.getInits());
    return operands;
  }
  return {root->getResults().begin(), root->getResults().end()};
}

Grouper::Grouper(func::FuncOp func) : builder(func.getContext()), func(func) {
  func.walk([](Operation *op) { op->removeAttr(nestAttr); });
  for (Block &block : func.getBody())
    add(block);
}

void Grouper::add(Block &block) {
  SmallVector<Place> here;
  for (Operation &op : block) {
    Place place{&op, kindOf(&op)};
    place.isNumber = place.kind == OpKind::Scalar && op.getNumRegions() == 0 &&
                     !mayWrite(&op);
    place.reads = place.isNumber && mayRead(&op);
    here.push_back(place);
    if (place.kind == OpKind::Control)
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          add(inner);
  }
  places[&block] = std::move(here);
}

void Grouper::run(const llvm::DenseSet<Operation *> &changed) {
  ++runs;
  for (Operation *op : changed)
    changedIn[op] = runs;
  next = 0;
  auto before = std::exchange(numbers, {});
  for (Block &block : func.getBody())
    visit(block);
  for (auto [op, number] : before)
    if (!numbers.contains(op))
      op->removeAttr(nestAttr);
  for (auto [op, number] : numbers)
    if (auto it = before.find(op); it == before.end() || it->second != number)
      op->setAttr(nestAttr, builder.getI64IntegerAttr(number));
}

void Grouper::visit(Block &block) {
  close();
  for (const Place &place : places.find(&block)->second) {
    Operation *op = place.op;
    bool isBuffer = place.kind == OpKind::Inlineable && isPlannedBuffer(op);
    bool isNest =
        place.kind == OpKind::NestRoot ||
        (isBuffer && !isa<tensor::InsertSliceOp, tensor::ExpandShapeOp,
                          tensor::CollapseShapeOp, arith::ConstantOp>(op));
    if (isNest) {
      if (!joins(op))
        close();
      group.push_back(op);
      continue;
    }
    bool quiet = place.kind == OpKind::Inlineable && !isBuffer;
    // A scalar that is loaded is loaded before the group's loops.
    if (place.isNumber)
      quiet = !place.reads || llvm::none_of(group, mayWrite);
    if (auto extract = dyn_cast<tensor::ExtractOp>(op))
      quiet = !reachesGroup(extract.getTensor());
    if (!quiet)
      close();
    if (place.kind == OpKind::Control)
      for (Region &region : op->getRegions())
        for (Block &inner : region)
          visit(inner);
  }
  close();
}

static ArrayRef<int64_t> shapeOf(Operation *op) {
  if (isa<tensor::InsertSliceOp, tensor::PadOp>(op))
    return cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  return cast<RankedTensorType>(rootOperands(op).front().getType()).getShape();
}

static SmallVector<int64_t> reducedBy(Operation *op) {
  if (isa<linalg::ReduceOp, linalg_ext::ReduceOp>(op))
    return reduceDimensions(op);
  return {};
}

bool Grouper::reachesGroup(Value tensor) {
  if (group.empty())
    return false;
  bool reaches = false;
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  walkInline(tensor, Indices(type.getRank()),
             [&](Value value, ArrayRef<Index>) {
               reaches |= llvm::is_contained(group, value.getDefiningOp());
               return !reaches;
             });
  return reaches;
}

bool Grouper::isSince(Operation *op, unsigned run) const {
  return changedIn.lookup(op) > run;
}

/// What the loops of `root` compute.
const Grouper::Computed &Grouper::computedBy(Operation *root) {
  Computed &computed = computedOf[root];
  if (computed.run != 0 && !isSince(root, computed.run))
    return computed;
  computed = {runs};
  for (Value operand : rootOperands(root)) {
    auto type = cast<RankedTensorType>(operand.getType());
    walkInline(
        operand, Indices(type.getRank()),
        [&](Value value, ArrayRef<Index>) {
          Operation *def = value.getDefiningOp();
          if (def && (def == root || !isPlannedBuffer(def))) {
            computed.scans |= isStreamedScan(def);
            computed.gathers |= isFarGather(def);
          }
          return true;
        },
        root);
  }
  return computed;
}

bool Grouper::isFarGather(Operation *op) {
  if (!isa<linalg_ext::GatherOp>(op))
    return false;
  auto [it, isNew] = farGathers.try_emplace(op);
  if (isNew)
    it->second = tableSizeOf(op) == 0 && !isReadInPieces(op);
  return it->second;
}

bool Grouper::joins(Operation *op) {
  if (group.empty())
    return false;
  Answer &answer = answers[op];
  bool isKnown = answer.run != 0 && answer.group == group &&
                 !isSince(op, answer.run) &&
                 llvm::none_of(group, [&](Operation *other) {
                   return isSince(other, answer.run);
                 });
  if (!isKnown)
    answer = {runs, group, fits(op)};
  return answer.fits;
}

static bool mayReadAfter(Operation *def, Value value, Operation *store) {
  Operation *read = def;
  if (auto load = matchLoad(value))
    read = load->read;
  else if (!mayRead(def))
    return false;
  Operation *ancestor = store->getBlock()->findAncestorOpInBlock(*read);
  return ancestor && store->isBeforeInBlock(ancestor);
}

bool Grouper::fits(Operation *op) {
  // Two views of one tensor: what is an element here is another one there.
  if (shapeOf(op) != shapeOf(group.front()) || shapeOf(op).empty() ||
      group.size() >= 8)
    return false;
  // The loop of a scan carries nothing else.
  auto scans = [&](Operation *root) { return computedBy(root).scans; };
  if (scans(op) || llvm::any_of(group, scans))
    return false;
  SmallVector<int64_t> reduced = reducedBy(op);
  for (Operation *other : group) {
    SmallVector<int64_t> theirs = reducedBy(other);
    if (!reduced.empty() && !theirs.empty() && reduced != theirs)
      return false;
  }
  const auto *firstWrite = llvm::find_if(group, mayWrite);
  Operation *firstStore = firstWrite == group.end() ? nullptr : *firstWrite;
  // Ranges of gathered elements are not known: nothing guards them against
  // stores of their nest.
  auto gathers = [&](Operation *root) { return computedBy(root).gathers; };
  if ((mayWrite(op) || firstStore) &&
      (gathers(op) || llvm::any_of(group, gathers)))
    return false;
  bool fits = true;
  for (Value operand : rootOperands(op)) {
    auto type = cast<RankedTensorType>(operand.getType());
    Indices identity = identityIndices(type.getRank());
    walkInline(
        operand, identity,
        [&](Value value, ArrayRef<Index> at) {
          Operation *def = value.getDefiningOp();
          if (!def)
            return fits;
          if (def != op && llvm::is_contained(group, def)) {
            // Another root's elements, at the same place of the loops, are at
            // hand.
            bool same = kindOf(def) == OpKind::Inlineable &&
                        at == ArrayRef<Index>(identity);
            fits &= same;
            return false;
          }
          // A read after the group's store must see what is stored.
          if (firstStore && mayReadAfter(def, value, firstStore))
            fits = false;
          return fits;
        },
        op);
  }
  // The address of a store may depend on a scalar that comes from the group;
  // then an op in between has closed the group already.
  return fits;
}

void Grouper::close() {
  if (group.size() > 1) {
    for (Operation *op : group)
      numbers[op] = next;
    ++next;
  }
  group.clear();
}
