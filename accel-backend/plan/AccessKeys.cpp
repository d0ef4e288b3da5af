//===- AccessKeys.cpp - which instances access the same memory ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/AccessKeys.h"

#include "accel-backend/dialect/AccelOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tilebridge::accel;

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

template <typename NumberT>
static void refineBy(Classes &classes, const std::vector<NumberT> &row) {
  llvm::DenseMap<std::pair<unsigned, int64_t>, unsigned> numbers;
  for (auto [instance, number] : llvm::enumerate(classes.of)) {
    auto key = std::pair(number, int64_t(row[instance]));
    number = numbers.try_emplace(key, numbers.size()).first->second;
  }
  classes.count = numbers.size();
}

void Classes::refine(const InstanceValues::Row &row) { refineBy(*this, row); }

void Classes::refine(const Classes &other) { refineBy(*this, other.of); }

//===----------------------------------------------------------------------===//
// AccessKeys
//===----------------------------------------------------------------------===//

struct AccessKeys::Slice {
  explicit Slice(size_t instances) : classes(instances) {}

  void add(Value value) {
    if (seen.insert(value).second)
      open.push_back(value);
  }
  void add(ValueRange values) {
    for (Value value : values)
      add(value);
  }

  Classes classes;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> open;
};

// Reading is no effect here: two instances that read the same place at about
// the same time read the same, unless another one writes there meanwhile,
// which only programs that wait for one another may do.
static bool changesNothing(Operation *op) {
  if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>()) {
    for (Region &region : op->getRegions())
      for (Operation &nested : region.getOps())
        if (!changesNothing(&nested))
          return false;
    if (!isa<MemoryEffectOpInterface>(op))
      return true;
  }
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return effects && (effects.hasNoEffect() ||
                     effects.onlyHasEffect<MemoryEffects::Read>());
}

bool AccessKeys::visit(Value value, Slice &slice) {
  if (const InstanceValues::Row *row = values.get(value)) {
    slice.classes.refine(*row);
    return true;
  }
  if (auto result = dyn_cast<OpResult>(value))
    return visitResult(result, slice);
  return visitArgument(cast<BlockArgument>(value), slice);
}

bool AccessKeys::visitResult(OpResult result, Slice &slice) {
  Operation *op = result.getOwner();
  unsigned number = result.getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    slice.add({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    slice.add(loop.getRegionIterArgs()[number]);
    return true;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    slice.add(branch.getCondition());
    slice.add(branch.thenYield().getOperand(number));
    slice.add(branch.elseYield().getOperand(number));
    return true;
  }
  if (auto branch = dyn_cast<scf::IndexSwitchOp>(op)) {
    slice.add(branch.getArg());
    for (Region *region : branch.getRegions())
      slice.add(region->front().getTerminator()->getOperand(number));
    return true;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    slice.add(loop.getInits());
    slice.add(loop.getConditionOp().getCondition());
    slice.add(loop.getConditionOp().getArgs()[number]);
    slice.add(loop.getYieldOp().getOperands());
    return true;
  }
  // What tells instances apart, and is not known.
  if (isa<ProgramOp, PeIdOp>(op) || !changesNothing(op))
    return false;
  slice.add(op->getOperands());
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  slice.add(captured.getArrayRef());
  return true;
}

bool AccessKeys::visitArgument(BlockArgument argument, Slice &slice) {
  Operation *parent = argument.getOwner()->getParentOp();
  // All instances are given the same arguments. Those that differ, program
  // ids, are seeded.
  if (parent == kernel)
    return true;
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    if (argument == loop.getInductionVar()) {
      slice.add({loop.getLowerBound(), loop.getStep()});
      return true;
    }
    slice.add(loop.getTiedLoopInit(argument)->get());
    slice.add(loop.getTiedLoopYieldedValue(argument)->get());
    return true;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    unsigned number = argument.getArgNumber();
    if (argument.getOwner() == loop.getAfterBody()) {
      slice.add(loop.getConditionOp().getArgs()[number]);
    } else {
      slice.add(loop.getInits()[number]);
      slice.add(loop.getYieldOp().getOperand(number));
    }
    return true;
  }
  return false;
}

bool AccessKeys::run(Slice &slice) {
  while (!slice.open.empty())
    if (!visit(slice.open.pop_back_val(), slice))
      return false;
  return true;
}

void AccessKeys::addControl(Operation *op, Slice &slice, Operation *even) {
  for (Operation *parent = op->getParentOp(); parent && parent != kernel;
       parent = parent->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      // A loop over turns, whose variable is seeded, runs for all of them.
      if (values.get(loop.getInductionVar()))
        continue;
      slice.add({loop.getLowerBound(), loop.getStep()});
      if (loop != even)
        slice.add(loop.getUpperBound());
    } else if (auto branch = dyn_cast<scf::IfOp>(parent)) {
      slice.add(branch.getCondition());
    } else if (auto branch = dyn_cast<scf::IndexSwitchOp>(parent)) {
      slice.add(branch.getArg());
    } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      slice.add(loop.getInits());
      slice.add(loop.getConditionOp().getCondition());
      slice.add(loop.getYieldOp().getOperands());
    }
  }
}

std::optional<Classes> AccessKeys::ofValues(ValueRange roots) {
  Slice slice(values.size());
  slice.add(roots);
  if (!run(slice))
    return std::nullopt;
  return slice.classes;
}

std::optional<Classes> AccessKeys::ofControl(Operation *op) {
  Slice slice(values.size());
  addControl(op, slice);
  if (!run(slice))
    return std::nullopt;
  return slice.classes;
}

std::optional<Classes> AccessKeys::ofAccess(Operation *op, ValueRange source,
                                            Operation *even) {
  Slice slice(values.size());
  slice.add(source);
  addControl(op, slice, even);
  if (!run(slice))
    return std::nullopt;
  return slice.classes;
}
