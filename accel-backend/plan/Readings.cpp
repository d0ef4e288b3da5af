//===- Readings.cpp - what a kernel loads, and for whom -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/Readings.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include <cmath>

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
  if (!target) {
    std::string message = llvm::toString(target.takeError());
    StringRef text = message;
    text.consume_front("error: ");
    return op->emitError(text);
  }
  return std::optional<Target>(std::move(*target));
}

std::optional<Grids>
tilebridge::accel::gridsOf(func::FuncOp kernel,
                           const std::optional<Target> &target) {
  auto launch = kernel->getAttrOfType<DenseI64ArrayAttr>(gridAttr);
  if (!target || !launch || launch.size() != 3)
    return std::nullopt;
  return Grids{target->grid.rows, target->grid.columns,
               merged({launch[0], launch[1], launch[2]}, mergeOf(kernel))};
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

const DmaEngine *tilebridge::accel::loadingEngine(func::FuncOp kernel,
                                                  const Target &target) {
  const DmaEngine *found = nullptr;
  kernel.walk([&](CopyOp copy) {
    if (isInChipMemory(copy.getSource().getType()))
      found = target.findEngine(memoryOf(copy.getSource(), target).name,
                                target.localMemory().name);
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

static std::optional<CombiningKind> kindOf(AtomicAction action) {
  switch (action) {
  case AtomicAction::Add:
  case AtomicAction::FAdd:
    return CombiningKind::Add;
  case AtomicAction::Max:
    return CombiningKind::Max;
  case AtomicAction::Min:
    return CombiningKind::Min;
  case AtomicAction::UMax:
    return CombiningKind::UMax;
  case AtomicAction::UMin:
    return CombiningKind::UMin;
  case AtomicAction::And:
    return CombiningKind::And;
  case AtomicAction::Or:
    return CombiningKind::Or;
  case AtomicAction::Xor:
    return CombiningKind::Xor;
  default:
    return std::nullopt;
  }
}

// The block that a box is cut from, if it is.
static Value blockOf(Value part) {
  if (auto slice = part.getDefiningOp<tensor::ExtractSliceOp>())
    return slice.getSource();
  // Of a buffer with static sizes, all of them are the block's.
  auto view = part.getDefiningOp<memref::SubViewOp>();
  if (view && !view.getType().hasStaticShape())
    return view.getSource();
  return part;
}

std::optional<Combination> tilebridge::accel::combinationOf(Operation *op) {
  if (auto atomic = dyn_cast<AtomicOp>(op)) {
    std::optional<CombiningKind> kind = kindOf(atomic.getAction());
    bool isRead = atomic->getNumResults() && !atomic->use_empty();
    if (!kind || isRead)
      return std::nullopt;
    Combination result{
        *kind, atomic.getValues(), {atomic.getBase(), atomic.getOffsets()}};
    if (Value mask = atomic.getMask())
      result.place.push_back(mask);
    return result;
  }
  auto copy = dyn_cast<CopyOp>(op);
  if (!copy || !copy.getAccumulate() || copy.getRows() ||
      !isInChipMemory(copy.getDest().getType()))
    return std::nullopt;
  Combination result{
      *copy.getAccumulate(), blockOf(copy.getSource()), {copy.getDest()}};
  if (Value mask = copy.getMask())
    result.place.push_back(mask);
  // Which part of the block it is matters as well.
  if (Operation *box = copy.getSource().getDefiningOp();
      box && result.values != copy.getSource())
    llvm::append_range(result.place, box->getOperands().drop_front());
  return result;
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

// A class of programs that are run as one: each of them in turn. Where they all
// read the same, it is read once.
static Reading readingOf(const Classes &classes, double bytes,
                         const Grids &grids, const Grids &whole,
                         const Merge &merge) {
  if (merge == unmerged)
    return {classes, bytes, std::nullopt};
  Classes together(grids.programs());
  double reads = 1;
  std::vector<int64_t> first;
  for (int64_t number = 0; number < countOf(merge); ++number) {
    std::vector<int64_t> row;
    for (int64_t program = 0; program < grids.programs(); ++program) {
      int64_t position = program, part = number, place = 0, apart = 1;
      for (unsigned d = 0; d < 3; ++d) {
        int64_t id = position % grids.launch[d] * merge[d] + part % merge[d];
        place += std::min(id, whole.launch[d] - 1) * apart;
        apart *= whole.launch[d];
        position /= grids.launch[d];
        part /= merge[d];
      }
      row.push_back(classes.of[place]);
    }
    together.refine(row);
    if (!number)
      first = std::move(row);
    else if (row != first)
      ++reads;
  }
  return {std::move(together), bytes * reads, std::nullopt};
}

static std::optional<EvenReading> evenReadingOf(CopyOp copy, AccessKeys &keys,
                                                InstanceValues &values) {
  auto loop = dyn_cast<scf::ForOp>(copy->getParentOp());
  if (!loop || loop.getUnsignedCmp())
    return std::nullopt;
  const InstanceValues::Row *lower = values.get(loop.getLowerBound());
  const InstanceValues::Row *upper = values.get(loop.getUpperBound());
  const InstanceValues::Row *stride = values.get(loop.getStep());
  if (!lower || !upper || !stride || llvm::all_equal(*upper))
    return std::nullopt;
  std::optional<Classes> classes = keys.ofAccess(copy, sourceOf(copy), loop);
  if (!classes)
    return std::nullopt;
  EvenReading even{std::move(*classes), {}};
  for (auto [begin, end, step] : llvm::zip_equal(*lower, *upper, *stride)) {
    if (step <= 0)
      return std::nullopt;
    double distance = double(end) - double(begin);
    even.iterations.push_back(std::max(0.0, std::ceil(distance / step)));
  }
  return even;
}

SmallVector<Reading> tilebridge::accel::readingsOf(func::FuncOp kernel,
                                                   const Grids &grids) {
  SmallVector<Reading> readings;
  Merge merge = mergeOf(kernel);
  Grids whole = grids;
  if (auto launch = kernel->getAttrOfType<DenseI64ArrayAttr>(gridAttr))
    whole.launch = {launch[0], launch[1], launch[2]};
  if (whole.programs() > mostPrograms)
    return readings;
  InstanceValues values(whole.programs());
  unsigned first = kernel.getNumArguments() - 6;
  int64_t apart = 1;
  for (unsigned d = 0; d < 3; ++d) {
    InstanceValues::Row ids(values.size());
    for (auto [program, id] : llvm::enumerate(ids))
      id = int64_t(program) / apart % whole.launch[d];
    apart *= whole.launch[d];
    values.seed(kernel.getArgument(first + d), std::move(ids));
    values.seed(kernel.getArgument(first + 3 + d),
                InstanceValues::Row(values.size(), whole.launch[d]));
  }
  AccessKeys keys(kernel, values);
  auto add = [&](const std::optional<Classes> &classes, double bytes) {
    if (classes)
      readings.push_back(readingOf(*classes, bytes, grids, whole, merge));
    return classes.has_value();
  };
  // PEs that add to the same elements can combine them before.
  kernel.walk([&](Operation *op) {
    if (std::optional<Combination> combination = combinationOf(op))
      add(keys.ofAccess(op, combination->place),
          2 * bytesOf(combination->values.getType()) * timesRun(op, kernel));
  });
  kernel.walk([&](CopyOp copy) {
    if (isInChipMemory(copy.getSource().getType()) &&
        add(keys.ofAccess(copy, sourceOf(copy)),
            bytesOf(copy.getDest().getType()) * timesRun(copy, kernel)) &&
        merge == unmerged)
      readings.back().even = evenReadingOf(copy, keys, values);
  });
  return readings;
}
