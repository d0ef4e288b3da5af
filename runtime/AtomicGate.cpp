//===- AtomicGate.cpp - launches whose atomics nobody disturbs -------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/AtomicGate.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <pthread.h>
#include <sched.h>
#include <time.h>

namespace tilebridge::rt {

namespace {

constexpr int alone = -1;
/// How many launches with atomics run, or `alone`.
std::atomic<int> running{0};
/// How many wait for one that is alone: while some do, none becomes it.
std::atomic<unsigned> waiting{0};
std::atomic<unsigned> forks{0};

/// Enough for threads not to meet often; of one launch at a time.
constexpr uint64_t guardCount = 1024;
alignas(64) uint32_t guards[guardCount];

// The threads of the parent that ran something, or waited, are not here.
[[maybe_unused]] const int handler = pthread_atfork(nullptr, nullptr, [] {
  running.store(0, std::memory_order_relaxed);
  waiting.store(0, std::memory_order_relaxed);
  std::fill(std::begin(guards), std::end(guards), 0);
  forks.fetch_add(1, std::memory_order_relaxed);
});

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void takeGuard(uint32_t *guard) {
  constexpr unsigned spins = 256;
  for (unsigned i = 1;; ++i) {
    if (__atomic_load_n(guard, __ATOMIC_RELAXED) == 0 &&
        __atomic_exchange_n(guard, 1, __ATOMIC_ACQUIRE) == 0)
      return;
    // Who has it may not be running.
    if (i % spins == 0)
      sched_yield();
    else
      pause();
  }
}

} // namespace

Atomics atomicsOf(const Manifest &manifest) {
  if (manifest.atomics == "none")
    return Atomics::None;
  if (manifest.atomics == "guarded")
    return Atomics::Guarded;
  return manifest.atomics == "alone" ? Atomics::Alone : Atomics::Own;
}

AtomicGate::AtomicGate(Atomics atomics, bool isInline)
    : atomics(atomics), process(forks.load(std::memory_order_relaxed)) {
  if (atomics == Atomics::None)
    return;
  if (atomics == Atomics::Guarded || (atomics == Atomics::Alone && isInline)) {
    int none = 0;
    isAlone =
        waiting.load(std::memory_order_relaxed) == 0 &&
        running.compare_exchange_strong(none, alone, std::memory_order_acquire,
                                        std::memory_order_relaxed);
  }
  if (!isAlone)
    enterWithOthers();
}

void AtomicGate::enterWithOthers() {
  auto enter = [] {
    int now = running.load(std::memory_order_relaxed);
    while (now != alone)
      if (running.compare_exchange_weak(now, now + 1, std::memory_order_acquire,
                                        std::memory_order_relaxed))
        return true;
    return false;
  };
  if (enter())
    return;
  waiting.fetch_add(1, std::memory_order_relaxed);
  constexpr unsigned yields = 64;
  constexpr timespec nap{0, 50'000};
  for (unsigned i = 0; !enter(); ++i)
    if (i < yields)
      sched_yield();
    else
      nanosleep(&nap, nullptr);
  waiting.fetch_sub(1, std::memory_order_relaxed);
}

AtomicGate::~AtomicGate() {
  if (atomics == Atomics::None ||
      process != forks.load(std::memory_order_relaxed))
    return;
  if (isAlone)
    running.store(0, std::memory_order_release);
  else
    running.fetch_sub(1, std::memory_order_release);
}

void AtomicGate::describe(tb_launch_v1 &launch, tb_host_v1 &host,
                          bool isInline) const {
  bool isGuarded = isAlone && (isInline || atomics == Atomics::Guarded);
  launch.flags = isGuarded ? TB_LAUNCH_GUARDED : 0;
  host.guards = guards;
  host.guard_mask = isInline ? 0 : guardCount - 1;
  host.take_guard = takeGuard;
}

} // namespace tilebridge::rt
