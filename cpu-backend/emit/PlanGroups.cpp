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

namespace {
class Grouper {
public:
  explicit Grouper(func::FuncOp func) : builder(func.getContext()) {}

  void visit(Block &block) {
    close();
    for (Operation &op : block) {
      if (isNest(&op)) {
        if (!joins(&op))
          close();
        group.push_back(&op);
        continue;
      }
      bool quiet = kindOf(&op) == OpKind::Inlineable && !isPlannedBuffer(&op);
      // A scalar that is loaded is loaded before the group's loops.
      if (kindOf(&op) == OpKind::Scalar && op.getNumRegions() == 0 &&
          !mayWrite(&op))
        quiet = !mayRead(&op) || llvm::none_of(group, mayWrite);
      if (auto extract = dyn_cast<tensor::ExtractOp>(op))
        quiet = !reachesGroup(extract.getTensor());
      if (!quiet)
        close();
      for (Region &region : op.getRegions())
        if (isa<scf::SCFDialect>(op.getDialect()))
          for (Block &inner : region)
            visit(inner);
    }
    close();
  }

private:
  static bool isNest(Operation *op) {
    if (kindOf(op) == OpKind::NestRoot)
      return true;
    return kindOf(op) == OpKind::Inlineable && isPlannedBuffer(op) &&
           !isa<tensor::InsertSliceOp, tensor::ExpandShapeOp,
                tensor::CollapseShapeOp, arith::ConstantOp>(op);
  }

  static ArrayRef<int64_t> shapeOf(Operation *op) {
    if (isa<tensor::InsertSliceOp, tensor::PadOp>(op))
      return cast<RankedTensorType>(op->getResult(0).getType()).getShape();
    return cast<RankedTensorType>(rootOperands(op).front().getType())
        .getShape();
  }

  static SmallVector<int64_t> reducedBy(Operation *op) {
    if (isa<linalg::ReduceOp, linalg_ext::ReduceOp>(op))
      return reduceDimensions(op);
    return {};
  }

  bool reachesGroup(Value tensor) {
    bool reaches = false;
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    walkInline(tensor, Indices(type.getRank()),
               [&](Value value, ArrayRef<Index>) {
                 reaches |= llvm::is_contained(group, value.getDefiningOp());
                 return !reaches;
               });
    return reaches;
  }

  /// The loops of `root` compute such an op.
  static bool computes(Operation *root,
                       function_ref<bool(Operation *)> isWanted) {
    bool found = false;
    for (Value operand : rootOperands(root)) {
      auto type = cast<RankedTensorType>(operand.getType());
      walkInline(
          operand, Indices(type.getRank()),
          [&](Value value, ArrayRef<Index>) {
            Operation *def = value.getDefiningOp();
            found |=
                def && isWanted(def) && (def == root || !isPlannedBuffer(def));
            return !found;
          },
          root);
    }
    return found;
  }

  static bool gathers(Operation *root) {
    return computes(root, [](Operation *op) {
      return isa<linalg_ext::GatherOp>(op) && tableSizeOf(op) == 0;
    });
  }

  bool joins(Operation *op) {
    if (group.empty())
      return false;
    // The loop of a scan carries nothing else.
    auto scans = [](Operation *root) { return computes(root, isStreamedScan); };
    if (scans(op) || llvm::any_of(group, scans))
      return false;
    // Two views of one tensor: what is an element here is another one there.
    if (shapeOf(op) != shapeOf(group.front()) || shapeOf(op).empty() ||
        group.size() >= 8)
      return false;
    SmallVector<int64_t> reduced = reducedBy(op);
    for (Operation *other : group) {
      SmallVector<int64_t> theirs = reducedBy(other);
      if (!reduced.empty() && !theirs.empty() && reduced != theirs)
        return false;
    }
    Operation *firstStore = nullptr;
    for (Operation *other : group)
      if (!firstStore && mayWrite(other))
        firstStore = other;
    bool fits = true;
    // Ranges of gathered elements are not known: nothing guards them against
    // stores of their nest.
    if (mayWrite(op) || firstStore) {
      fits = !gathers(op);
      for (Operation *other : group)
        fits &= !gathers(other);
    }
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

  static bool mayReadAfter(Operation *def, Value value, Operation *store) {
    Operation *read = def;
    if (auto load = matchLoad(value))
      read = load->read;
    else if (!mayRead(def))
      return false;
    Operation *ancestor = store->getBlock()->findAncestorOpInBlock(*read);
    return ancestor && store->isBeforeInBlock(ancestor);
  }

  void close() {
    if (group.size() > 1)
      for (Operation *op : group)
        op->setAttr(nestAttr, builder.getI64IntegerAttr(next));
    next += group.size() > 1;
    group.clear();
  }

  OpBuilder builder;
  SmallVector<Operation *> group;
  int64_t next = 0;
};
} // namespace

void tilebridge::cpu::decideGroups(func::FuncOp func) {
  Grouper grouper(func);
  for (Block &block : func.getBody())
    grouper.visit(block);
}
