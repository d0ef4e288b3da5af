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
#include "accel-backend/plan/KernelLaunch.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Tiles.h"
#include "accel-backend/plan/Turns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELCHOOSEREDUCTIONSPASS
#define GEN_PASS_DEF_ACCELREDUCELINESPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

// The values are nobody else's: they are combined in place.
static bool isOnlyAdded(Operation *op, Value values) {
  Operation *producer = values.getDefiningOp();
  // The access may be in branches, of PEs that have a program for one.
  Block *block = op->getBlock();
  while (producer && block != producer->getBlock() &&
         isa_and_nonnull<scf::IfOp>(block->getParentOp()))
    block = block->getParentOp()->getBlock();
  if (!producer || !values.hasOneUse() || producer->getBlock() != block ||
      !isa<RankedTensorType>(values.getType()) ||
      isa<arith::ConstantOp>(producer))
    return false;
  // A box of them is cut out for this access.
  Operation *user = *values.user_begin();
  return user == op || (isa<tensor::ExtractSliceOp>(user) && user->hasOneUse());
}

// A chain passes one buffer after the other, a tree half of what is left in
// each of its rounds: the faster one, and its cycles.
static std::pair<LineAlgorithm, double>
timeOf(const std::optional<Target> &target, int64_t coordinate, double bytes) {
  if (!target || target->reduction.bytesPerCycle <= 0)
    return {LineAlgorithm::Chain, 0};
  int64_t length = coordinate == 0 ? target->grid.rows : target->grid.columns;
  const Reduction &network = target->reduction;
  double once = bytes / network.bytesPerCycle;
  double chain = double(length - 1) * network.latencyCycles + once;
  double tree = double(llvm::Log2_64_Ceil(uint64_t(length))) *
                (network.latencyCycles + once);
  return tree < chain ? std::pair(LineAlgorithm::Tree, tree)
                      : std::pair(LineAlgorithm::Chain, chain);
}

namespace {
struct AccelChooseReductionsPass
    : accel::impl::AccelChooseReductionsPassBase<AccelChooseReductionsPass> {
  void runOnOperation() override {
    FailureOr<std::optional<KernelLaunch>> launch =
        KernelLaunch::of(getOperation());
    if (failed(launch))
      return signalPassFailure();
    SmallVector<Operation *> accesses;
    getOperation().walk([&](Operation *op) {
      if (combinationOf(op))
        accesses.push_back(op);
    });
    if (!*launch || getOperation()->hasAttr(unicastAttr) || accesses.empty())
      return;
    Turns turns = (*launch)->turns();
    for (Operation *op : accesses)
      choose(op, (*launch)->target, turns);
  }

  static void choose(Operation *op, const Target &target, Turns &turns) {
    Combination combination = *combinationOf(op);
    if (!isOnlyAdded(op, combination.values))
      return;
    Sharing sharing = turns.ofAccess(op, combination.place);
    bool rows = sharing.alongRows && hasRows(target.reduction.lines);
    bool columns = sharing.alongColumns && hasColumns(target.reduction.lines);
    if (!sharing.alongRows && !sharing.alongColumns)
      return;
    if ((!rows && !columns) ||
        !target.reduction.supports(stringifyCombiningKind(combination.kind))) {
      op->emitRemark("PEs of a line add to the same elements, one after the "
                     "other: the target cannot combine them before");
      return;
    }
    // One line at a time: the sums of the lines meet in memory.
    int64_t along =
        rows && (!columns || target.grid.columns >= target.grid.rows) ? 1 : 0;
    if (isa<CopyOp>(op) && isFasterAlone(op, combination, along, target)) {
      op->emitRemark(
          "PEs of a line add to the same elements, each by a copy of "
          "its own: that takes less time than to combine them "
          "before");
      return;
    }
    op->setAttr(reduceAttr, DenseI64ArrayAttr::get(op->getContext(), {along}));
  }

  // Whether each PE of a line adds its block to memory in less time than the
  // line takes to combine them and one PE to add the result. All lines do.
  static bool isFasterAlone(Operation *op, const Combination &combination,
                            int64_t along, const Target &target) {
    double bytes = bytesOf(combination.values.getType());
    const Memory &memory = memoryOf(cast<CopyOp>(op).getDest(), target);
    double each =
        bytes / memory.readBytesPerCycle + bytes / memory.writeBytesPerCycle;
    double pes = double(target.grid.count());
    double lines = double(along == 0 ? target.grid.columns : target.grid.rows);
    return pes * each < timeOf(target, along, bytes).second + lines * each;
  }
};

struct AccelReduceLinesPass
    : accel::impl::AccelReduceLinesPassBase<AccelReduceLinesPass> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    SmallVector<Operation *> accesses;
    kernel.walk([&](Operation *op) {
      if (isa<AtomicOp, CopyOp>(op) && op->hasAttr(reduceAttr))
        accesses.push_back(op);
    });
    if (accesses.empty())
      return;
    FailureOr<std::optional<Target>> target = targetOf(kernel);
    if (failed(target))
      return signalPassFailure();
    for (Operation *op : accesses)
      if (failed(reduce(op, *target)))
        return signalPassFailure();
  }

  static LogicalResult reduce(Operation *op,
                              const std::optional<Target> &target) {
    auto along = op->getAttrOfType<DenseI64ArrayAttr>(reduceAttr);
    std::optional<Combination> combination = combinationOf(op);
    if (!along || along.size() != 1 || along[0] < 0 || along[0] > 1 ||
        !combination || !isa<MemRefType>(combination->values.getType()) ||
        op->getNumResults())
      return op->emitError("'accel.reduce' names the coordinate along which "
                           "PEs combine the buffer that they add");
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value values = combination->values;
    ReduceLineOp::create(
        builder, loc, combination->kind, values, along, zero,
        timeOf(target, along[0], bytesOf(values.getType())).first);
    Value pe = PeIdOp::create(builder, loc, builder.getIndexType(),
                              uint64_t(along[0]));
    Value isFirst =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, pe, zero);
    auto only = scf::IfOp::create(builder, loc, isFirst,
                                  /*withElseRegion=*/false);
    op->removeAttr(reduceAttr);
    op->moveBefore(only.thenBlock(), only.thenBlock()->begin());
    return success();
  }
};
} // namespace
