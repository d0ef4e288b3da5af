//===- Sharing.cpp - whether a launch is shared among threads -------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Sharing.h"

#include <algorithm>
#include <cstddef>

namespace tilebridge::rt {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

/// Others' cores have better things to do than to save little time, and what
/// stays has its data at hand.
constexpr float toShare = 1.25F, toStayShared = 1.05F;
/// A launch that was never shared: what a region costs with threads that spin.
constexpr float regionGuess = 4000;
/// The other way is tried with two launches, as only the second is believed;
/// then after twice as many launches as the last time, up to so many.
constexpr uint32_t trialLaunches = 2, rarestTrial = 1024;
/// So much longer than sharing it may be alone for a trial to be worth it;
/// where it is not known, it is expected to be less than when all threads work.
constexpr float worthTrying = 3, worthTryingFirst = 8;

/// Follows what is less at once, as more may be another process's doing, and
/// what is more by and by.
void note(std::atomic<float> &known, float now, bool isBelieved) {
  float before = known.load(relaxed);
  if (before == 0 || now < before)
    known.store(now, relaxed);
  else if (isBelieved)
    known.store(before + (std::min(now, 2 * before) - before) / 8, relaxed);
}

} // namespace

bool Sharing::prefersSharing(float alone, float shared) const {
  if (alone < alwaysAlone)
    return false;
  if (alone >= neverAlone || perAlone.load(relaxed) == 0)
    return true;
  return alone > shared * (wasShared.load(relaxed) ? toStayShared : toShare);
}

Sharing::Plan Sharing::plan(int64_t programs, unsigned threads, float guess) {
  auto count = float(programs);
  float known = perAlone.load(relaxed), busy = perBusy.load(relaxed);
  bool isGuessed = known == 0 && busy == 0;
  if (isGuessed)
    busy = guess;
  float alone = count * (known > 0 ? known : busy),
        most = std::min(float(threads), count);
  float shared = sharedTime.load(relaxed);
  if (shared > 0)
    shared *= std::max(1.0F, count / sharedPrograms.load(relaxed));
  else
    shared = regionGuess + alone / most;
  bool isShared = alone == 0 || prefersSharing(alone, shared), isTrial = false;
  if (uint32_t left = inTrial.load(relaxed)) {
    inTrial.store(left - 1, relaxed);
    isShared = wasShared.load(relaxed);
    isTrial = true;
  } else if (alone > alwaysAlone && alone < neverAlone * (known > 0 ? 1 : 4) &&
             alone < shared * (known > 0 ? worthTrying : worthTryingFirst)) {
    uint32_t since = sinceTrial.load(relaxed) + 1,
             until = untilTrial.load(relaxed);
    isTrial = since >= until;
    sinceTrial.store(isTrial ? 0 : since, relaxed);
    if (isTrial) {
      untilTrial.store(std::min(until * 2, rarestTrial), relaxed);
      inTrial.store(trialLaunches - 1, relaxed);
      isShared = !isShared;
    }
  }
  bool isBelieved = isShared == wasShared.load(relaxed);
  if (!isBelieved)
    wasShared.store(isShared, relaxed);
  return {isShared, isTrial || isGuessed || alone > neverAlone, isBelieved,
          alone, std::max({alone, shared, alwaysAlone})};
}

void Sharing::tookAlone(const Plan &plan, int64_t programs, float time) {
  note(perAlone, time / float(programs), plan.isBelieved);
}

void Sharing::tookShared(const Plan &plan, int64_t programs, float time,
                         float perProgram) {
  if (perProgram > 0) {
    note(perBusy, perProgram, plan.isBelieved);
    // Alone it takes no longer.
    if (perProgram < perAlone.load(relaxed))
      perAlone.store(perProgram, relaxed);
  }
  float before = sharedPrograms.load(relaxed), count = float(programs);
  // Of another number of programs: begins anew.
  if (before != count) {
    sharedPrograms.store(count, relaxed);
    sharedTime.store(time, relaxed);
    return;
  }
  note(sharedTime, time, plan.isBelieved);
}

Sharing &SharingBySize::of(int64_t programs) {
  // `programs | 1`: of 0 the number of leading zeros is not defined.
  auto size = size_t(63 - __builtin_clzll(uint64_t(programs) | 1));
  return sizes[std::min(size, sizes.size() - 1)];
}

Sharing::Plan SharingBySize::plan(int64_t programs, unsigned threads) {
  return of(programs).plan(programs, threads, lastPerProgram.load(relaxed));
}

void SharingBySize::tookAlone(const Sharing::Plan &plan, int64_t programs,
                              int64_t done, float time) {
  of(programs).tookAlone(plan, done, time);
  lastPerProgram.store(time / float(done), relaxed);
}

void SharingBySize::tookShared(const Sharing::Plan &plan, int64_t programs,
                               float time, float perProgram) {
  of(programs).tookShared(plan, programs, time, perProgram);
  if (perProgram > 0)
    lastPerProgram.store(perProgram, relaxed);
}

} // namespace tilebridge::rt
