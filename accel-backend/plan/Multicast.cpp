//===- Multicast.cpp - one read for all PEs of a line ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Instances are turns here: the steps of all PEs. A copy may be done for a
// line together where all PEs of the line are in one class of it in each step.
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/dialect/Assignment.h"
#include "accel-backend/plan/AccessKeys.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Tiles.h"

#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELMULTICASTPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

static constexpr int64_t mostTurns = 1 << 20;

namespace {
class Turns {
public:
  Turns(func::FuncOp kernel, const Target &target,
        const std::optional<Grids> &grids)
      : grid(target.grid), steps(countSteps(kernel, grids)),
        values(steps * grid.count()), keys(kernel, values) {
    seed(kernel, grids);
  }

  std::optional<Classes> ofAccess(CopyOp copy) {
    return keys.ofAccess(copy, sourceOf(copy));
  }
  std::optional<Classes> ofAddress(CopyOp copy) {
    return keys.ofValues(sourceOf(copy));
  }

  Sharing sharingOf(const Classes &classes) const {
    Sharing sharing;
    for (size_t turn = 0; turn < classes.of.size(); ++turn) {
      size_t column = turn % grid.columns;
      size_t row = turn / grid.columns % grid.rows;
      sharing.alongRows &= classes.of[turn] == classes.of[turn - column];
      sharing.alongColumns &=
          classes.of[turn] == classes.of[turn - row * grid.columns];
    }
    return sharing;
  }

private:
  // Without the launch one step stands for all: what depends on it is unknown.
  static int64_t countSteps(func::FuncOp kernel,
                            const std::optional<Grids> &grids) {
    int64_t steps = 1;
    if (grids && grids->programs())
      kernel.walk([&](ProgramOp program) {
        steps = std::max(steps, stepsOf(program.getAssignment(), *grids));
      });
    return steps * (grids ? grids->pes() : 1) > mostTurns ? 1 : steps;
  }

  void seed(func::FuncOp kernel, const std::optional<Grids> &grids) {
    InstanceValues::Row row(values.size()), column(values.size()),
        step(values.size());
    for (size_t turn = 0; turn < values.size(); ++turn) {
      column[turn] = turn % grid.columns;
      row[turn] = turn / grid.columns % grid.rows;
      step[turn] = turn / grid.count();
    }
    kernel.walk([&](PeIdOp id) {
      values.seed(id, id.getCoordinate() == 0 ? row : column);
    });
    kernel.walk([&](PeCountOp count) {
      values.seed(count,
                  InstanceValues::Row(values.size(), count.getCoordinate() == 0
                                                         ? grid.rows
                                                         : grid.columns));
    });
    if (!grids)
      return;
    kernel.walk([&](ProgramOp program) {
      auto loop = dyn_cast_or_null<scf::ForOp>(
          program.getStep().getParentBlock()->getParentOp());
      bool isLoops = loop && program.getStep() == loop.getInductionVar();
      if (isLoops && stepsOf(program.getAssignment(), *grids) == steps)
        values.seed(program.getStep(), step);
      const InstanceValues::Row *own = values.get(program.getStep());
      if (!own)
        return;
      std::array<InstanceValues::Row, 4> results;
      for (size_t turn = 0; turn < values.size(); ++turn) {
        Turn each = turnOf(program.getAssignment(), *grids, (*own)[turn],
                           row[turn], column[turn]);
        for (unsigned d = 0; d < 3; ++d)
          results[d].push_back(each.id[d]);
        results[3].push_back(each.active ? -1 : 0);
      }
      for (unsigned number = 0; number < 4; ++number)
        values.seed(program.getResult(number), std::move(results[number]));
    });
  }

  Grid grid;
  int64_t steps;
  InstanceValues values;
  AccessKeys keys;
};
} // namespace

// A program that waits for another one may read what that one wrote: two PEs
// that read the same place at different times then read different things.
static bool waitsForOthers(func::FuncOp kernel) {
  return kernel
      .walk([](Operation *op) {
        bool waits =
            isa<AtomicOp, linalg_ext::AtomicRMWOp, linalg_ext::AtomicCASOp,
                linalg_ext::AtomicLoadOp>(op) &&
            op->getNumResults() && !op->use_empty();
        return waits ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static StringRef linesText(const Sharing &sharing) {
  if (sharing.alongRows && sharing.alongColumns)
    return "all PEs";
  return sharing.alongRows ? "the PEs of a row" : "the PEs of a column";
}

namespace {
struct AccelMulticastPass
    : accel::impl::AccelMulticastPassBase<AccelMulticastPass> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(kernelAttr) || kernel->hasAttr(unicastAttr))
      return;
    FailureOr<std::optional<Target>> target = targetOf(kernel);
    if (failed(target))
      return signalPassFailure();
    if (!*target || (*target)->grid.count() == 1 || waitsForOthers(kernel))
      return;
    Turns turns(kernel, **target, gridsOf(kernel, *target));
    kernel.walk([&](CopyOp copy) {
      if (isInChipMemory(copy.getSource().getType()) &&
          !isInChipMemory(copy.getDest().getType()))
        decide(copy, **target, turns);
    });
  }

  static void decide(CopyOp copy, const Target &target, Turns &turns) {
    std::optional<Classes> classes = turns.ofAccess(copy);
    Sharing none{false, false};
    Sharing sharing = classes ? turns.sharingOf(*classes) : none;
    // A line of one PE shares nothing.
    sharing.alongRows &= target.grid.columns > 1;
    sharing.alongColumns &= target.grid.rows > 1;
    if (!sharing.alongRows && !sharing.alongColumns) {
      std::optional<Classes> address = turns.ofAddress(copy);
      Sharing byAddress = address ? turns.sharingOf(*address) : none;
      byAddress.alongRows &= target.grid.columns > 1;
      byAddress.alongColumns &= target.grid.rows > 1;
      if (byAddress.alongRows || byAddress.alongColumns)
        copy.emitRemark("not multicast: ")
            << linesText(byAddress)
            << " load the same data, but not equally often";
      return;
    }
    const DmaEngine *engine = target.findEngine(
        memoryOf(copy.getSource(), target).name, target.localMemory().name);
    Lines lines = engine ? engine->multicast : Lines::None;
    SmallVector<int64_t> coordinates;
    if (sharing.alongColumns && hasColumns(lines))
      coordinates.push_back(0);
    if (sharing.alongRows && hasRows(lines))
      coordinates.push_back(1);
    if (coordinates.empty()) {
      copy.emitRemark("not multicast: ")
          << linesText(sharing) << " load the same data, but "
          << (engine ? "engine '" + engine->name + "'"
                     : std::string("no engine of the target"))
          << (engine ? " cannot multicast along such lines" : " loads it");
      return;
    }
    copy.setMulticastAttr(
        DenseI64ArrayAttr::get(copy.getContext(), coordinates));
  }
};
} // namespace
