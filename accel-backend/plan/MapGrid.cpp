//===- MapGrid.cpp - programs become turns of PEs -------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/ChooseAssignment.h"
#include "accel-backend/plan/Effects.h"
#include "accel-backend/plan/Merge.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELMAPGRIDPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

// A program that waits for others, or for what it wrote itself, must not be
// run in part.
static bool isAllOrNothing(Block &body) {
  return body
      .walk([](Operation *op) {
        bool waits = isa<scf::WhileOp>(op) ||
                     (isSeen(op) && op->getNumResults() && !op->use_empty());
        return waits ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static void guardWhole(Operation *first, Block &body, Value active) {
  OpBuilder builder(first);
  auto guard = scf::IfOp::create(builder, first->getLoc(), active,
                                 /*withElseRegion=*/false);
  Block *then = guard.thenBlock();
  then->getOperations().splice(then->begin(), body.getOperations(),
                               std::next(guard->getIterator()),
                               std::prev(body.end()));
}

static void guardEach(Block &body, Value active) {
  SmallVector<Operation *> seen;
  body.walk([&](Operation *op) {
    if (isSeen(op))
      seen.push_back(op);
  });
  for (Operation *op : seen) {
    // Nobody reads a result: those were guarded as a whole.
    OpBuilder builder(op);
    auto guard = scf::IfOp::create(builder, op->getLoc(), active,
                                   /*withElseRegion=*/false);
    op->moveBefore(guard.thenBlock(), guard.thenBlock()->begin());
  }
}

static bool isEachTurnActive(AssignmentAttr assignment, const Grids &grids) {
  return stepsOf(assignment, grids) * grids.pes() == grids.programs();
}

// Whether PEs of a line may do something together in each step: one without a
// program of its own then has its part in that.
static bool mayShare(AssignmentAttr assignment, const Grids &grids,
                     ArrayRef<Reading> readings) {
  return llvm::any_of(readings, [&](const Reading &reading) {
    Sharing sharing = sharingOf(assignment, grids, reading.classes);
    return (sharing.alongRows && grids.columns > 1) ||
           (sharing.alongColumns && grids.rows > 1);
  });
}

namespace {
struct AccelMapGridPass : accel::impl::AccelMapGridPassBase<AccelMapGridPass> {
  using AccelMapGridPassBase::AccelMapGridPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    forced = nullptr;
    if (assignment.empty())
      return success();
    auto kind = symbolizeAssignmentKind(assignment);
    SmallVector<int64_t> values(grid.begin(), grid.end());
    if (!kind || *kind == AssignmentKind::Table)
      return emitError(UnknownLoc::get(context))
             << "tilebridge-accel-map-grid: there is no assignment '"
             << assignment << "' to be chosen";
    // The number of steps of a PE depends on the launch.
    if (*kind == AssignmentKind::Blocked)
      values = {1};
    if (failed(AssignmentAttr::verify(
            [&] { return emitError(UnknownLoc::get(context)); }, *kind, values,
            DenseIntElementsAttr())))
      return failure();
    forced =
        AssignmentAttr::get(context, *kind, values, DenseIntElementsAttr());
    return success();
  }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(kernelAttr))
      return;
    FailureOr<std::optional<Target>> target = targetOf(kernel);
    if (failed(target))
      return signalPassFailure();
    if (kernel->hasAttr(mergeAttr))
      checkMerge(kernel, *target);
    std::optional<Grids> grids = gridsOf(kernel, *target);
    SmallVector<Reading> readings;
    if (grids)
      readings = readingsOf(kernel, *grids);
    AssignmentAttr chosen = choose(kernel, *target, grids, readings);
    // In a loop over steps the loads of the next one are early, which they
    // would not be in a branch.
    bool isWhole =
        grids && stepsOf(chosen, *grids) == 1 &&
        (kernel->hasAttr(unicastAttr) || !mayShare(chosen, *grids, readings));
    mapGrid(kernel, *target, grids, chosen, isWhole);
  }

  static void checkMerge(func::FuncOp kernel,
                         const std::optional<Target> &target) {
    std::optional<MergeRefusal> refusal = refuseMerge(kernel);
    if (!refusal && !target)
      refusal = {"there is no target", kernel};
    if (!refusal && mergeOf(kernel) != unmerged)
      return;
    if (refusal)
      refusal->because->emitRemark("programs are not run as one: ")
          << refusal->reason;
    kernel->removeAttr(mergeAttr);
  }

  AssignmentAttr choose(func::FuncOp kernel,
                        const std::optional<Target> &target,
                        const std::optional<Grids> &grids,
                        ArrayRef<Reading> readings) {
    MLIRContext *context = &getContext();
    auto interleaved = AssignmentAttr::get(context, AssignmentKind::Interleaved,
                                           {}, DenseIntElementsAttr());
    // Without the grid the number of steps of the others is not known.
    if (!grids || grids->programs() == 0)
      return interleaved;
    if (auto decided = kernel->getAttrOfType<AssignmentAttr>(assignmentAttr))
      return decided;
    if (forced && forced.getKind() == AssignmentKind::Blocked)
      return AssignmentAttr::get(
          context, AssignmentKind::Blocked,
          {int64_t(llvm::divideCeil(grids->programs(), grids->pes()))},
          DenseIntElementsAttr());
    if (forced)
      return forced;
    Lines lines = Lines::None;
    if (const DmaEngine *engine = loadingEngine(kernel, *target))
      lines = engine->multicast;
    return chooseAssignment(context, *grids, readings, lines).assignment;
  }

  void mapGrid(func::FuncOp kernel, const std::optional<Target> &target,
               const std::optional<Grids> &grids, AssignmentAttr assignment,
               bool isWhole) {
    Block &entry = kernel.getBody().front();
    Location loc = kernel.getLoc();
    unsigned first = kernel.getNumArguments() - 6;
    OpBuilder builder = OpBuilder::atBlockBegin(&entry);

    // Constants stay where they are: the loop's bounds are among them.
    Operation *begin = &entry.front();
    SmallVector<Value> counts;
    for (unsigned d = 0; d < 3; ++d)
      counts.push_back(grids ? Value(arith::ConstantOp::create(
                                   builder, loc,
                                   builder.getI32IntegerAttr(grids->launch[d])))
                             : Value(kernel.getArgument(first + 3 + d)));
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value steps =
        grids ? Value(arith::ConstantIndexOp::create(
                    builder, loc,
                    grids->programs() ? stepsOf(assignment, *grids) : 0))
              : stepsAtRunTime(builder, loc, target, counts);
    auto loop = scf::ForOp::create(builder, loc, zero, steps, one);
    Block &body = *loop.getBody();
    body.getOperations().splice(body.begin(), entry.getOperations(),
                                begin->getIterator(), std::prev(entry.end()));
    builder.setInsertionPointToStart(&body);
    Type i32 = builder.getI32Type();
    auto program = ProgramOp::create(
        builder, loc, i32, i32, i32, builder.getI1Type(),
        loop.getInductionVar(), counts[0], counts[1], counts[2], assignment);
    Neighbours run{program.getResults().take_front(3), &body, nullptr};
    if (mergeOf(kernel) != unmerged)
      run = mergeIn(kernel, program);
    for (unsigned d = 0; d < 3; ++d)
      kernel.getArgument(first + d).replaceAllUsesWith(run.ids[d]);

    Value active = program.getActive();
    if (grids && isEachTurnActive(assignment, *grids))
      active = nullptr;
    if (active && (isWhole || isAllOrNothing(body))) {
      guardWhole(program->getNextNode(), body, active);
      active = nullptr;
    }
    if (run.exists && active) {
      builder.setInsertionPointAfter(run.exists.getDefiningOp());
      active = arith::AndIOp::create(builder, loc, active, run.exists);
    } else if (run.exists) {
      active = run.exists;
    }
    if (active)
      guardEach(*run.body, active);
  }

  /// What one of the neighbours runs: its ids, where its operations are, and
  /// whether there is such a program, null where there always is.
  struct Neighbours {
    SmallVector<Value> ids;
    Block *body;
    Value exists;
  };

  /// Puts what follows `accel.program` into a loop over neighbours. One beyond
  /// the launch grid does the loads of the last one.
  static Neighbours mergeIn(func::FuncOp kernel, ProgramOp program) {
    Merge merge = mergeOf(kernel);
    auto launch = kernel->getAttrOfType<DenseI64ArrayAttr>(gridAttr);
    Location loc = program.getLoc();
    Block *outer = program->getBlock();
    OpBuilder builder(program);
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(builder, loc, value);
    };
    auto integer = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(builder, loc,
                                       builder.getI32IntegerAttr(value));
    };
    Value zero = index(0), end = index(countOf(merge)), one = index(1);
    builder.setInsertionPointAfter(program);
    auto loop = scf::ForOp::create(builder, loc, zero, end, one);
    loop->setAttr(mergeAttr, kernel->getAttr(mergeAttr));
    Block *body = loop.getBody();
    body->getOperations().splice(body->begin(), outer->getOperations(),
                                 std::next(loop->getIterator()),
                                 std::prev(outer->end()));
    builder.setInsertionPointToStart(body);
    Neighbours run{{}, body, nullptr};
    Value rest = arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                            loop.getInductionVar());
    for (unsigned d = 0; d < 3; ++d) {
      Value id = program.getResult(d);
      if (merge[d] > 1) {
        Value count = integer(merge[d]);
        Value part = arith::RemSIOp::create(builder, loc, rest, count);
        rest = arith::DivSIOp::create(builder, loc, rest, count);
        id = arith::MulIOp::create(builder, loc, id, count);
        id = arith::AddIOp::create(builder, loc, id, part);
      }
      if (launch[d] % merge[d]) {
        Value last = integer(launch[d] - 1);
        Value isInside = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::sle, id, last);
        id = arith::MinSIOp::create(builder, loc, id, last);
        run.exists = run.exists ? Value(arith::AndIOp::create(
                                      builder, loc, run.exists, isInside))
                                : isInside;
      }
      run.ids.push_back(id);
    }
    return run;
  }

  static Value stepsAtRunTime(OpBuilder &builder, Location loc,
                              const std::optional<Target> &target,
                              ArrayRef<Value> counts) {
    auto toIndex = [&](Value count) -> Value {
      return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                        count);
    };
    Value programs = toIndex(counts[0]);
    for (Value count : counts.drop_front())
      programs = arith::MulIOp::create(builder, loc, programs, toIndex(count));
    Value pes;
    if (target) {
      pes = arith::ConstantIndexOp::create(builder, loc, target->grid.count());
    } else {
      Value rows = PeCountOp::create(builder, loc, builder.getIndexType(), 0);
      Value columns =
          PeCountOp::create(builder, loc, builder.getIndexType(), 1);
      pes = arith::MulIOp::create(builder, loc, rows, columns);
    }
    return arith::CeilDivUIOp::create(builder, loc, programs, pes);
  }

  AssignmentAttr forced;
};
} // namespace
