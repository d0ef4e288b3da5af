//===- ForkTest.cpp - fork waits for what a child cannot go on with --- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Fork.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tilebridge::rt;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

namespace {

/// Whether a forked child says so; one that hangs does not.
template <typename Function> bool childSays(Function function) {
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(function() ? 0 : 1);
  }
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/// A thread that has a delay until it is told to end.
class Delaying {
public:
  Delaying() {
    while (!hasBegun)
      std::this_thread::yield();
  }
  ~Delaying() {
    isEnd = true;
    thread.join();
  }
  std::atomic<bool> hasBegun{false}, isEnd{false};

private:
  std::thread thread{[this] {
    ForkDelay delay;
    hasBegun = true;
    while (!isEnd)
      std::this_thread::sleep_for(milliseconds(1));
  }};
};

} // namespace

TEST(Fork, WaitsForDelaysOfOthers) {
  std::atomic<int> step{0};
  std::thread other([&] {
    ForkDelay outer;
    {
      ForkDelay inner;
    }
    step = 1;
    std::this_thread::sleep_for(milliseconds(100));
    step = 2;
  });
  while (step == 0)
    std::this_thread::yield();
  EXPECT_TRUE(childSays([&] { return step == 2; }));
  other.join();
}

TEST(Fork, DoesNotWaitForOnesOwn) {
  auto begin = steady_clock::now();
  ForkDelay delay;
  EXPECT_TRUE(childSays([] {
    ForkDelay nested;
    return childSays([] { return isForkedChild(); });
  }));
  EXPECT_LT(steady_clock::now() - begin, seconds(mostForkWait));
}

TEST(Fork, WaitsNoLongerThanTheLimit) {
  Delaying other;
  auto begin = steady_clock::now();
  // What the other thread had is gone in the child, which forks at once.
  EXPECT_TRUE(childSays([] {
    auto begin = steady_clock::now();
    ForkDelay delay;
    return childSays([] { return true; }) &&
           steady_clock::now() - begin < seconds(mostForkWait);
  }));
  EXPECT_GE(steady_clock::now() - begin, seconds(mostForkWait));
}

TEST(Fork, OfSeveralThreads) {
  std::atomic<bool> isEnd{false};
  std::atomic<int> inside{0};
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i)
    others.emplace_back([&] {
      while (!isEnd) {
        ForkDelay delay;
        ++inside;
        std::this_thread::yield();
        --inside;
      }
    });
  std::atomic<int> failures{0};
  std::vector<std::thread> forking;
  for (int i = 0; i < 2; ++i)
    forking.emplace_back([&] {
      for (int k = 0; k < 50; ++k)
        failures += !childSays([&] {
          ForkDelay delay;
          return inside == 0;
        });
    });
  for (std::thread &thread : forking)
    thread.join();
  isEnd = true;
  for (std::thread &thread : others)
    thread.join();
  EXPECT_EQ(failures, 0);
}
