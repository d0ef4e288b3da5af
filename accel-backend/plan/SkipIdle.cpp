//===- SkipIdle.cpp - PEs without a program do only their part ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What PEs of a line do together is before the branch, and everything else in
// it; or the branch is that of all PEs of such lines. In a loop over steps it
// stays as it is: loads of the next step are early.
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Effects.h"
#include "accel-backend/plan/KernelLaunch.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/plan/Tiles.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELSKIPIDLEPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

// The one program of a kernel of one step that some PEs have none in.
static ProgramOp onlyProgram(func::FuncOp kernel) {
  ProgramOp found;
  bool isOne = true;
  kernel.walk([&](ProgramOp program) {
    isOne &= !found;
    found = program;
  });
  if (!found || !isOne || found->getParentOp() != kernel ||
      found.getActive().use_empty())
    return {};
  return found;
}

// What PEs of lines do together; none where that is more than loads.
static std::optional<SmallVector<CopyOp>> sharedLoads(func::FuncOp kernel) {
  SmallVector<CopyOp> shared;
  bool areAll = true;
  kernel.walk([&](Operation *op) {
    if (op->hasAttr(reduceAttr) || isa<ReduceLineOp, BarrierOp>(op))
      areAll = false;
    if (auto copy = dyn_cast<CopyOp>(op); copy && copy.getMulticast())
      shared.push_back(copy);
  });
  return areAll ? std::optional(shared) : std::nullopt;
}

namespace {
/// Which PEs have a program, by row and column.
class Activity {
public:
  /// None where the launch is not known.
  static std::optional<Activity> of(const KernelLaunch &launch,
                                    ProgramOp program) {
    Turns turns = launch.turns();
    const InstanceValues::Row *active = turns.valuesOf(program.getActive());
    if (!launch.grids || !active)
      return std::nullopt;
    Activity result(launch.target.grid);
    // The turns of one step, or of the first of neighbours.
    for (size_t pe = 0; pe < result.size(); ++pe)
      if ((*active)[pe])
        result.add(pe);
    return result;
  }

  size_t size() const { return has.size(); }
  size_t rowOf(size_t pe) const { return pe / byColumn.size(); }
  size_t columnOf(size_t pe) const { return pe % byColumn.size(); }
  bool isActive(size_t pe) const { return has[pe]; }

  /// How many PEs have one, of those that do a load together with this one; and
  /// how many PEs those are.
  size_t countOnLine(size_t pe, CopyOp copy) const {
    auto [alongColumn, alongRow] = linesOf(copy);
    return alongColumn && alongRow ? all
           : alongRow              ? byRow[rowOf(pe)]
           : alongColumn           ? byColumn[columnOf(pe)]
                                   : has[pe];
  }
  size_t sizeOfLine(CopyOp copy) const {
    auto [alongColumn, alongRow] = linesOf(copy);
    return (alongColumn ? byRow.size() : 1) * (alongRow ? byColumn.size() : 1);
  }

  size_t rows() const { return byRow.size(); }
  size_t columns() const { return byColumn.size(); }

private:
  explicit Activity(const Grid &grid)
      : has(grid.count()), byRow(grid.rows), byColumn(grid.columns) {}

  void add(size_t pe) {
    has[pe] = true;
    ++byRow[rowOf(pe)];
    ++byColumn[columnOf(pe)];
    ++all;
  }
  static std::pair<bool, bool> linesOf(CopyOp copy) {
    ArrayRef<int64_t> along = *copy.getMulticast();
    return {llvm::is_contained(along, 0), llvm::is_contained(along, 1)};
  }

  std::vector<bool> has;
  std::vector<size_t> byRow, byColumn;
  size_t all = 0;
};
} // namespace

// Whether no line of a load has PEs of both kinds.
static bool isEven(CopyOp copy, const Activity &activity) {
  size_t line = activity.sizeOfLine(copy);
  return llvm::all_of(llvm::seq(activity.size()), [&](size_t pe) {
    size_t count = activity.countOnLine(pe, copy);
    return count == 0 || count == line;
  });
}

