//===- AllocationTest.cpp - places of buffers in a scratchpad -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/allocation/Problem.h"
#include "accel-backend/plan/allocation/Solver.h"

#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"

#include <random>
#include <vector>

using namespace tilebridge::accel::allocation;

static Buffer buffer(uint64_t bytes, int64_t begin, int64_t end,
                     uint64_t alignment = 1) {
  Buffer result;
  result.name = "buffer of " + std::to_string(bytes);
  result.bytes = bytes;
  result.alignment = alignment;
  result.begin = begin;
  result.end = end;
  return result;
}

static Placement at(std::initializer_list<uint64_t> offsets, uint64_t bytes) {
  Placement placement;
  placement.offsets = offsets;
  placement.bytes = bytes;
  return placement;
}

TEST(Allocation, VerifierFindsEachDefect) {
  Problem problem{100, 2, {buffer(40, 0, 4, 8), buffer(40, 2, 6), {}}};
  problem.buffers[2] = buffer(10, 4, 6);
  problem.buffers[2].bank = 1;
  EXPECT_EQ(verify(problem, at({0, 40, 80}, 90)), "");
  // The first one has ended where the third begins.
  EXPECT_EQ(verify(problem, at({40, 0, 60}, 80)), "");
  EXPECT_EQ(verify(problem, at({0, 40}, 80)), "2 offsets for 3 buffers");
  EXPECT_NE(verify(problem, at({4, 44, 84}, 94)).find("not a multiple of 8"),
            std::string::npos);
  EXPECT_NE(verify(problem, at({0, 70, 50}, 110)).find("of a memory of 100"),
            std::string::npos);
  EXPECT_NE(verify(problem, at({0, 39, 80}, 90)).find("overlap"),
            std::string::npos);
  EXPECT_NE(verify(problem, at({56, 0, 45}, 96)).find("is not in bank 1"),
            std::string::npos);
  EXPECT_NE(verify(problem, at({0, 40, 80}, 91)).find("ends at 90"),
            std::string::npos);
  Placement elsewhere = at({0, 40, 80}, 90);
  elsewhere.elsewhere = {2};
  EXPECT_NE(verify(problem, elsewhere).find("is in bank 1"), std::string::npos);
}

TEST(Allocation, ProblemsThatMakeNoSense) {
  Problem problem{100, 2, {buffer(40, 3, 3)}};
  EXPECT_NE(problem.check().find("from 3 until before 3"), std::string::npos);
  problem.buffers[0] = buffer(40, 0, 1, 0);
  EXPECT_NE(problem.check().find("alignment of 0"), std::string::npos);
  problem.buffers[0] = buffer(40, 0, 1);
  problem.buffers[0].bank = 2;
  EXPECT_NE(problem.check().find("bank 2 of 2"), std::string::npos);
  EXPECT_FALSE(solve(problem));
  problem.banks = 0;
  EXPECT_FALSE(solve(problem));
}

TEST(Allocation, NothingAndTooMuch) {
  Problem problem{100, 1, {}};
  ASSERT_TRUE(solve(problem));
  EXPECT_EQ(solve(problem)->bytes, 0u);
  problem.buffers = {buffer(60, 0, 2), buffer(60, 1, 3), buffer(10, 5, 6)};
  EXPECT_EQ(problem.lowerBound(), 120u);
  EXPECT_EQ(problem.fullest(), (llvm::SmallVector<unsigned>{0, 1}));
  EXPECT_FALSE(solve(problem));
}

// Two blocks of A and B each in turn, the accumulator, and the result in
// memory that A and B no longer need.
TEST(Allocation, MatmulFillsItsMemory) {
  const uint64_t k = 1024;
  Problem problem{384 * k,
                  1,
                  {buffer(256 * k, 0, 10, 64), buffer(32 * k, 1, 9, 64),
                   buffer(32 * k, 2, 9, 64), buffer(32 * k, 1, 9, 64),
                   buffer(32 * k, 2, 9, 64), buffer(128 * k, 9, 12, 64)}};
  std::optional<Placement> placement = solve(problem);
  ASSERT_TRUE(placement);
  EXPECT_EQ(placement->bytes, 384 * k);
  EXPECT_EQ(verify(problem, *placement), "");
}

TEST(Allocation, BanksAreWishes) {
  Problem problem{100, 2, {buffer(30, 0, 4), buffer(30, 0, 4)}};
  problem.buffers[0].bank = 1;
  problem.buffers[1].bank = 0;
  std::optional<Placement> placement = solve(problem);
  ASSERT_TRUE(placement);
  EXPECT_TRUE(placement->elsewhere.empty());
  EXPECT_GE(placement->offsets[0], 50u);
  // Two that do not fit into one bank, and one larger than any.
  problem.buffers[1].bank = 1;
  placement = solve(problem);
  ASSERT_TRUE(placement);
  EXPECT_EQ(placement->elsewhere.size(), 1u);
  problem.buffers = {buffer(80, 0, 4)};
  problem.buffers[0].bank = 0;
  placement = solve(problem);
  ASSERT_TRUE(placement);
  EXPECT_EQ(placement->elsewhere.size(), 1u);
}

