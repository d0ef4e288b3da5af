//===- ChooseAssignment.cpp - which PE runs which program -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/ChooseAssignment.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace tilebridge::accel;

// A table has an entry for each turn.
static constexpr int64_t largestTable = 1 << 16;

Sharing tilebridge::accel::sharingOf(AssignmentAttr assignment,
                                     const Grids &grids,
                                     const Classes &classes) {
  Sharing sharing;
  int64_t steps = stepsOf(assignment, grids);
  std::vector<unsigned> firstOfColumn(grids.columns);
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t row = 0; row < grids.rows; ++row) {
      unsigned firstOfRow = 0;
      for (int64_t column = 0; column < grids.columns; ++column) {
        auto [x, y, z] = turnOf(assignment, grids, step, row, column).id;
        int64_t program = (z * grids.launch[1] + y) * grids.launch[0] + x;
        unsigned number = classes.of[program];
        if (column == 0)
          firstOfRow = number;
        if (row == 0)
          firstOfColumn[column] = number;
        sharing.alongRows &= number == firstOfRow;
        sharing.alongColumns &= number == firstOfColumn[column];
        if (!sharing.alongRows && !sharing.alongColumns)
          return sharing;
      }
    }
  return sharing;
}

// Loads of all PEs, in one program's on average, where those of a line run the
// loop as often as the one of them that does it most often. None where they
// share nothing, or would wait for one another longer than the slowest PE
// takes.
static std::optional<double> evenLoads(AssignmentAttr assignment,
                                       const Grids &grids,
                                       const EvenReading &even,
                                       Lines multicast) {
  Sharing sharing = sharingOf(assignment, grids, even.classes);
  bool rows = sharing.alongRows && grids.columns > 1 && hasRows(multicast);
  bool columns =
      sharing.alongColumns && grids.rows > 1 && hasColumns(multicast);
  double all = 0;
  for (double iterations : even.iterations)
    all += iterations;
  if ((!rows && !columns) || all == 0)
    return std::nullopt;
  auto lineOf = [&](int64_t row, int64_t column) {
    return (columns ? 0 : row) * grids.columns + (rows ? 0 : column);
  };
  // In a launch of one step a PE without a program does nothing, and the others
  // of its line nothing together.
  int64_t steps = stepsOf(assignment, grids);
  std::vector<double> own(grids.pes()), together(grids.pes());
  double loads = 0;
  for (int64_t step = 0; step < steps; ++step) {
    std::vector<double> most(grids.pes());
    std::vector<std::optional<bool>> active(grids.pes());
    for (int64_t row = 0; row < grids.rows; ++row)
      for (int64_t column = 0; column < grids.columns; ++column) {
        Turn turn = turnOf(assignment, grids, step, row, column);
        int64_t line = lineOf(row, column);
        bool isRun = steps > 1 || turn.active;
        if (active[line].value_or(isRun) != isRun)
          return std::nullopt;
        active[line] = isRun;
        if (!isRun)
          continue;
        auto [x, y, z] = turn.id;
        double iterations =
            even.iterations[(z * grids.launch[1] + y) * grids.launch[0] + x];
        own[row * grids.columns + column] += iterations;
        most[line] = std::max(most[line], iterations);
      }
    for (int64_t row = 0; row < grids.rows; ++row)
      for (int64_t column = 0; column < grids.columns; ++column)
        together[row * grids.columns + column] += most[lineOf(row, column)];
    loads = std::accumulate(most.begin(), most.end(), loads);
  }
  if (*llvm::max_element(together) > mostWaiting * *llvm::max_element(own))
    return std::nullopt;
  return loads / (all / double(even.iterations.size()));
}

