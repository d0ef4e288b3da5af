//===- ReduceLines.cpp - PEs of a line add up before they write -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Decided on tensors, where it can be seen which elements each PE adds to, as
// `accel.reduce` on the access; done on buffers, which PEs combine in place.
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Tiles.h"
#include "accel-backend/plan/Turns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELCHOOSEREDUCTIONSPASS
#define GEN_PASS_DEF_ACCELREDUCELINESPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

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

// Nobody reads what was there before, and the values are nobody else's: they
// are combined in place.
static bool isOnlyAdded(AtomicOp atomic) {
  if (atomic->getNumResults() && !atomic->use_empty())
    return false;
  Value values = atomic.getValues();
  Operation *producer = values ? values.getDefiningOp() : nullptr;
  // The atomic access may be in branches, of PEs that have a program for one.
  Block *block = atomic->getBlock();
  while (producer && block != producer->getBlock() &&
         isa_and_nonnull<scf::IfOp>(block->getParentOp()))
    block = block->getParentOp()->getBlock();
  return producer && values.hasOneUse() && producer->getBlock() == block &&
         isa<RankedTensorType>(values.getType()) &&
         !isa<arith::ConstantOp>(producer);
}

namespace {
struct AccelChooseReductionsPass
    : accel::impl::AccelChooseReductionsPassBase<AccelChooseReductionsPass> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(kernelAttr) || kernel->hasAttr(unicastAttr))
      return;
    FailureOr<std::optional<Target>> target = targetOf(kernel);
    if (failed(target))
      return signalPassFailure();
    SmallVector<AtomicOp> atomics;
    kernel.walk([&](AtomicOp atomic) { atomics.push_back(atomic); });
    if (!*target || atomics.empty())
      return;
    Turns turns(kernel, **target, gridsOf(kernel, *target));
    for (AtomicOp atomic : atomics)
      choose(atomic, **target, turns);
  }

  static void choose(AtomicOp atomic, const Target &target, Turns &turns) {
    std::optional<CombiningKind> kind = kindOf(atomic.getAction());
    if (!kind || !isOnlyAdded(atomic))
      return;
    SmallVector<Value> place{atomic.getBase(), atomic.getOffsets()};
    if (Value mask = atomic.getMask())
      place.push_back(mask);
    Sharing sharing = turns.ofAccess(atomic, place);
    bool rows = sharing.alongRows && hasRows(target.reduction.lines);
    bool columns = sharing.alongColumns && hasColumns(target.reduction.lines);
    if (!sharing.alongRows && !sharing.alongColumns)
      return;
    if ((!rows && !columns) ||
        !target.reduction.supports(stringifyCombiningKind(*kind))) {
      atomic.emitRemark("PEs of a line add to the same elements, one after the "
                        "other: the target cannot combine them before");
      return;
    }
    // One line at a time: the sums of the lines meet in memory.
    bool alongRows =
        rows && (!columns || target.grid.columns >= target.grid.rows);
    atomic->setAttr(reduceAttr,
                    DenseI64ArrayAttr::get(atomic.getContext(),
                                           {int64_t(alongRows ? 1 : 0)}));
  }
};

struct AccelReduceLinesPass
    : accel::impl::AccelReduceLinesPassBase<AccelReduceLinesPass> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    SmallVector<AtomicOp> atomics;
    kernel.walk([&](AtomicOp atomic) {
      if (atomic->hasAttr(reduceAttr))
        atomics.push_back(atomic);
    });
    if (atomics.empty())
      return;
    FailureOr<std::optional<Target>> target = targetOf(kernel);
    if (failed(target))
      return signalPassFailure();
    for (AtomicOp atomic : atomics)
      if (failed(reduce(atomic, *target)))
        return signalPassFailure();
  }

  // A chain passes one buffer after the other, a tree half of what is left in
  // each of its rounds.
  static LineAlgorithm algorithmFor(const std::optional<Target> &target,
                                    int64_t coordinate, double bytes) {
    if (!target || target->reduction.bytesPerCycle <= 0)
      return LineAlgorithm::Chain;
    int64_t length = coordinate == 0 ? target->grid.rows : target->grid.columns;
    const Reduction &network = target->reduction;
    double once = bytes / network.bytesPerCycle;
    double chain = double(length - 1) * network.latencyCycles + once;
    double tree = double(llvm::Log2_64_Ceil(uint64_t(length))) *
                  (network.latencyCycles + once);
    return tree < chain ? LineAlgorithm::Tree : LineAlgorithm::Chain;
  }

  static LogicalResult reduce(AtomicOp atomic,
                              const std::optional<Target> &target) {
    auto along = atomic->getAttrOfType<DenseI64ArrayAttr>(reduceAttr);
    std::optional<CombiningKind> kind = kindOf(atomic.getAction());
    if (!along || along.size() != 1 || along[0] < 0 || along[0] > 1 || !kind ||
        !isa<MemRefType>(atomic.getValues().getType()) ||
        atomic->getNumResults())
      return atomic.emitError("'accel.reduce' names the coordinate along which "
                              "PEs combine the buffer that they add");
    OpBuilder builder(atomic);
    Location loc = atomic.getLoc();
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    ReduceLineOp::create(
        builder, loc, *kind, atomic.getValues(), along, zero,
        algorithmFor(target, along[0], bytesOf(atomic.getValues().getType())));
    Value pe = PeIdOp::create(builder, loc, builder.getIndexType(),
                              uint64_t(along[0]));
    Value isFirst =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, pe, zero);
    auto only = scf::IfOp::create(builder, loc, isFirst,
                                  /*withElseRegion=*/false);
    atomic->removeAttr(reduceAttr);
    atomic->moveBefore(only.thenBlock(), only.thenBlock()->begin());
    return success();
  }
};
} // namespace
