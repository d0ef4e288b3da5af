//===- LaunchTest.cpp - grids, threads, callbacks --------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Probes.h"

#include <algorithm>
#include <malloc.h>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

TEST(Launch, RunsEveryProgramOnce) {
  KernelPtr kernel = load("probe");
  for (int64_t total : {1, 2, 3, 17, 100, 4096, 100003}) {
    std::vector<int64_t> data(size_t(total), 0);
    for (int repeat = 1; repeat <= 3; ++repeat) {
      ASSERT_EQ(launch(kernel, total, 1, 1, data.data(), Count), TILEBRIDGE_OK);
      ASSERT_EQ(std::count(data.begin(), data.end(), repeat), total);
    }
  }
  std::vector<int64_t> data(7 * 11 * 13, 0);
  ASSERT_EQ(launch(kernel, 7, 11, 13, data.data(), Count), TILEBRIDGE_OK);
  EXPECT_EQ(std::count(data.begin(), data.end(), 1), 7 * 11 * 13);
}

TEST(Launch, ChecksGrids) {
  KernelPtr kernel = load("probe");
  constexpr int64_t most = (int64_t(1) << 31) - 1;
  EXPECT_EQ(launch(kernel, 0, 5, 5, nullptr, Count), TILEBRIDGE_OK);
  EXPECT_EQ(launch(kernel, most, most, 0, nullptr, Count), TILEBRIDGE_OK);
  EXPECT_EQ(launch(kernel, 1, -1, 1, nullptr, Count),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tilebridge_last_error())
                .find("': the grid's dimension y is -1"),
            std::string::npos);
  EXPECT_EQ(launch(kernel, most + 1, 1, 1, nullptr, Count),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(launch(kernel, most + 1, 1, 0, nullptr, Count),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(launch(kernel, most, most, most, nullptr, Count),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tilebridge_last_error()).find("2^61"),
            std::string::npos);
}

