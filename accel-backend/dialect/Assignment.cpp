//===- Assignment.cpp - which program a PE runs ---------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/Assignment.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilebridge::accel;

// Of more the text of a kernel would be out of proportion.
static constexpr int64_t mostMerged = 16;

std::optional<Merge> tilebridge::accel::readMerge(Attribute value) {
  auto values = dyn_cast_or_null<DenseI64ArrayAttr>(value);
  if (!values || values.size() != 3)
    return std::nullopt;
  for (int64_t each : values.asArrayRef())
    if (each < 1 || each > mostMerged)
      return std::nullopt;
  Merge merge = {values[0], values[1], values[2]};
  return countOf(merge) <= mostMerged ? std::optional(merge) : std::nullopt;
}

Merge tilebridge::accel::mergeOf(Operation *op) {
  return readMerge(op->getAttr(mergeAttr)).value_or(unmerged);
}

std::array<int64_t, 3>
tilebridge::accel::merged(const std::array<int64_t, 3> &launch,
                          const Merge &merge) {
  std::array<int64_t, 3> result;
  for (unsigned d = 0; d < 3; ++d)
    result[d] = llvm::divideCeil(launch[d], merge[d]);
  return result;
}

static std::array<int64_t, 3> idOf(const Grids &grids, int64_t program) {
  const auto &[x, y, z] = grids.launch;
  return {program % x, program / x % y, program / x / y};
}

static Turn numbered(const Grids &grids, int64_t program, bool active) {
  active &= program < grids.programs();
  int64_t last = std::max<int64_t>(grids.programs() - 1, 0);
  return {idOf(grids, std::min(program, last)), active};
}

// The grid that is left when two of its dimensions go over rows and columns.
static std::array<int64_t, 3> stepsOfGrid(ArrayRef<int64_t> values,
                                          const Grids &grids) {
  std::array<int64_t, 3> steps = grids.launch;
  if (values[0] >= 0)
    steps[values[0]] = llvm::divideCeil(steps[values[0]], grids.rows);
  if (values[1] >= 0)
    steps[values[1]] = llvm::divideCeil(steps[values[1]], grids.columns);
  return steps;
}

static Turn turnOfGrid(ArrayRef<int64_t> values, const Grids &grids,
                       int64_t step, int64_t row, int64_t column) {
  Turn turn;
  std::array<int64_t, 3> steps = stepsOfGrid(values, grids);
  turn.id = {step % steps[0], step / steps[0] % steps[1],
             step / steps[0] / steps[1]};
  turn.active = turn.id[2] < steps[2];
  // What nothing is mapped on takes part in the loads of the first line.
  if (values[0] >= 0)
    turn.id[values[0]] = turn.id[values[0]] * grids.rows + row;
  else
    turn.active &= row == 0;
  if (values[1] >= 0)
    turn.id[values[1]] = turn.id[values[1]] * grids.columns + column;
  else
    turn.active &= column == 0;
  for (unsigned d = 0; d < 3; ++d) {
    turn.active &= turn.id[d] < grids.launch[d];
    turn.id[d] = std::min(turn.id[d], grids.launch[d] - 1);
  }
  return turn;
}

Turn tilebridge::accel::turnOf(AssignmentAttr assignment, const Grids &grids,
                               int64_t step, int64_t row, int64_t column) {
  int64_t pe = row * grids.columns + column;
  switch (assignment.getKind()) {
  case AssignmentKind::Interleaved:
    return numbered(grids, step * grids.pes() + pe, true);
  case AssignmentKind::Blocked: {
    int64_t each = assignment.getValues()[0];
    return numbered(grids, pe * each + step, step < each);
  }
  case AssignmentKind::Grid:
    return turnOfGrid(assignment.getValues(), grids, step, row, column);
  case AssignmentKind::Table: {
    DenseIntElementsAttr table = assignment.getTable();
    ArrayRef<int64_t> shape = table.getType().getShape();
    if (step >= shape[0] || row >= shape[1] || column >= shape[2])
      return numbered(grids, 0, false);
    int64_t index = (step * shape[1] + row) * shape[2] + column;
    int64_t entry = table.getValues<int32_t>()[index];
    return numbered(grids, entry < 0 ? -1 - entry : entry, entry >= 0);
  }
  }
  llvm_unreachable("all kinds of assignment are handled");
}

int64_t tilebridge::accel::stepsOf(AssignmentAttr assignment,
                                   const Grids &grids) {
  switch (assignment.getKind()) {
  case AssignmentKind::Interleaved:
    return llvm::divideCeil(grids.programs(), grids.pes());
  case AssignmentKind::Blocked:
    return assignment.getValues()[0];
  case AssignmentKind::Grid: {
    auto [x, y, z] = stepsOfGrid(assignment.getValues(), grids);
    return x * y * z;
  }
  case AssignmentKind::Table:
    return assignment.getTable().getType().getDimSize(0);
  }
  llvm_unreachable("all kinds of assignment are handled");
}
