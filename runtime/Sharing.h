//===- Sharing.h - whether a launch is shared among threads -------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A parallel region costs a microsecond with two threads that still spin behind
// their last one, ten with sixteen, a hundred where they sleep: a short launch is
// done sooner by the calling thread alone. Both ways are measured, and the one
// that is slower is tried again from time to time. How long a program takes when
// all threads work says little of how long it takes alone, as part of that time
// its data come from the thread that launched.
//===----------------------------------------------------------------------===//

#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace tilebridge::rt {

/// What one kernel's launches took, and how the next one runs. Several threads
/// may launch: what they note at the same time may be lost. All times are in
/// nanoseconds.
class Sharing {
public:
  struct Plan {
    bool isShared;
    /// Clocks are read in any case.
    bool isMeasured;
    /// Its data are where this way of running left them. Where that changes they
    /// come from other cores, so that it takes several times as long as the next.
    bool isBelieved;
    /// What it takes the calling thread alone; 0 where nothing is known.
    float expected;
    /// What either way takes: if the calling thread alone has taken twice as
    /// long, others help.
    float limit;
  };

  /// `guess`: what a program takes, where nothing is known of it here; 0: none.
  Plan plan(int64_t programs, unsigned threads, float guess = 0);

  /// The calling thread took so long for so many programs.
  void tookAlone(const Plan &plan, int64_t programs, float time);

  /// A shared launch took so long, from its begin to the end of its region; the
  /// calling thread a program's time for each program that it ran, 0 if none.
  void tookShared(const Plan &plan, int64_t programs, float time,
                  float perProgram);

  /// What a program takes while all threads work; 0 where it is not known.
  float busy() const { return perBusy.load(std::memory_order_relaxed); }

  /// Launches that take a thread less stay on it.
  static constexpr float alwaysAlone = 4000;
  /// Those that take more are shared.
  static constexpr float neverAlone = 50000;

private:
  bool prefersSharing(float alone, float shared) const;

  /// Per program, on one thread and when all threads work; 0: not known.
  std::atomic<float> perAlone{0}, perBusy{0};
  /// A whole launch, of so many programs.
  std::atomic<float> sharedTime{0}, sharedPrograms{1};
  std::atomic<bool> wasShared{false};
  /// Launches of a trial that are left, launches since the last one, and how
  /// many there are to be before the next.
  std::atomic<uint32_t> inTrial{0}, sinceTrial{0}, untilTrial{2};
};

/// The same for launches of any size. Small ones, whose data stay in a core's
/// caches, say little of large ones, and what was tried often enough with them
/// was not tried with those: numbers of programs between two powers of two are
/// learned of by themselves.
class SharingBySize {
public:
  /// As Sharing's, for a launch of `programs`, of which `done` took the time.
  Sharing::Plan plan(int64_t programs, unsigned threads);
  void tookAlone(const Sharing::Plan &plan, int64_t programs, int64_t done,
                 float time);
  void tookShared(const Sharing::Plan &plan, int64_t programs, float time,
                  float perProgram);
  float busy(int64_t programs) { return of(programs).busy(); }

private:
  Sharing &of(int64_t programs);

  std::array<Sharing, 24> sizes;
  /// What a program of the last launch that was measured took, of any size.
  std::atomic<float> lastPerProgram{0};
};

} // namespace tilebridge::rt
