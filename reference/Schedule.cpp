//===- Schedule.cpp - programs that wait for one another ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Schedule.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <pthread.h>

namespace tilebridge::reference {

/// A program that has started. `hasTurn` says who runs: it, or the scheduler.
struct Schedule::Runner {
  Runner(Schedule &schedule, uint64_t program)
      : schedule(schedule), program(program) {}

  Schedule &schedule;
  uint64_t program;
  pthread_t thread = {};
  std::mutex mutex;
  std::condition_variable changed;
  bool hasTurn = false, isDone = false;
  unsigned passes = 0;

  void handOver(bool toRunner) {
    std::unique_lock<std::mutex> lock(mutex);
    hasTurn = toRunner;
    changed.notify_all();
    changed.wait(lock, [&] { return hasTurn != toRunner; });
  }
};

// Of the program whose thread this is.
static thread_local void *ownRunner = nullptr;

void *Schedule::runThread(void *argument) {
  auto &runner = *static_cast<Runner *>(argument);
  ownRunner = &runner;
  {
    std::unique_lock<std::mutex> lock(runner.mutex);
    runner.changed.wait(lock, [&] { return runner.hasTurn; });
  }
  if (!runner.schedule.hasFailed && !runner.schedule.body(runner.program))
    runner.schedule.hasFailed = true;
  std::unique_lock<std::mutex> lock(runner.mutex);
  runner.isDone = true;
  runner.hasTurn = false;
  runner.changed.notify_all();
  return nullptr;
}

Schedule::Runner *Schedule::start(uint64_t program) {
  auto runner = std::make_unique<Runner>(*this, program);
  if (pthread_create(&runner->thread, nullptr, runThread, runner.get()) != 0)
    return nullptr;
  return runner.release();
}

void Schedule::giveTurn(Runner &runner) { runner.handOver(/*toRunner=*/true); }

bool Schedule::pass() {
  auto &runner = *static_cast<Runner *>(ownRunner);
  if (++runner.passes % turn == 0)
    runner.handOver(/*toRunner=*/false);
  return !hasFailed;
}

bool Schedule::run() {
  // As many as any machine gives threads to; the rest starts as these end.
  constexpr size_t most = 1024;
  std::deque<Runner *> waiting;
  size_t next = 0;
  while (true) {
    Runner *runner = nullptr;
    if (next < programs.size() && waiting.size() < most && !hasFailed &&
        (runner = start(programs[next])))
      ++next;
    if (!runner) {
      if (waiting.empty())
        return !hasFailed && next == programs.size();
      runner = waiting.front();
      waiting.pop_front();
    }
    giveTurn(*runner);
    if (!runner->isDone) {
      waiting.push_back(runner);
      continue;
    }
    pthread_join(runner->thread, nullptr);
    delete runner;
  }
}

} // namespace tilebridge::reference
