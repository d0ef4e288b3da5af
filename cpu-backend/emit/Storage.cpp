//===- Storage.cpp - tensors that take each other's place --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A buffer that is computed from the last use of another one, in place, is that
// one: the accumulator of a matmul, the target of an inserted slice, what a
// loop carries, and what loops inside of it carry on.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/PlanGroups.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge::cpu;

namespace {
class StorageFinder {
public:
  StorageFinder(const Plan &plan, llvm::DenseMap<Value, Value> &storages)
      : plan(plan), storages(storages) {}

  void run(func::FuncOp func) {
    func.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        for (auto [argument, yielded] :
             llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()))
          carry(argument, yielded, loop.getBody());
      else if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
        for (Region &region : op->getRegions())
          if (!region.empty())
            for (auto [result, yielded] :
                 llvm::zip_equal(op->getResults(),
                                 region.front().getTerminator()->getOperands()))
              fill(result, yielded, &region.front());
    });
    func.walk([&](Operation *op) {
      if (Value init = initOf(op))
        if (isFresh(op->getResult(0)) && init.hasOneUse() && hasBuffer(init) &&
            init.getDefiningOp() &&
            init.getDefiningOp()->getBlock() == op->getBlock())
          storages[op->getResult(0)] = plan.storageOf(init);
    });
  }

private:
  /// What is updated in place to give the op's result.
  static Value initOf(Operation *op) {
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      return matchLoad(insert) ? Value() : Value(insert.getDest());
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (linalgOp && kindOf(op) == OpKind::OwnRoot && op->getNumResults() == 1)
      return linalgOp.getDpsInits()[0];
    return {};
  }

  bool hasBuffer(Value value) const {
    Operation *op = value.getDefiningOp();
    if (!op || isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      return false;
    return plan.isBuffer(value) || initOf(op);
  }

  bool isFresh(Value value) const { return !storages.count(value); }

  /// `yielded`, and what it is updated in place from, up to the first one.
  SmallVector<Value> chain(Value yielded, Block *block) const {
    SmallVector<Value> result;
    Value at = yielded;
    while (at && at.getDefiningOp() &&
           at.getDefiningOp()->getBlock() == block && isFresh(at) &&
           hasBuffer(at)) {
      result.push_back(at);
      at = initOf(at.getDefiningOp());
      if (at && !at.hasOneUse())
        break;
    }
    return result;
  }

  static bool isYieldedOnce(Value value, Block *block) {
    return llvm::count(block->getTerminator()->getOperands(), value) == 1;
  }

  void fill(Value result, Value yielded, Block *block) {
    if (!isa<RankedTensorType>(result.getType()) ||
        !isYieldedOnce(yielded, block))
      return;
    for (Value value : chain(yielded, block))
      storages[value] = plan.storageOf(result);
  }

  /// A loop inside begins with `argument`, and gives what the next iteration
  /// does.
  bool carryThrough(Value argument, Value yielded, Block *block) {
    auto inner = yielded.getDefiningOp<scf::ForOp>();
    if (!inner || inner->getBlock() != block || !argument.hasOneUse() ||
        !yielded.hasOneUse())
      return false;
    auto result = cast<OpResult>(yielded);
    Value carried = inner.getTiedLoopRegionIterArg(result);
    if (inner.getTiedLoopInit(result)->get() != argument || !isFresh(carried))
      return false;
    storages[carried] = plan.storageOf(argument);
    return true;
  }

  void carry(Value argument, Value yielded, Block *block) {
    if (!isa<RankedTensorType>(argument.getType()) ||
        !isYieldedOnce(yielded, block) ||
        carryThrough(argument, yielded, block))
      return;
    SmallVector<Value> values = chain(yielded, block);
    // The longest part whose first value may already overwrite the argument.
    while (!values.empty() &&
           !isLastUse(argument, values.back().getDefiningOp(), block))
      values.erase(values.end() - 1);
    // A value in the middle would be copied into place from what stays apart.
    for (Value value : values)
      storages[value] = plan.storageOf(argument);
  }

  /// Nothing reads `argument` after `op` is emitted, and `op` itself only in
  /// place.
  bool isLastUse(Value argument, Operation *op, Block *block) const {
    ArrayRef<Operation *> group = plan.groupOf(op);
    Operation *place = group.empty() ? op : group.back();
    for (Operation &other : *block) {
      bool together = &other == op || llvm::is_contained(group, &other);
      if (!together && other.isBeforeInBlock(place))
        continue;
      if (kindOf(&other) == OpKind::Inlineable &&
          !plan.isBuffer(other.getResult(0)))
        continue;
      if (!together) {
        bool reads = false;
        other.walk([&](Operation *inner) {
          for (Value operand : inner->getOperands())
            reads |= reaches(operand, argument, nullptr, nullptr);
        });
        if (reads)
          return false;
        continue;
      }
      Value init = initOf(&other);
      for (Value operand : other.getOperands()) {
        if (!isa<RankedTensorType>(operand.getType()))
          continue;
        bool inPlace = operand == init || (!init && isElementwise(&other));
        Indices identity = identityIndices(
            cast<RankedTensorType>(operand.getType()).getRank());
        if (reaches(operand, argument, nullptr, inPlace ? &identity : nullptr))
          return false;
      }
    }
    return true;
  }

  /// Computing `tensor` reads `argument` (elsewhere than at `allowed`).
  static bool reaches(Value tensor, Value argument, Operation *root,
                      const Indices *allowed) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    if (!type)
      return false;
    bool found = false;
    Indices at = allowed ? *allowed : Indices(type.getRank());
    walkInline(
        tensor, at,
        [&](Value value, ArrayRef<Index> indices) {
          if (value == argument)
            found |= !allowed || indices != ArrayRef<Index>(*allowed);
          return !found;
        },
        root);
    return found;
  }

  const Plan &plan;
  llvm::DenseMap<Value, Value> &storages;
};
} // namespace

void tilebridge::cpu::findStorages(func::FuncOp func, const Plan &plan,
                                   llvm::DenseMap<Value, Value> &storages) {
  StorageFinder(plan, storages).run(func);
}
