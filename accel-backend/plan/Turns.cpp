//===- Turns.cpp - what PEs do alike --------------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/Turns.h"

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/dialect/Assignment.h"
#include "accel-backend/plan/Merge.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilebridge::accel;

// More are not evaluated: one step then stands for all.
static constexpr int64_t mostTurns = 1 << 20;

static int64_t countSteps(func::FuncOp kernel,
                          const std::optional<Grids> &grids, int64_t together) {
  int64_t steps = 1;
  if (grids && grids->programs())
    kernel.walk([&](ProgramOp program) {
      steps = std::max(steps, stepsOf(program.getAssignment(), *grids));
    });
  return steps * together * (grids ? grids->pes() : 1) > mostTurns ? 1 : steps;
}

Turns::Turns(func::FuncOp kernel, const Target &target,
             const std::optional<Grids> &grids)
    : grid(target.grid), mergeLoop(mergeLoopOf(kernel)),
      together(mergeLoop ? countOf(mergeOf(mergeLoop)) : 1),
      steps(countSteps(kernel, grids, together)),
      values(steps * together * grid.count()), keys(kernel, values) {
  seed(kernel, grids);
}

void Turns::seed(Value value, InstanceValues::Row row) {
  values.seed(value, std::move(row));
  seeded.push_back(value);
}

void Turns::seed(func::FuncOp kernel, const std::optional<Grids> &grids) {
  InstanceValues::Row row(values.size()), column(values.size()),
      step(values.size()), number(values.size());
  for (size_t turn = 0; turn < values.size(); ++turn) {
    column[turn] = turn % grid.columns;
    row[turn] = turn / grid.columns % grid.rows;
    number[turn] = turn / grid.count() % together;
    step[turn] = turn / grid.count() / together;
  }
  if (mergeLoop)
    seed(mergeLoop.getInductionVar(), std::move(number));
  kernel.walk(
      [&](PeIdOp id) { seed(id, id.getCoordinate() == 0 ? row : column); });
  kernel.walk([&](PeCountOp count) {
    seed(count, InstanceValues::Row(values.size(), count.getCoordinate() == 0
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
      seed(program.getStep(), step);
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
      seed(program.getResult(number), std::move(results[number]));
  });
}

Sharing Turns::sharingOf(const std::optional<Classes> &classes) const {
  Sharing sharing{false, false};
  if (!classes)
    return sharing;
  // A line of one PE shares nothing.
  sharing = {grid.columns > 1, grid.rows > 1};
  for (size_t turn = 0; turn < classes->of.size(); ++turn) {
    size_t column = turn % grid.columns;
    size_t row = turn / grid.columns % grid.rows;
    sharing.alongRows &= classes->of[turn] == classes->of[turn - column];
    sharing.alongColumns &=
        classes->of[turn] == classes->of[turn - row * grid.columns];
  }
  return sharing;
}

Sharing Turns::ofAccess(Operation *op, ValueRange source) {
  return sharingOf(keys.ofAccess(op, source));
}

Sharing Turns::ofValues(ValueRange source) {
  return sharingOf(keys.ofValues(source));
}

std::optional<bool> Turns::isSameInMerged(Value scalar) {
  const InstanceValues::Row *row = valuesOf(scalar);
  if (!row)
    return std::nullopt;
  size_t pes = grid.count(), ofStep = pes * together;
  for (size_t turn = 0; turn < row->size(); ++turn)
    if ((*row)[turn] != (*row)[turn / ofStep * ofStep + turn % pes])
      return false;
  return true;
}