TEST(Launch, ChecksSlotsAndOptions) {
  KernelPtr kernel = load("probe");
  uint64_t slots[3] = {};
  EXPECT_EQ(tilebridge_launch(kernel.get(), 1, 1, 1, slots, 3, nullptr),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(tilebridge_launch(kernel.get(), 1, 1, 1, nullptr, 2, nullptr),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  tilebridge_launch_options options = {};
  EXPECT_EQ(launch(kernel, 1, 1, 1, nullptr, ScratchMode, &options),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tilebridge_last_error()).find("struct_size"),
            std::string::npos);
}

// What an unknown flag asks for would not be done.
TEST(Launch, RefusesFlagsThatItDoesNotKnow) {
  KernelPtr kernel = load("probe");
  tilebridge_launch_options options = {};
  options.struct_size = sizeof(options);
  options.flags = TILEBRIDGE_LAUNCH_COOPERATIVE | 1u << 30;
  EXPECT_EQ(launch(kernel, 1, 1, 1, nullptr, ScratchMode, &options),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(
      std::string(tilebridge_last_error())
          .find("the flags of tilebridge_launch_options have 0x40000000, which "
                "this version of the runtime does not know (tilebridge "),
      0u);
  tilebridge_compile_options compile = {};
  compile.struct_size = sizeof(compile);
  compile.flags = 1u << 4;
  tilebridge_buffer out;
  EXPECT_EQ(tilebridge_compile("x", 1, &compile, &out),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(out.data, nullptr);
}

TEST(Launch, WorksFromManyThreads) {
  KernelPtr kernel = load("probe");
  std::vector<std::thread> threads;
  std::vector<int64_t> bad(8, 0);
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      std::vector<int64_t> data(1000, 0);
      for (int i = 0; i < 50; ++i) {
        launch(kernel, 1000, 1, 1, data.data(), Count);
        launch(kernel, 64, 1, 1, &bad[size_t(t)], ScratchMode);
      }
      bad[size_t(t)] += 1000 - std::count(data.begin(), data.end(), 50);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(std::count(bad.begin(), bad.end(), 0), 8);
}

TEST(Launch, ProgramsThatWaitMakeProgress) {
  KernelPtr kernel = load("probe");
  for (int64_t total : {2, 33, 1000, 20000}) {
    std::vector<int64_t> chain(size_t(total), 0);
    ASSERT_EQ(launch(kernel, total, 1, 1, chain.data(), Chain), TILEBRIDGE_OK);
    EXPECT_EQ(std::count(chain.begin(), chain.end(), 1), total);
  }
  int64_t lock[2] = {0, 0};
  ASSERT_EQ(launch(kernel, 2000, 1, 1, lock, Lock), TILEBRIDGE_OK);
  EXPECT_EQ(lock[1], 2000);
}

TEST(Launch, CooperativeProgramsRunTogether) {
  KernelPtr kernel = load("probe");
  tilebridge_launch_options options = {};
  options.struct_size = sizeof(options);
  options.flags = TILEBRIDGE_LAUNCH_COOPERATIVE;
  // More programs than there are shares, and programs that were short before,
  // of which a thread would otherwise take several at once.
  std::vector<int64_t> data(100000, 0);
  ASSERT_EQ(launch(kernel, 100000, 1, 1, data.data(), Count), TILEBRIDGE_OK);
  for (int64_t total : {520, 1, 2, 7, 40}) {
    int64_t arrived = 0;
    ASSERT_EQ(launch(kernel, total, 1, 1, &arrived, Rendezvous, &options),
              TILEBRIDGE_OK);
    EXPECT_EQ(arrived, total);
  }
}

TEST(Launch, LimitsThreads) {
  KernelPtr kernel = load("probe");
  tilebridge_launch_options options = {};
  options.struct_size = sizeof(options);
  options.max_threads = 1;
  std::vector<int64_t> data(500, 0);
  ASSERT_EQ(launch(kernel, 500, 1, 1, data.data(), Count, &options),
            TILEBRIDGE_OK);
  EXPECT_EQ(std::count(data.begin(), data.end(), 1), 500);
}

TEST(Launch, OneThreadHasOneCall) {
  KernelPtr kernel = load("probe");
  tilebridge_launch_options options = {};
  options.struct_size = sizeof(options);
  options.max_threads = 1;
  for (int64_t total : {1, 2, 16, 100003}) {
    int64_t calls = 0;
    ASSERT_EQ(launch(kernel, total, 1, 1, &calls, Calls, &options),
              TILEBRIDGE_OK);
    EXPECT_EQ(calls, 1) << total << " programs";
  }
}

/// Short launches, about as long as what is worth other threads: they stay
/// where their data are, and do not go there and back.
TEST(Launch, StaysOnItsThreads) {
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "there are no other threads";
  KernelPtr kernel = load("probe");
  for (int64_t total : {12, 16, 20}) {
    std::vector<int64_t> data(size_t(total) + 1, 0);
    auto launchMany = [&](int count) {
      for (int i = 0; i < count; ++i)
        ASSERT_EQ(launch(kernel, total, 1, 1, data.data(), Migrate),
                  TILEBRIDGE_OK);
    };
    // What other processes do to the cores is not this test's matter.
    double least = 1;
    for (int attempt = 0; attempt < 10 && least >= 0.05; ++attempt) {
      launchMany(200);
      data[size_t(total)] = 0;
      launchMany(500);
      least =
          std::min(least, double(data[size_t(total)]) / double(500 * total));
    }
    EXPECT_LT(least, 0.05) << total << " programs";
  }
}

TEST(Launch, AssertionsEndIt) {
  KernelPtr kernel = load("probe");
  int64_t ran = 0;
  EXPECT_EQ(launch(kernel, 1 << 20, 1, 1, &ran, Assert),
            TILEBRIDGE_ERROR_KERNEL_ASSERT);
  EXPECT_STREQ(tilebridge_last_error(), "kernel.py:7:3: three is wrong");
  // Other threads may have done all the rest where the one that fails had to
  // wait for its core: with one thread all programs behind it are left.
  ran = 0;
  tilebridge_launch_options options = {};
  options.struct_size = sizeof(options);
  options.max_threads = 1;
  EXPECT_EQ(launch(kernel, 1 << 20, 1, 1, &ran, Assert, &options),
            TILEBRIDGE_ERROR_KERNEL_ASSERT);
  EXPECT_EQ(ran, 4);
  // The next launch starts afresh.
  EXPECT_EQ(launch(kernel, 3, 1, 1, &ran, Assert), TILEBRIDGE_OK);
}

TEST(Launch, PrintsWholeLines) {
  KernelPtr kernel = load("probe");
  struct Lines {
    std::mutex mutex;
    std::vector<std::string> lines;
  } seen;
  tilebridge_launch_options options = {};
  options.struct_size = sizeof(options);
  options.print_state = &seen;
  options.print = [](void *state, const char *text) {
    auto &to = *static_cast<Lines *>(state);
    std::lock_guard<std::mutex> lock(to.mutex);
    to.lines.emplace_back(text);
  };
  ASSERT_EQ(launch(kernel, 100, 1, 1, nullptr, Print, &options), TILEBRIDGE_OK);
  EXPECT_EQ(seen.lines.size(), 100u);
  EXPECT_EQ(std::count(seen.lines.begin(), seen.lines.end(), "program 99\n"),
            1);
}

TEST(Launch, ReportsThatMemoryRanOut) {
  KernelPtr kernel = load("probe-huge");
  EXPECT_EQ(launch(kernel, 100, 1, 1, nullptr, Print),
            TILEBRIDGE_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(launch(kernel, 1, 1, 1, nullptr, Print),
            TILEBRIDGE_ERROR_OUT_OF_MEMORY);
  EXPECT_NE(std::string(tilebridge_last_error()).find("scratch memory"),
            std::string::npos);
}

/// A thread allocates a little the first time it takes part, which on a busy
/// machine may be late: launches that allocate do so in each round.
TEST(Launch, AllocatesNothingOnceWarm) {
  KernelPtr kernel = load("probe");
  int64_t bad = 0;
  size_t grown = 1;
  for (int round = 0; round < 5 && grown > 0; ++round) {
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 5000; ++i)
      launch(kernel, 8, 1, 1, &bad, ScratchMode);
    size_t after = mallinfo2().uordblks;
    grown = after > before ? after - before : 0;
  }
  EXPECT_EQ(grown, 0u);
  EXPECT_EQ(bad, 0);
}

TEST(Launch, WorksInAForkedChild) {
  KernelPtr kernel = load("probe");
  std::vector<int64_t> data(1000, 0);
  launch(kernel, 1000, 1, 1, data.data(),
         Count); // the parent has used its threads
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    bool ok = launch(kernel, 1000, 1, 1, data.data(), Count) == TILEBRIDGE_OK &&
              std::count(data.begin(), data.end(), 2) == 1000;
    _exit(ok ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