Choice tilebridge::accel::rate(AssignmentAttr assignment, const Grids &grids,
                               ArrayRef<Reading> readings, Lines multicast) {
  Choice choice{assignment, stepsOf(assignment, grids), 0};
  for (const Reading &reading : readings) {
    Sharing sharing = sharingOf(assignment, grids, reading.classes);
    double fanOut = 1;
    bool rows = sharing.alongRows && hasRows(multicast);
    bool columns = sharing.alongColumns && hasColumns(multicast);
    if (rows && columns)
      fanOut = double(grids.pes());
    else if (rows || columns)
      fanOut = double(rows ? grids.columns : grids.rows);
    double loads = double(choice.steps * grids.pes()) / fanOut;
    if (fanOut == 1 && reading.even)
      loads = evenLoads(assignment, grids, *reading.even, multicast)
                  .value_or(loads);
    choice.bytes += reading.bytes * loads;
  }
  return choice;
}

namespace {
/// Classes of `outer` go to lines, and the programs of each class, ordered by
/// their class of `inner`, over the PEs of its lines.
struct Layout {
  const Classes &outer, &inner;
  bool outerOnRows;
};
} // namespace

// What one line of PEs runs in the steps of one round.
using Line = SmallVector<int32_t>;

static SmallVector<SmallVector<Line>> roundsOf(const Layout &layout,
                                               int64_t lines, int64_t perLine) {
  std::vector<Line> members(layout.outer.count);
  for (auto [program, number] : llvm::enumerate(layout.outer.of))
    members[number].push_back(program);
  for (Line &each : members)
    llvm::sort(each, [&](int32_t a, int32_t b) {
      return std::pair(layout.inner.of[a], a) <
             std::pair(layout.inner.of[b], b);
    });
  // Fewer classes than lines: a class has several lines, in turn.
  int64_t linesPerClass = std::max<int64_t>(1, lines / int64_t(members.size()));
  SmallVector<SmallVector<Line>> rounds;
  for (const Line &each : members) {
    if (rounds.empty() || int64_t(rounds.back().size()) + linesPerClass > lines)
      rounds.emplace_back();
    SmallVector<Line> parts(linesPerClass);
    for (auto [position, program] : llvm::enumerate(each))
      parts[position / perLine % linesPerClass].push_back(program);
    llvm::append_range(rounds.back(), parts);
  }
  return rounds;
}

// A PE without a program does the loads of one in its line, and of the
// line before where its own has none.
static AssignmentAttr tableOf(MLIRContext *context, const Grids &grids,
                              const Layout &layout) {
  int64_t lines = layout.outerOnRows ? grids.rows : grids.columns;
  int64_t perLine = layout.outerOnRows ? grids.columns : grids.rows;
  std::vector<int32_t> entries;
  int64_t steps = 0;
  for (SmallVector<Line> &round : roundsOf(layout, lines, perLine)) {
    int64_t most = 0;
    for (const Line &line : round)
      most = std::max<int64_t>(most, line.size());
    int64_t first = steps;
    steps += llvm::divideCeil(most, perLine);
    entries.resize(steps * grids.pes());
    for (int64_t number = 0; number < lines; ++number) {
      // Lines beyond the last class repeat that one.
      const Line &line =
          round[std::min<int64_t>(number, int64_t(round.size()) - 1)];
      bool isOwn = number < int64_t(round.size());
      for (int64_t turn = 0; turn < (steps - first) * perLine; ++turn) {
        int64_t last = int64_t(line.size()) - 1;
        int32_t program = line.empty() ? 0 : line[std::min(turn, last)];
        bool active = isOwn && turn <= last;
        int64_t row = number, column = turn % perLine;
        if (!layout.outerOnRows)
          std::swap(row, column);
        int64_t place =
            ((first + turn / perLine) * grids.rows + row) * grids.columns +
            column;
        entries[place] = active ? program : -1 - program;
      }
    }
    if (steps * grids.pes() > largestTable)
      return nullptr;
  }
  auto type = RankedTensorType::get({steps, grids.rows, grids.columns},
                                    IntegerType::get(context, 32));
  return AssignmentAttr::get(context, AssignmentKind::Table, {},
                             DenseIntElementsAttr::get(type, entries));
}

static AssignmentAttr formula(MLIRContext *context, AssignmentKind kind,
                              ArrayRef<int64_t> values = {}) {
  return AssignmentAttr::get(context, kind, values, DenseIntElementsAttr());
}