// A memory that is filled at all times by cutting it up: the lower bound is
// its size, and a placement exists.
static Problem cutUp(std::minstd_rand &random, uint64_t bytes, int64_t time) {
  struct Piece {
    uint64_t bytes;
    int64_t begin, end;
  };
  llvm::SmallVector<Piece> pieces{{bytes, 0, time}};
  for (unsigned cuts = 2 + random() % 12; cuts; --cuts) {
    unsigned index = random() % pieces.size();
    Piece piece = pieces[index], rest = piece;
    if (random() % 2 && piece.bytes > 1) {
      piece.bytes = 1 + random() % (piece.bytes - 1);
      rest.bytes -= piece.bytes;
    } else if (piece.end - piece.begin > 1) {
      piece.end =
          piece.begin + 1 + random() % uint64_t(piece.end - piece.begin - 1);
      rest.begin = piece.end;
    } else {
      continue;
    }
    pieces[index] = piece;
    pieces.push_back(rest);
  }
  Problem problem;
  problem.capacity = bytes;
  for (const Piece &piece : pieces)
    problem.buffers.push_back(buffer(piece.bytes, piece.begin, piece.end));
  return problem;
}

TEST(Allocation, RandomProblemsReachTheLowerBound) {
  std::minstd_rand random(7);
  unsigned tight = 0, solved = 0;
  for (unsigned round = 0; round < 200; ++round) {
    Problem problem = cutUp(random, 4096, 64);
    ASSERT_EQ(problem.lowerBound(), 4096u);
    std::optional<Placement> placement = solve(problem);
    ++tight;
    solved += placement.has_value();
    if (placement) {
      EXPECT_EQ(verify(problem, *placement), "");
    }
    // With a fifth more all are solved.
    problem.capacity = 4096 + 4096 / 5;
    placement = solve(problem);
    ASSERT_TRUE(placement) << "round " << round;
    EXPECT_EQ(verify(problem, *placement), "");
  }
  EXPECT_GE(solved, tight * 8 / 10) << solved << " of " << tight;
}

TEST(Allocation, RandomLifetimesAndAlignments) {
  std::minstd_rand random(11);
  double worst = 1;
  for (unsigned round = 0; round < 100; ++round) {
    Problem problem;
    problem.banks = 1 + random() % 4;
    uint64_t padding = 0;
    for (unsigned count = 1 + random() % 60; count; --count) {
      int64_t begin = random() % 100;
      problem.buffers.push_back(buffer(random() % 5000, begin,
                                       begin + 1 + random() % 30,
                                       uint64_t(1) << random() % 8));
      if (random() % 5 == 0)
        problem.buffers.back().bank = random() % problem.banks;
      padding = std::max(padding, problem.buffers.back().alignment);
    }
    uint64_t bound = problem.lowerBound() + padding * problem.buffers.size();
    problem.capacity = bound * 3;
    std::optional<Placement> placement = solve(problem);
    ASSERT_TRUE(placement);
    EXPECT_EQ(verify(problem, *placement), "");
    for (Buffer &each : problem.buffers)
      each.bank.reset();
    // The smallest memory that it is solved for.
    for (problem.capacity = problem.lowerBound();
         !(placement = solve(problem));)
      problem.capacity += std::max<uint64_t>(problem.capacity / 50, 1);
    worst = std::max(worst, double(problem.capacity) / double(bound));
  }
  EXPECT_LE(worst, 1.25);
}

// As a definition says it: at each time that a buffer begins at.
TEST(Allocation, TheFullestTimeIsTheFirstOfTheLargest) {
  std::minstd_rand random(13);
  for (unsigned round = 0; round < 200; ++round) {
    Problem problem;
    for (unsigned count = random() % 40; count; --count) {
      int64_t begin = random() % 30;
      problem.buffers.push_back(
          buffer(random() % 4, begin, begin + 1 + random() % 9));
    }
    uint64_t most = 0;
    std::vector<unsigned> expected;
    for (int64_t time = 0; time < 40; ++time) {
      uint64_t sum = 0;
      std::vector<unsigned> then;
      for (unsigned i = 0; i < problem.buffers.size(); ++i) {
        const Buffer &each = problem.buffers[i];
        if (each.begin > time || time >= each.end)
          continue;
        sum += each.bytes;
        then.push_back(i);
      }
      if (sum <= most)
        continue;
      most = sum;
      expected = then;
    }
    EXPECT_EQ(problem.lowerBound(), most);
    if (most) {
      EXPECT_EQ(llvm::to_vector(llvm::ArrayRef(expected)), problem.fullest());
    }
  }
}
