//===- Fork.cpp - what a forked child must not find begun ------------ -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Fork.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <pthread.h>

namespace tilebridge::rt {

namespace {

struct State {
  std::mutex mutex; // held through fork itself
  std::condition_variable changed;
  unsigned delays = 0;  // how many threads have one
  unsigned waiting = 0; // how many threads wait to fork
};

/// Never destroyed: other threads may go on while the process ends.
State &state() {
  alignas(State) static char memory[sizeof(State)];
  static State *const made = new (memory) State;
  return *made;
}

thread_local unsigned depth = 0;
std::atomic<bool> isChild{false};

void prepare() {
  State &now = state();
  std::unique_lock<std::mutex> lock(now.mutex);
  if (depth == 0) {
    ++now.waiting;
    now.changed.wait_for(lock, std::chrono::seconds(mostForkWait),
                         [&] { return now.delays == 0; });
    --now.waiting;
  }
  lock.release();
}

void goOnInParent() {
  State &now = state();
  now.mutex.unlock();
  now.changed.notify_all();
}

// The threads that waited or had a delay are not here.
void goOnInChild() {
  State *now = new (&state()) State;
  now->delays = depth != 0;
  isChild.store(true, std::memory_order_relaxed);
}

// From the moment this library is loaded: whoever forks may have used the
// threads of OpenMP before the first launch.
[[maybe_unused]] const int handlers = [] {
  state();
  return pthread_atfork(prepare, goOnInParent, goOnInChild);
}();

} // namespace

ForkDelay::ForkDelay() {
  if (depth++ != 0)
    return;
  State &now = state();
  std::unique_lock<std::mutex> lock(now.mutex);
  now.changed.wait(lock, [&] { return now.waiting == 0; });
  ++now.delays;
}

ForkDelay::~ForkDelay() {
  if (--depth != 0)
    return;
  State &now = state();
  {
    std::lock_guard<std::mutex> lock(now.mutex);
    --now.delays;
  }
  now.changed.notify_all();
}

bool isForkedChild() { return isChild.load(std::memory_order_relaxed); }

} // namespace tilebridge::rt
