//===- Readings.cpp - what a kernel loads, and for whom -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/Readings.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace tilebridge::accel;

// More programs are not evaluated: their numbers would not fit the cache.
static constexpr int64_t mostPrograms = 1 << 20;

FailureOr<std::optional<Target>> tilebridge::accel::targetOf(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto name =
      module ? module->getAttrOfType<StringAttr>(targetAttr) : StringAttr();
  if (!name)
    return std::optional<Target>();
  llvm::Expected<Target> target = findTarget(name.getValue());
  if (!target)
    return op->emitError(llvm::toString(target.takeError()));
  return std::optional<Target>(std::move(*target));
}

std::optional<Grids>
tilebridge::accel::gridsOf(func::FuncOp kernel,
                           const std::optional<Target> &target) {
  auto launch = kernel->getAttrOfType<DenseI64ArrayAttr>(gridAttr);
  if (!target || !launch || launch.size() != 3)
    return std::nullopt;
  return Grids{target->grid.rows,
               target->grid.columns,
               {launch[0], launch[1], launch[2]}};
}

BlockArgument tilebridge::accel::rootOf(Value view) {
  while (Operation *op = view.getDefiningOp()) {
    auto viewOp = dyn_cast<ViewLikeOpInterface>(op);
    if (!viewOp)
      return nullptr;
    view = viewOp.getViewSource();
  }
  return cast<BlockArgument>(view);
}

const Memory &tilebridge::accel::memoryOf(Value pointer, const Target &target) {
  if (BlockArgument root = rootOf(pointer))
    if (auto kernel = dyn_cast<func::FuncOp>(root.getOwner()->getParentOp()))
      if (auto placed = kernel.getArgAttrOfType<StringAttr>(root.getArgNumber(),
                                                            placedAttr))
        if (const Memory *memory = target.findMemory(placed.getValue()))
          return *memory;
  return target.tensorMemory(0);
}

StringRef tilebridge::accel::nameOfMemory(Value side, const Target &target) {
  auto type = cast<MemRefType>(side.getType());
  auto space = dyn_cast_or_null<MemoryAttr>(type.getMemorySpace());
  if (!space)
    return memoryOf(side, target).name;
  return space.getName() == localMemory ? StringRef(target.localMemory().name)
                                        : space.getName().getValue();
}

const DmaEngine *
tilebridge::accel::loadingEngine(func::FuncOp kernel,
                                 const std::optional<Target> &target) {
  if (!target)
    return nullptr;
  const DmaEngine *found = nullptr;
  kernel.walk([&](CopyOp copy) {
    if (isInChipMemory(copy.getSource().getType()))
      found = target->findEngine(memoryOf(copy.getSource(), *target).name,
                                 target->localMemory().name);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

SmallVector<Value> tilebridge::accel::sourceOf(CopyOp copy) {
  SmallVector<Value> values{copy.getSource()};
  for (Value optional : {copy.getRows(), copy.getMask()})
    if (optional)
      values.push_back(optional);
  return values;
}

double tilebridge::accel::bytesOf(Type block) {
  auto type = cast<ShapedType>(block);
  double bits = type.getElementTypeBitWidth();
  for (int64_t size : type.getShape())
    bits *= ShapedType::isDynamic(size) ? 1 : double(size);
  return bits / 8;
}

double tilebridge::accel::timesRun(Operation *op, Operation *within) {
  double times = 1;
  for (Operation *parent = op->getParentOp(); parent && parent != within;
       parent = parent->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      std::optional<APInt> count = loop.getStaticTripCount();
      times *= count ? double(count->getZExtValue()) : 8;
    } else if (isa<scf::WhileOp>(parent)) {
      times *= 8;
    }
  }
  return times;
}

SmallVector<Reading> tilebridge::accel::readingsOf(func::FuncOp kernel,
                                                   const Grids &grids) {
  SmallVector<Reading> readings;
  if (grids.programs() > mostPrograms)
    return readings;
  InstanceValues values(grids.programs());
  unsigned first = kernel.getNumArguments() - 6;
  int64_t apart = 1;
  for (unsigned d = 0; d < 3; ++d) {
    InstanceValues::Row ids(values.size());
    for (auto [program, id] : llvm::enumerate(ids))
      id = int64_t(program) / apart % grids.launch[d];
    apart *= grids.launch[d];
    values.seed(kernel.getArgument(first + d), std::move(ids));
    values.seed(kernel.getArgument(first + 3 + d),
                InstanceValues::Row(values.size(), grids.launch[d]));
  }
  AccessKeys keys(kernel, values);
  // PEs that add to the same elements can combine them before.
  kernel.walk([&](AtomicOp atomic) {
    if (atomic->getNumResults() && !atomic->use_empty())
      return;
    SmallVector<Value> place{atomic.getBase(), atomic.getOffsets()};
    if (Value mask = atomic.getMask())
      place.push_back(mask);
    std::optional<Classes> classes = keys.ofAccess(atomic, place);
    if (classes && isa<ShapedType>(atomic.getOffsets().getType()) &&
        atomic.getValues())
      readings.push_back(
          {std::move(*classes), 2 * bytesOf(atomic.getValues().getType()) *
                                    timesRun(atomic, kernel)});
  });
  kernel.walk([&](CopyOp copy) {
    if (!isInChipMemory(copy.getSource().getType()))
      return;
    std::optional<Classes> classes = keys.ofAccess(copy, sourceOf(copy));
    if (classes)
      readings.push_back(
          {std::move(*classes),
           bytesOf(copy.getDest().getType()) * timesRun(copy, kernel)});
  });
  return readings;
}