// Whether there is at most one program on a line: its PE can load for itself.
static bool isAlone(CopyOp copy, const Activity &activity) {
  return llvm::all_of(llvm::seq(activity.size()), [&](size_t pe) {
    return activity.countOnLine(pe, copy) <= 1;
  });
}

// Whether a PE has a program or loads something with one that has, where those
// are the first rows, or the first columns, of the grid; null else.
static Value takesPart(OpBuilder &builder, Location loc,
                       ArrayRef<CopyOp> shared, const Activity &activity) {
  for (unsigned coordinate : {0u, 1u}) {
    size_t count = coordinate ? activity.columns() : activity.rows();
    std::vector<bool> does(count), doesNot(count);
    for (size_t pe = 0; pe < activity.size(); ++pe) {
      bool isIn =
          activity.isActive(pe) || llvm::any_of(shared, [&](CopyOp copy) {
            return activity.countOnLine(pe, copy) > 0;
          });
      (isIn
           ? does
           : doesNot)[coordinate ? activity.columnOf(pe) : activity.rowOf(pe)] =
          true;
    }
    auto first = llvm::find(doesNot, true) - doesNot.begin();
    bool areFirst =
        std::find(does.begin() + first, does.end(), true) == does.end();
    if (!areFirst || first == 0 || size_t(first) == count)
      continue;
    Value id = PeIdOp::create(builder, loc, builder.getIndexType(), coordinate);
    Value end = arith::ConstantIndexOp::create(builder, loc, first);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, id,
                                 end);
  }
  return {};
}

// What a load needs of the block behind the program; false where that is
// something that has to stay where it is.
static bool collect(CopyOp copy, ProgramOp program,
                    llvm::SetVector<Operation *> &needed) {
  Block *block = program->getBlock();
  SmallVector<Operation *> worklist{copy};
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (!needed.insert(op))
      continue;
    if (op != copy && !isMemoryEffectFree(op))
      return false;
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        Operation *made = operand.getDefiningOp();
        made = made ? block->findAncestorOpInBlock(*made) : nullptr;
        if (made && made != op && program->isBeforeInBlock(made))
          worklist.push_back(made);
      }
    });
  }
  for (Operation *op = program->getNextNode(); op != copy;
       op = op->getNextNode())
    if (containsWriteTo(op, copy))
      return false;
  return true;
}

namespace {
struct AccelSkipIdlePass
    : accel::impl::AccelSkipIdlePassBase<AccelSkipIdlePass> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(kernelAttr))
      return;
    ProgramOp program = onlyProgram(kernel);
    if (!program)
      return;
    std::optional<SmallVector<CopyOp>> shared = sharedLoads(kernel);
    FailureOr<std::optional<KernelLaunch>> launch = KernelLaunch::of(kernel);
    if (failed(launch))
      return signalPassFailure();
    if (!shared)
      return;
    std::optional<Activity> activity;
    if (*launch)
      activity = Activity::of(**launch, program);
    Block *block = program->getBlock();
    llvm::SetVector<Operation *> needed;
    SmallVector<CopyOp> alone;
    bool areApart = llvm::all_of(*shared, [&](CopyOp copy) {
      if (activity && isEven(copy, *activity))
        return true;
      if (activity && isAlone(copy, *activity)) {
        alone.push_back(copy);
        return true;
      }
      return copy->getBlock() == block &&
             (copy->isBeforeInBlock(program) || collect(copy, program, needed));
    });

    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(program);
    Value condition = program.getActive();
    if (areApart) {
      for (CopyOp copy : alone)
        if (!needed.contains(copy))
          copy.removeMulticastAttr();
    } else {
      needed.clear();
      condition = activity
                      ? takesPart(builder, program.getLoc(), *shared, *activity)
                      : Value();
      if (!condition)
        return;
      builder.setInsertionPointAfter(condition.getDefiningOp());
    }
    auto guard = scf::IfOp::create(builder, program.getLoc(), condition,
                                   /*withElseRegion=*/false);
    for (Operation &op : llvm::make_early_inc_range(llvm::make_range(
             std::next(guard->getIterator()), std::prev(block->end())))) {
      if (needed.contains(&op))
        op.moveBefore(guard);
      else
        op.moveBefore(guard.thenBlock()->getTerminator());
    }
  }
};
} // namespace
