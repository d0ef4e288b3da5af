//===- VerifySchedule.cpp - the rules of the lowered form -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/Buffers.h"
#include "accel-backend/plan/Descriptor.h"
#include "accel-backend/plan/Lifetimes.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Turns.h"
#include "accel-backend/plan/UnderWay.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELVERIFYSCHEDULEPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

//===----------------------------------------------------------------------===//
// What transfers under way touch
//===----------------------------------------------------------------------===//

namespace {
/// A part of a buffer, or of the chip's memory.
struct Part {
  /// What no view made.
  Value root;
  /// In a buffer with a slot for each iteration: which one.
  std::optional<OpFoldResult> slot;
  /// All of the buffer, or of the slot.
  bool isWhole = true;
};
} // namespace

/// The number of the slot, if the view is one of a buffer with slots.
static std::optional<OpFoldResult> slotOf(memref::SubViewOp view) {
  auto source = view.getSourceType();
  if (!view.getSource().getDefiningOp<AllocOp>() ||
      view.getType().getRank() + 1 != source.getRank() ||
      !view.getDroppedDims().test(0))
    return std::nullopt;
  for (int64_t d = 1; d < source.getRank(); ++d)
    if (view.getStaticSizes()[d] != source.getDimSize(d))
      return std::nullopt;
  return view.getMixedOffsets().front();
}

static Part partOf(Value memref) {
  Part part;
  while (Operation *op = memref.getDefiningOp()) {
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    if (!view)
      break;
    if (auto subview = dyn_cast<memref::SubViewOp>(op)) {
      part.slot = slotOf(subview);
      part.isWhole &= part.slot.has_value();
    } else if (isa<memref::ReinterpretCastOp>(op)) {
      part.isWhole = false;
    }
    memref = view.getViewSource();
  }
  part.root = memref;
  return part;
}

/// True if both are the same slot in iterations that `under` spans.
static bool isSameSlot(OpFoldResult a, OpFoldResult b, const UnderWay &under) {
  if (std::optional<int64_t> x = getConstantIntValue(a))
    if (std::optional<int64_t> y = getConstantIntValue(b))
      return *x == *y;
  auto value = dyn_cast<Value>(a);
  if (!value || a != b)
    return false;
  return llvm::none_of(under.later, [&](const auto &entry) {
    return entry.first->isAncestor(value.getParentRegion()->getParentOp());
  });
}

/// True if the parts of one buffer surely have elements in common.
static bool surelyMeet(const Part &a, const Part &b, const UnderWay &under) {
  if (a.root != b.root)
    return false;
  if (a.slot && b.slot && !isSameSlot(*a.slot, *b.slot, under))
    return false;
  if (a.slot.has_value() != b.slot.has_value())
    return a.slot ? b.isWhole : a.isWhole;
  return a.isWhole || b.isWhole;
}

/// True if accesses to chip memory may meet: not if they are to two arguments
/// of which one is accel.noalias.
static bool mayMeet(Value a, Value b) {
  auto x = dyn_cast<BlockArgument>(a), y = dyn_cast<BlockArgument>(b);
  if (!x || !y || x == y)
    return true;
  auto isAlone = [](BlockArgument argument) {
    auto kernel = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return kernel && kernel.getArgAttr(argument.getArgNumber(), noaliasAttr);
  };
  return !isAlone(x) && !isAlone(y);
}

namespace {
/// What a transfer reads and writes until it is waited for.
class Transfer {
public:
  explicit Transfer(CopyStartOp start) : start(start), under(underWay(start)) {
    writes.push_back(partOf(start.getDest()));
    auto source = cast<MemRefType>(start.getSource().getType());
    auto dest = cast<MemRefType>(start.getDest().getType());
    // Only what is copied, unless the rest is padded.
    if (!start.getPad() && (start.getRows() || start.getMask() ||
                            source.getShape() != dest.getShape()))
      writes.front().isWhole = false;
    for (Value value : {start.getSource(), start.getRows(), start.getMask()})
      if (value)
        reads.push_back(partOf(value));
  }

  LogicalResult verify() {
    if (failed(verifySlots()))
      return failure();
    for (Operation *op : under.ops)
      if (failed(verifyAccess(op)))
        return failure();
    return success();
  }

private:
  /// In the iterations before its wait other slots are used.
  LogicalResult verifySlots() {
    for (const Part &part : {writes.front(), reads.front()}) {
      auto alloc = part.root.getDefiningOp<AllocOp>();
      if (!alloc)
        continue;
      for (auto [loop, iterations] : under.later) {
        bool isNew = loop->isAncestor(alloc);
        auto slot = part.slot ? dyn_cast<Value>(*part.slot) : Value();
        bool changes = slot && cast<scf::ForOp>(loop).getRegion().isAncestor(
                                   slot.getParentRegion());
        int64_t slots =
            changes && !isNew
                ? cast<MemRefType>(alloc.getMemref().getType()).getDimSize(0)
                : 1;
        // Parts of a buffer follow one another in a loop of their own.
        if (slots > iterations || (!isNew && !changes))
          continue;
        InFlightDiagnostic diagnostic =
            start.emitError("starts a transfer that is waited for ")
            << iterations << " iterations later, which takes " << iterations + 1
            << " buffers; it has " << slots;
        diagnostic.attachNote(alloc.getLoc()) << "this buffer";
        return failure();
      }
    }
    return success();
  }

