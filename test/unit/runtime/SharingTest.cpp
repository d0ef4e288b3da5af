//===- SharingTest.cpp - which launches are shared -------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Sharing.h"

#include <algorithm>
#include <gtest/gtest.h>

using tilebridge::rt::Sharing;
using tilebridge::rt::SharingBySize;

namespace {

/// A machine whose times are known, in nanoseconds.
struct Machine {
  float perProgram;
  int64_t programs;
  unsigned threads;
  /// What a region costs, and how much longer a program takes when all work.
  float region, whenAll = 1;
  /// Of so many launches one is disturbed, by a millisecond; 0: none.
  int disturbed = 0;

  float alone() const { return perProgram * float(programs); }
  float shared() const { return region + alone() * whenAll / float(threads); }
  float least() const { return std::min(alone(), shared()); }

  static void note(Sharing &sharing, const Sharing::Plan &plan,
                   int64_t programs, float time) {
    sharing.tookAlone(plan, programs, time);
  }
  static void note(SharingBySize &sharing, const Sharing::Plan &plan,
                   int64_t programs, float time) {
    sharing.tookAlone(plan, programs, programs, time);
  }

  /// One launch; what it takes.
  template <typename Known> float launch(Known &sharing) {
    Sharing::Plan plan = sharing.plan(programs, threads);
    float time = plan.isShared ? shared() : alone();
    if (wasShared != plan.isShared)
      time += alone(); // its data come from other cores
    if (disturbed && ++launches % disturbed == 0)
      time += 1e6F;
    wasShared = plan.isShared;
    if (!plan.isShared)
      note(sharing, plan, programs, time);
    else if (plan.isMeasured || launches % 4 == 0)
      sharing.tookShared(plan, programs, time, perProgram * whenAll);
    return time;
  }

  /// The mean of some launches, without what disturbs them.
  template <typename Known> float mean(Known &sharing, int count) {
    float sum = 0;
    for (int i = 0; i < count; ++i) {
      float time = launch(sharing);
      sum += time > 1e6F ? time - 1e6F : time;
    }
    return sum / float(count);
  }

  bool wasShared = false;
  int launches = 0;
};

} // namespace

/// The better way is found, and trials of the other take little.
TEST(Sharing, FindsTheBetterWay) {
  for (unsigned threads : {2U, 4U, 16U, 64U})
    for (float region : {1000.0F, 8000.0F, 60000.0F})
      for (float whenAll : {1.0F, 3.0F})
        for (float alone :
             {500.0F, 3000.0F, 6000.0F, 16000.0F, 40000.0F, 200000.0F, 3e6F})
          for (int64_t programs : {int64_t(threads), int64_t(1000)})
            for (int disturbed : {0, 50}) {
              Machine machine = {alone / float(programs),
                                 programs,
                                 threads,
                                 region,
                                 whenAll,
                                 disturbed};
              Sharing sharing;
              machine.mean(sharing, 500);
              float mean = machine.mean(sharing, 2000),
                    // What is said of the shortest and of long launches.
                  least = alone < Sharing::alwaysAlone   ? machine.alone()
                          : alone >= Sharing::neverAlone ? machine.shared()
                                                         : machine.least();
              EXPECT_LT(mean, 1.35F * least)
                  << alone << " ns in " << programs << " programs, " << threads
                  << " threads, a region of " << region << ", " << whenAll
                  << " times as long when all work, disturbed " << disturbed;
            }
}

/// 128 rows are gathered in 3 us, or by sixteen threads in 10, each of which
/// takes longer for a row, as it comes from another core.
TEST(Sharing, TriesAlone) {
  Machine machine = {25, 128, 16, 8000, /*whenAll=*/6};
  Sharing sharing;
  machine.mean(sharing, 20);
  EXPECT_FLOAT_EQ(machine.mean(sharing, 20), machine.alone());
}

