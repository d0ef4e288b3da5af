//===- AssignmentTest.cpp - which PE runs which program -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/ChooseAssignment.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace tilebridge::accel;

/// Each program has one active turn, and ids are those of a program always.
static void expectOneTurnEach(AssignmentAttr assignment, const Grids &grids) {
  std::vector<unsigned> turns(grids.programs());
  for (int64_t step = 0; step < stepsOf(assignment, grids); ++step)
    for (int64_t row = 0; row < grids.rows; ++row)
      for (int64_t column = 0; column < grids.columns; ++column) {
        Turn turn = turnOf(assignment, grids, step, row, column);
        for (unsigned d = 0; d < 3; ++d) {
          ASSERT_GE(turn.id[d], 0);
          ASSERT_LT(turn.id[d], grids.launch[d]);
        }
        if (turn.active)
          ++turns[(turn.id[2] * grids.launch[1] + turn.id[1]) *
                      grids.launch[0] +
                  turn.id[0]];
      }
  for (unsigned count : turns)
    ASSERT_EQ(count, 1u);
}

static Reading reading(size_t programs, double bytes,
                       llvm::function_ref<int64_t(int64_t)> number) {
  Reading result{Classes(programs), bytes};
  InstanceValues::Row row(programs);
  for (size_t program = 0; program < programs; ++program)
    row[program] = number(program);
  result.classes.refine(row);
  return result;
}

namespace {
struct Assignment : testing::Test {
  Assignment() { context.loadDialect<AccelDialect>(); }
  AssignmentAttr make(AssignmentKind kind, ArrayRef<int64_t> values = {}) {
    return AssignmentAttr::get(&context, kind, values, DenseIntElementsAttr());
  }
  MLIRContext context;
};
} // namespace

TEST_F(Assignment, EachProgramHasOneTurn) {
  std::minstd_rand random(5);
  for (unsigned round = 0; round < 60; ++round) {
    Grids grids{int64_t(1 + random() % 5),
                int64_t(1 + random() % 5),
                {int64_t(1 + random() % 7), int64_t(1 + random() % 7),
                 int64_t(1 + random() % 4)}};
    expectOneTurnEach(make(AssignmentKind::Interleaved), grids);
    int64_t each = (grids.programs() + grids.pes() - 1) / grids.pes();
    expectOneTurnEach(make(AssignmentKind::Blocked, {each}), grids);
    for (int64_t r = -1; r < 3; ++r)
      for (int64_t c = -1; c < 3; ++c)
        if (r != c)
          expectOneTurnEach(make(AssignmentKind::Grid, {r, c}), grids);
  }
}

// Two loads of a product in any numbering are shared along lines.
TEST_F(Assignment, ProductsAreFound) {
  std::minstd_rand random(9);
  for (unsigned round = 0; round < 40; ++round) {
    int64_t m = 2 + random() % 12, n = 2 + random() % 12;
    Grids grids{
        int64_t(2 + random() % 7), int64_t(2 + random() % 7), {m * n, 1, 1}};
    // Programs are numbered in a random order.
    std::vector<int64_t> numbers(m * n);
    for (int64_t i = 0; i < m * n; ++i)
      numbers[i] = i;
    std::shuffle(numbers.begin(), numbers.end(), random);
    llvm::SmallVector<Reading> readings{
        reading(m * n, 1000, [&](int64_t p) { return numbers[p] / n; }),
        reading(m * n, 1000, [&](int64_t p) { return numbers[p] % n; })};
    Choice choice = chooseAssignment(&context, grids, readings, Lines::Both);
    expectOneTurnEach(choice.assignment, grids);
    int64_t fewest = (m * n + grids.pes() - 1) / grids.pes();
    EXPECT_LE(choice.steps, fewest + fewest / 8);
    Choice interleaved =
        rate(make(AssignmentKind::Interleaved), grids, readings, Lines::Both);
    EXPECT_LE(choice.bytes, interleaved.bytes);
    // Where the product fills the grid of PEs both loads are shared.
    if (m % grids.rows == 0 && n % grids.columns == 0) {
      EXPECT_EQ(choice.bytes,
                1000.0 * double(choice.steps * (grids.rows + grids.columns)));
    }
    // Without multicast nothing is gained.
    EXPECT_EQ(chooseAssignment(&context, grids, readings, Lines::None)
                  .assignment.getKind(),
              AssignmentKind::Interleaved);
  }
}

// Attention: keys and values are those of a head, which has several blocks.
TEST_F(Assignment, OneClassManyPrograms) {
  Grids grids{8, 8, {16, 24, 1}};
  llvm::SmallVector<Reading> readings{
      reading(384, 100, [](int64_t p) { return p; }),
      reading(384, 5000, [](int64_t p) { return p / 16; })};
  Choice choice = chooseAssignment(&context, grids, readings, Lines::Both);
  expectOneTurnEach(choice.assignment, grids);
  EXPECT_EQ(choice.steps, 6);
  Sharing keys = sharingOf(choice.assignment, grids, readings[1].classes);
  EXPECT_TRUE(keys.alongRows || keys.alongColumns);
  // Only columns can multicast.
  choice = chooseAssignment(&context, grids, readings, Lines::Columns);
  EXPECT_TRUE(
      sharingOf(choice.assignment, grids, readings[1].classes).alongColumns);
}