  LogicalResult verifyAccess(Operation *op) {
    auto interface = dyn_cast<MemoryEffectOpInterface>(op);
    // Parts of what was one transfer are apart from one another.
    if (!interface || op == start || isa<AllocOp, WaitOp>(op))
      return success();
    SmallVector<MemoryEffects::EffectInstance> effects;
    interface.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      Value value = effect.getValue();
      if (!value || !isa<MemRefType>(value.getType()))
        continue;
      Part part = partOf(value);
      if (auto copy = dyn_cast<CopyOp>(op))
        part.isWhole &= coversDest(copy, value);
      if (auto copy = dyn_cast<CopyStartOp>(op))
        part.isWhole &= coversDest(copy, value);
      bool isRead = isa<MemoryEffects::Read>(effect.getEffect());
      bool isInChip = isInChipMemory(value.getType());
      auto meets = [&](const Part &own) {
        if (isInChipMemory(own.root.getType()) != isInChip)
          return false;
        return isInChip ? mayMeet(own.root, part.root)
                        : surelyMeet(own, part, under);
      };
      bool meetsWrite = llvm::any_of(writes, meets);
      if (!meetsWrite && (isRead || llvm::none_of(reads, meets)))
        continue;
      InFlightDiagnostic diagnostic = op->emitError(isRead ? "reads" : "writes")
                                      << " what a transfer under way "
                                      << (meetsWrite ? "writes" : "reads");
      diagnostic.attachNote(start.getLoc()) << "the transfer starts here";
      return failure();
    }
    return success();
  }

  template <typename TransferT>
  static bool coversDest(TransferT copy, Value value) {
    return copy.getPad() || value != copy.getDest() ||
           (!copy.getRows() && !copy.getMask() &&
            cast<MemRefType>(copy.getSource().getType()).getShape() ==
                cast<MemRefType>(value.getType()).getShape());
  }

  CopyStartOp start;
  UnderWay under;
  SmallVector<Part> reads, writes;
};
} // namespace

//===----------------------------------------------------------------------===//
// Places, lines and descriptors
//===----------------------------------------------------------------------===//

static LogicalResult verifyPlaces(func::FuncOp kernel, const Target &target) {
  llvm::MapVector<StringAttr, SmallVector<Lifetime>> byMemory;
  for (const Lifetime &life : lifetimesOf(kernel)) {
    AllocOp alloc = life.op;
    if (!alloc.getOffset())
      return alloc.emitError("has no place in its memory");
    auto type = cast<MemRefType>(alloc.getMemref().getType());
    byMemory[cast<MemoryAttr>(type.getMemorySpace()).getName()].push_back(life);
  }
  for (auto &[name, lifetimes] : byMemory) {
    const Memory *memory = name.getValue() == localMemory
                               ? &target.localMemory()
                               : target.findMemory(name.getValue());
    if (!memory)
      return AllocOp(lifetimes.front().op).emitError("target '")
             << target.name << "' has no memory " << name;
    allocation::Problem problem = problemOf(lifetimes, *memory, target);
    allocation::Placement placement;
    for (auto [life, buffer] : llvm::zip_equal(lifetimes, problem.buffers)) {
      AllocOp alloc = life.op;
      placement.offsets.push_back(*alloc.getOffset());
      placement.bytes =
          std::max(placement.bytes, *alloc.getOffset() + buffer.bytes);
      // Where it lies is its bank.
      buffer.bank = std::nullopt;
    }
    std::string why = allocation::verify(problem, placement);
    if (!why.empty())
      return kernel.emitError("has buffers at wrong places in '")
             << memory->name << "': " << why;
  }
  return success();
}

/// The coordinates along which PEs do an op together; empty for other ops.
static ArrayRef<int64_t> coordinatesOf(Operation *op) {
  ArrayRef<int64_t> none;
  if (auto copy = dyn_cast<CopyOp>(op))
    return copy.getMulticast().value_or(none);
  if (auto start = dyn_cast<CopyStartOp>(op))
    return start.getMulticast().value_or(none);
  if (auto reduce = dyn_cast<ReduceLineOp>(op))
    return reduce.getCoordinates();
  if (auto barrier = dyn_cast<BarrierOp>(op))
    return barrier.getCoordinates();
  return none;
}