/// A kernel whose threads sleep when it is launched first, and then no more.
TEST(Sharing, SeesThatRegionsBecomeCheap) {
  Machine machine = {40, 1000, 16, 100000};
  Sharing sharing;
  machine.mean(sharing, 100);
  EXPECT_LT(machine.mean(sharing, 100), 1.2F * machine.alone());
  machine.region = 2000;
  machine.mean(sharing, 3000);
  EXPECT_LT(machine.mean(sharing, 1000), 1.15F * machine.shared());
}

/// Programs that take longer than before, as of rows that are longer.
TEST(Sharing, SeesThatProgramsBecomeLong) {
  Machine machine = {10, 1000, 16, 5000};
  Sharing sharing;
  machine.mean(sharing, 100);
  machine.perProgram = 100;
  machine.mean(sharing, 100);
  EXPECT_LT(machine.mean(sharing, 1000), 1.15F * machine.shared());
  machine.perProgram = 2;
  machine.mean(sharing, 100);
  EXPECT_LT(machine.mean(sharing, 1000), 1.1F * machine.alone());
}

/// Shapes that take turns share what is known of a program.
TEST(Sharing, ShapesThatTakeTurns) {
  Machine small = {10, 200, 16, 6000}, large = {10, 20000, 16, 6000};
  Sharing sharing;
  for (int i = 0; i < 100; ++i) {
    small.launch(sharing);
    large.launch(sharing);
  }
  EXPECT_FALSE(sharing.plan(small.programs, 16).isShared);
  EXPECT_TRUE(sharing.plan(large.programs, 16).isShared);
}

/// 64 programs whose data stay in a core's cache are launched often, and then
/// 256 whose data do not: alone these take 36 us, and 22 us by two threads.
TEST(Sharing, SizesAreLearnedApart) {
  Machine small = {100, 64, 2, 4000}, large = {140, 256, 2, 4000};
  SharingBySize sharing;
  small.mean(sharing, 20000);
  EXPECT_FLOAT_EQ(small.mean(sharing, 10), small.alone());
  large.mean(sharing, 20);
  EXPECT_FLOAT_EQ(large.mean(sharing, 10), large.shared());
  EXPECT_FLOAT_EQ(small.mean(sharing, 10), small.alone());
}

/// What a program takes is guessed by those of other sizes: a launch that is
/// short then is not shared to find out.
TEST(Sharing, SizesBeginWithWhatIsKnownOfOthers) {
  Machine large = {100, 1000, 2, 4000};
  SharingBySize sharing;
  large.mean(sharing, 20);
  EXPECT_FALSE(sharing.plan(10, 2).isShared);
  EXPECT_TRUE(sharing.plan(10, 2).isMeasured);
  EXPECT_TRUE(sharing.plan(400, 2).isShared);
  // The largest are one size.
  EXPECT_TRUE(sharing.plan(int64_t(1) << 62, 2).isShared);
  EXPECT_FALSE(sharing.plan(1, 2).isShared);
}

TEST(Sharing, SaysWhatIsBelieved) {
  Sharing sharing;
  Sharing::Plan first = sharing.plan(100, 2);
  EXPECT_TRUE(first.isShared);
  EXPECT_TRUE(first.isMeasured);
  EXPECT_EQ(first.expected, 0);
  sharing.tookShared(first, 100, 90000, 1000);
  EXPECT_EQ(sharing.busy(), 1000);
  Sharing::Plan second = sharing.plan(100, 2);
  EXPECT_TRUE(second.isShared);
  EXPECT_TRUE(second.isBelieved);
  EXPECT_EQ(second.expected, 100000);
  // 100 us at most: tried at once, and what the first of the two takes is not
  // believed if it is more than is known.
  Sharing::Plan trial = sharing.plan(100, 2);
  EXPECT_FALSE(trial.isShared);
  EXPECT_FALSE(trial.isBelieved);
  EXPECT_GE(trial.limit, 90000);
  sharing.tookAlone(trial, 100, 30000);
  Sharing::Plan again = sharing.plan(100, 2);
  EXPECT_FALSE(again.isShared);
  EXPECT_TRUE(again.isBelieved);
  sharing.tookAlone(again, 100, 20000);
  EXPECT_EQ(sharing.plan(100, 2).expected, 20000);
}