static SmallVector<AssignmentAttr> formulas(MLIRContext *context,
                                            const Grids &grids) {
  SmallVector<AssignmentAttr> result;
  result.push_back(formula(context, AssignmentKind::Interleaved));
  for (int64_t first = 0; first < 3; ++first)
    for (int64_t second = 0; second < 3; ++second)
      if (first != second && grids.launch[first] > 1 &&
          grids.launch[second] > 1)
        result.push_back(
            formula(context, AssignmentKind::Grid, {first, second}));
  int64_t each = llvm::divideCeil(grids.programs(), grids.pes());
  if (each > 1)
    result.push_back(formula(context, AssignmentKind::Blocked, {each}));
  return result;
}

// All in one class, those of each load, and those of each dimension.
static SmallVector<Classes> partitionsOf(const Grids &grids,
                                         ArrayRef<Reading> readings) {
  size_t programs = grids.programs();
  SmallVector<Classes> partitions{Classes(programs)};
  auto add = [&](const Classes &classes) {
    // The search is over pairs: a few loads tell all there is.
    if (classes.count > 1 && classes.count < programs &&
        partitions.size() < 8 && !llvm::is_contained(partitions, classes))
      partitions.push_back(classes);
  };
  for (const Reading &reading : readings) {
    add(reading.classes);
    if (reading.even)
      add(reading.even->classes);
  }
  return partitions;
}

// Iterations, of loops that programs run differently often, of the PE that has
// the most of them.
static double mostIterations(AssignmentAttr assignment, const Grids &grids,
                             ArrayRef<Reading> readings) {
  std::vector<double> own(grids.pes());
  for (const Reading &reading : readings) {
    if (!reading.even)
      continue;
    int64_t steps = stepsOf(assignment, grids);
    for (int64_t step = 0; step < steps; ++step)
      for (int64_t pe = 0; pe < grids.pes(); ++pe) {
        Turn turn = turnOf(assignment, grids, step, pe / grids.columns,
                           pe % grids.columns);
        auto [x, y, z] = turn.id;
        if (turn.active)
          own[pe] +=
              reading.even
                  ->iterations[(z * grids.launch[1] + y) * grids.launch[0] + x];
      }
  }
  return *llvm::max_element(own);
}

Choice tilebridge::accel::chooseAssignment(MLIRContext *context,
                                           const Grids &grids,
                                           ArrayRef<Reading> readings,
                                           Lines multicast) {
  SmallVector<Choice> choices;
  for (AssignmentAttr assignment : formulas(context, grids))
    choices.push_back(rate(assignment, grids, readings, multicast));
  if (grids.programs() <= largestTable && multicast != Lines::None) {
    SmallVector<Classes> partitions = partitionsOf(grids, readings);
    for (const Classes &outer : partitions)
      for (const Classes &inner : partitions)
        for (bool outerOnRows : {true, false}) {
          if (outer.count == 1 && inner.count == 1)
            continue;
          if (AssignmentAttr table =
                  tableOf(context, grids, {outer, inner, outerOnRows}))
            choices.push_back(rate(table, grids, readings, multicast));
        }
  }
  int64_t fewest =
      llvm::min_element(choices, [](const Choice &a, const Choice &b) {
        return a.steps < b.steps;
      })->steps;
  llvm::erase_if(choices, [&](const Choice &choice) {
    return choice.steps > fewest + fewest / 8;
  });
  // Where one PE would have far more to do than in another assignment, all wait
  // for it.
  std::vector<double> iterations;
  for (const Choice &choice : choices)
    iterations.push_back(mostIterations(choice.assignment, grids, readings));
  double least = *llvm::min_element(iterations) * mostWaiting;
  // The first of equals: formulas come before tables.
  const Choice *best = nullptr;
  for (auto [choice, most] : llvm::zip_equal(choices, iterations))
    if (most <= least && (!best || std::pair(choice.bytes, choice.steps) <
                                       std::pair(best->bytes, best->steps)))
      best = &choice;
  return *best;
}