/// True if the value is known to differ between PEs of a line in a turn.
static bool differs(Value value, ArrayRef<int64_t> coordinates,
                    const Target &target, Turns &turns) {
  const InstanceValues::Row *row = turns.valuesOf(value);
  if (!row)
    return false;
  size_t columns = target.grid.columns, rows = target.grid.rows;
  for (size_t turn = 0; turn < row->size(); ++turn) {
    size_t first = turn;
    if (llvm::is_contained(coordinates, 1))
      first -= turn % columns;
    if (llvm::is_contained(coordinates, 0))
      first -= turn / columns % rows * columns;
    if ((*row)[turn] != (*row)[first])
      return true;
  }
  return false;
}

static LogicalResult verifyLine(Operation *op, const Target &target,
                                Turns &turns) {
  ArrayRef<int64_t> coordinates = coordinatesOf(op);
  if (coordinates.empty())
    return success();
  auto isDifferent = [&](Value value) {
    return differs(value, coordinates, target, turns);
  };
  for (Operation *parent = op->getParentOp(); !isa<func::FuncOp>(parent);
       parent = parent->getParentOp()) {
    SmallVector<Value> control;
    if (auto branch = dyn_cast<scf::IfOp>(parent))
      control = {branch.getCondition()};
    else if (auto loop = dyn_cast<scf::ForOp>(parent))
      control = {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
    if (llvm::none_of(control, isDifferent))
      continue;
    InFlightDiagnostic diagnostic = op->emitError(
        "is done by PEs of a line together, but not by all of them");
    diagnostic.attachNote(parent->getLoc())
        << "PEs of the line go different ways here";
    return failure();
  }
  if (!isa<CopyOp, CopyStartOp>(op))
    return success();
  for (Value view = op->getOperand(0); Operation *made = view.getDefiningOp();
       view = cast<ViewLikeOpInterface>(made).getViewSource()) {
    if (!isa<ViewLikeOpInterface>(made))
      break;
    if (llvm::any_of(made->getOperands().drop_front(), [&](Value value) {
          return value.getType().isIndex() && isDifferent(value);
        }))
      return op->emitError(
          "is a multicast of what differs between PEs of the line");
  }
  return success();
}

template <typename TransferT>
static LogicalResult verifyDescriptor(TransferT op, const Target &target) {
  // A cast only hides what is known of sizes and strides.
  auto behindCasts = [](Value value) {
    while (auto cast = value.getDefiningOp<memref::CastOp>()) {
      if (!isa<MemRefType>(cast.getSource().getType()) ||
          !memref::CastOp::canFoldIntoConsumerOp(cast))
        break;
      value = cast.getSource();
    }
    return value;
  };
  Value source = behindCasts(op.getSource()), dest = behindCasts(op.getDest());
  StringRef from = nameOfMemory(source, target);
  StringRef to = nameOfMemory(dest, target);
  const DmaEngine *engine = target.findEngine(from, to);
  if (!engine)
    return op.emitError("no engine of target '")
           << target.name << "' copies from '" << from << "' to '" << to << "'";
  if (op.getAccumulate() && !canAccumulate(*engine, *op.getAccumulate()))
    return op.emitError("the engine '")
           << engine->name << "' does not accumulate '"
           << stringifyCombiningKind(*op.getAccumulate()) << "'";
  if (isOneDescriptor(source, dest, op.getRows(), int64_t(op.getDim()),
                      op.getPad() != nullptr, *engine, Unknown::AtLeast))
    return success();
  return op.emitError("is more than one descriptor of engine '")
         << engine->name << "'";
}

namespace {
struct AccelVerifySchedulePass
    : accel::impl::AccelVerifySchedulePassBase<AccelVerifySchedulePass> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (kernel->hasAttr(kernelAttr) && failed(verify(kernel)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }

  static LogicalResult verify(func::FuncOp kernel) {
    FailureOr<std::optional<Target>> target = targetOf(kernel);
    if (failed(target) || failed(verifyTokens(kernel)))
      return failure();
    bool isValid = true;
    kernel.walk([&](CopyStartOp start) {
      isValid &= succeeded(Transfer(start).verify());
    });
    if (!*target)
      return success(isValid);
    isValid &= succeeded(verifyPlaces(kernel, **target));
    Turns turns(kernel, **target, gridsOf(kernel, *target));
    bool isLegalized = kernel->hasAttr("accel.legalized");
    kernel.walk([&](Operation *op) {
      isValid &= succeeded(verifyLine(op, **target, turns));
      if (!isLegalized)
        return;
      if (auto copy = dyn_cast<CopyOp>(op))
        isValid &= succeeded(verifyDescriptor(copy, **target));
      else if (auto start = dyn_cast<CopyStartOp>(op))
        isValid &= succeeded(verifyDescriptor(start, **target));
    });
    return success(isValid);
  }
};
} // namespace
