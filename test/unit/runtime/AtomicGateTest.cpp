//===- AtomicGateTest.cpp - launches whose atomics nobody disturbs ---- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/AtomicGate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tilebridge::rt;
using std::chrono::milliseconds;

namespace {

struct Described {
  explicit Described(const AtomicGate &gate, bool isInline = true) {
    gate.describe(launch, host, isInline);
  }
  bool isGuarded() const { return launch.flags == TB_LAUNCH_GUARDED; }
  tb_launch_v1 launch{};
  tb_host_v1 host{};
};

Manifest withAtomics(const char *text) {
  Manifest manifest;
  manifest.atomics = text;
  return manifest;
}

} // namespace

TEST(AtomicGate, ReadsTheManifest) {
  EXPECT_EQ(atomicsOf(withAtomics("none")), Atomics::None);
  EXPECT_EQ(atomicsOf(withAtomics("guarded")), Atomics::Guarded);
  EXPECT_EQ(atomicsOf(withAtomics("alone")), Atomics::Alone);
  EXPECT_EQ(atomicsOf(withAtomics("own")), Atomics::Own);
  // An older kernel, and a newer one.
  EXPECT_EQ(atomicsOf(withAtomics("")), Atomics::Own);
  EXPECT_EQ(atomicsOf(withAtomics("better")), Atomics::Own);
}

TEST(AtomicGate, SaysWhatTheKernelMayDo) {
  {
    AtomicGate gate(Atomics::Guarded, /*isInline=*/true);
    Described one(gate), several(gate, /*isInline=*/false);
    EXPECT_TRUE(one.isGuarded());
    EXPECT_EQ(one.host.guard_mask, 0U);
    EXPECT_TRUE(several.isGuarded());
    EXPECT_GT(several.host.guard_mask, 0U);
    *one.host.guards = 0;
    one.host.take_guard(one.host.guards);
    EXPECT_EQ(*one.host.guards, 1U);
    *one.host.guards = 0;
  }
  {
    AtomicGate gate(Atomics::Alone, /*isInline=*/true);
    EXPECT_TRUE(Described(gate).isGuarded());
    EXPECT_FALSE(Described(gate, /*isInline=*/false).isGuarded());
  }
  EXPECT_TRUE(
      Described(AtomicGate(Atomics::Guarded, false), false).isGuarded());
  EXPECT_FALSE(Described(AtomicGate(Atomics::Alone, false), false).isGuarded());
  EXPECT_FALSE(Described(AtomicGate(Atomics::Own, true)).isGuarded());
  EXPECT_FALSE(Described(AtomicGate(Atomics::None, true)).isGuarded());
}

TEST(AtomicGate, IsForOneThatIsAlone) {
  AtomicGate other(Atomics::Own, /*isInline=*/true);
  AtomicGate unrelated(Atomics::None, /*isInline=*/true);
  // With others there are no guards, and no waiting.
  AtomicGate second(Atomics::Guarded, /*isInline=*/true);
  EXPECT_FALSE(Described(second).isGuarded());
  AtomicGate third(Atomics::Alone, /*isInline=*/true);
  EXPECT_FALSE(Described(third).isGuarded());
}

TEST(AtomicGate, OthersWait) {
  for (Atomics kind : {Atomics::Own, Atomics::Guarded, Atomics::Alone}) {
    auto gate = std::make_unique<AtomicGate>(Atomics::Guarded, true);
    EXPECT_TRUE(Described(*gate).isGuarded());
    std::atomic<bool> isInside{false};
    std::thread other([&] {
      AtomicGate own(kind, true);
      isInside = true;
    });
    {
      // This one touches nothing that is atomic.
      AtomicGate none(Atomics::None, true);
      std::this_thread::sleep_for(milliseconds(20));
      EXPECT_FALSE(isInside);
    }
    gate.reset();
    other.join();
    EXPECT_TRUE(isInside);
  }
}

TEST(AtomicGate, CountsPlainly) {
  // What is read and written apart: nobody else may be there, or some would be
  // lost.
  std::atomic<int64_t> plain{0};
  std::atomic<int64_t> atomic{0};
  std::atomic<int> guarded{0}, inside{0}, failures{0};
  constexpr int times = 3000;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < times; ++k) {
        AtomicGate gate(i % 2 ? Atomics::Guarded : Atomics::Own, true);
        bool isAlone = Described(gate).isGuarded();
        int before = inside.fetch_add(1);
        failures += isAlone && before != 0;
        guarded += isAlone;
        // Others run meanwhile, on one core too.
        int64_t read = plain.load(std::memory_order_relaxed);
        if (k % 16 == 0)
          std::this_thread::yield();
        if (isAlone)
          plain.store(read + 1, std::memory_order_relaxed);
        else
          ++atomic;
        inside.fetch_sub(1);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(plain + atomic, 4 * times);
  EXPECT_EQ(plain, guarded);
  EXPECT_EQ(failures, 0);
}

TEST(AtomicGate, IsOpenInAForkedChild) {
  AtomicGate gate(Atomics::Guarded, true);
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    bool isGuarded = Described(AtomicGate(Atomics::Guarded, true)).isGuarded();
    _exit(isGuarded ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}
