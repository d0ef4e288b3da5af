//===- Grid.cpp - running the programs of a launch -------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Grid.h"

#include "runtime/Arena.h"
#include "runtime/AtomicGate.h"
#include "runtime/InterruptReport.h"
#include "runtime/OpenMP.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>

namespace tilebridge::rt {

namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned maxRanges = 256;
constexpr int64_t chunksPerRange = 16;
/// What a chunk takes at least, in nanoseconds: each ends with a wait for its
/// stores, and begins with the divisions that give its first program.
constexpr float leastChunk = 1500;
/// Short launches are measured one time in so many: reading clocks, and telling
/// others what they said, takes a tenth of a microsecond.
constexpr unsigned measuredOneIn = 4;

/// What programs of a thread keep for its next ones begins anew.
void clearHeader(const Scratch &scratch, size_t bytes) {
  std::memset(scratch.get(), 0,
              std::min<size_t>(bytes, TB_SCRATCH_ZEROED_BYTES));
}

float since(Clock::time_point begin) {
  return std::chrono::duration<float, std::nano>(Clock::now() - begin).count();
}

constexpr size_t lineBytes = 64;

/// `count` programs, or more, so that those which the kernel runs together are
/// in one call; `most` is how many there are.
int64_t wholeGroups(const GridRun &run, int64_t count, int64_t most) {
  tb_at_once_fn function = run.kernel.executable->at_once;
  int64_t group = function ? function(&run.launch) : 1;
  if (group <= 1 || group > most)
    return count;
  int64_t rest = count % group;
  return rest == 0 ? count : std::min(count - rest + group, most);
}

/// A thread's share of the programs. Each has a cache line, so that threads
/// that stay in their own do not disturb one another; the same thread gets the
/// same share of the next launch, whose data it then has in its caches.
struct alignas(lineBytes) Range {
  std::atomic<int64_t> next;
  int64_t end;
};

/// What the threads need to begin, side by side: all of it is in the caches of
/// the thread that launches, from where a line takes as long as a short program,
/// and lines that are found by pointers come one after the other.
struct alignas(lineBytes) Team {
  Team(GridRun &run, unsigned maxThreads)
      : run(run), function(run.kernel.executable->run),
        scratchBytes(run.kernel.executable->scratch_bytes),
        maxThreads(maxThreads), launch(run.launch) {
    slotCount = run.kernel.executable->slot_count;
    if (slotCount > mostSlots) {
      slotCount = 0;
      return;
    }
    std::copy_n(run.launch.slots, slotCount, slots);
    launch.slots = slots;
  }

  GridRun &run;
  tb_run_fn function;
  size_t scratchBytes;
  int64_t chunk = 1;
  unsigned rangeCount = 0;
  unsigned maxThreads;
  unsigned slotCount;
  bool isMeasured = false;

  static constexpr unsigned mostSlots = 60;
  alignas(lineBytes) tb_launch_v1 launch;
  uint64_t slots[mostSlots];

  /// What the calling thread took for each program that it ran, in nanoseconds;
  /// 0 where it ran none, or is not measured.
  alignas(lineBytes) float perProgram = 0;
  /// It found nothing left to do.
  bool isComplete = false;

  Range ranges[maxRanges];

  /// Shares `left` programs from `first` on among `count` threads.
  void share(int64_t first, int64_t left, unsigned count, float perProgram) {
    rangeCount = count;
    for (unsigned i = 0; i < count; ++i) {
      // Not `left * i / count`, which overflows for the largest grids.
      int64_t each = left / count, rest = left % count;
      ranges[i].next.store(first + each * i + std::min<int64_t>(i, rest),
                           std::memory_order_relaxed);
      ranges[i].end = first + each * (i + 1) + std::min<int64_t>(i + 1, rest);
    }
    int64_t most = std::max<int64_t>(1, left / count);
    chunk = std::max<int64_t>(1, most / chunksPerRange);
    // Programs of a cooperative launch wait for one another: one a thread.
    if (!run.isCooperative && perProgram > 0 &&
        float(chunk) * perProgram < leastChunk)
      chunk = int64_t(std::min(leastChunk / perProgram + 1, float(most)));
    chunk = wholeGroups(run, chunk, most);
  }

  /// Asks for all lines that the thread is about to need at once.
  void prefetch(unsigned thread) const {
    auto *begin = reinterpret_cast<const char *>(&launch);
    size_t bytes = sizeof(launch) + slotCount * sizeof(*slots);
    for (size_t at = 0; at < bytes; at += lineBytes)
      __builtin_prefetch(begin + at);
    if (thread < rangeCount)
      __builtin_prefetch(&ranges[thread], /*rw=*/1);
  }

  /// What other threads have written, all at once and not one after the other.
  void prefetchRanges() const {
    for (unsigned i = 0; i < rangeCount; ++i)
      __builtin_prefetch(&ranges[i]);
  }
};

void runRange(Team &team, Range &range, void *scratch, int64_t &done) {
  while (!team.run.stop.load(std::memory_order_relaxed) &&
         range.next.load(std::memory_order_relaxed) < range.end) {
    int64_t begin = range.next.fetch_add(team.chunk, std::memory_order_relaxed);
    if (begin >= range.end)
      return;
    int64_t end = std::min(begin + team.chunk, range.end);
    team.function(&team.launch, begin, end, scratch);
    done += end - begin;
  }
}

void runThread(Team &team, unsigned thread) {
  if (thread >= team.maxThreads)
    return;
  team.prefetch(thread);
  Scratch scratch(team.scratchBytes);
  if (!scratch)
    return; // The other threads do this one's share.
  clearHeader(scratch, team.scratchBytes);
  std::optional<HelpingThread> helping;
  if (thread)
    helping.emplace(thread);
  auto start = team.isMeasured ? Clock::now() : Clock::time_point();
  int64_t done = 0;
  runRange(team, team.ranges[thread % team.rangeCount], scratch.get(), done);
  team.prefetchRanges();
  for (unsigned i = 0; i < team.rangeCount; ++i)
    runRange(team, team.ranges[i], scratch.get(), done);
  if (thread)
    return;
  team.isComplete = true;
  if (team.isMeasured && done)
    team.perProgram = since(start) / float(done);
}

bool runParallel(GridRun &run, int64_t begin, unsigned threads,
                 const Sharing::Plan &plan) {
  static thread_local unsigned launches = 0;
  int64_t left = run.total - begin;
  auto count = unsigned(std::min<int64_t>({threads, maxRanges, left}));
  Team team(run, threads);
  team.share(begin, left, count, run.kernel.sharing.busy(run.total));
  // What has begun on one thread is no measure of what begins on all.
  team.isMeasured = !run.isCooperative && begin == 0 &&
                    (plan.isMeasured || ++launches % measuredOneIn == 0);
  const OpenMP &library = openMP();
  auto body = [](void *data) {
    runThread(*static_cast<Team *>(data), unsigned(openMP().threadNumber()));
  };
  auto start = team.isMeasured ? Clock::now() : Clock::time_point();
  // 0 stands for the usual number of threads: to ask for fewer would make
  // libgomp end the others and start them again for the next region. Those that
  // are not wanted return at once.
  library.parallel(body, &team, run.isCooperative ? threads : 0, 0);
  if (team.isMeasured)
    run.kernel.sharing.tookShared(plan, left, since(start), team.perProgram);
  if (team.isComplete || run.stop.load(std::memory_order_relaxed))
    return true;
  return std::all_of(team.ranges, team.ranges + count, [](const Range &range) {
    return range.next.load(std::memory_order_relaxed) >= range.end;
  });
}

/// Runs programs on the calling thread from 0 on; if there is a `plan`, stops
/// early where it turns out that others should help.
bool runInline(GridRun &run, const Sharing::Plan *plan, int64_t &done) {
  Scratch scratch(run.kernel.executable->scratch_bytes);
  if (!scratch)
    return false;
  clearHeader(scratch, run.kernel.executable->scratch_bytes);
  tb_run_fn function = run.kernel.executable->run;
  if (!plan) {
    // By one call, which ends where an assertion fails: each ends with a wait
    // for its stores, also where none went around the caches.
    function(&run.launch, 0, run.total, scratch.get());
    done = run.total;
    return true;
  }
  auto start = Clock::now();
  float elapsed = 0;
  int64_t piece = std::max<int64_t>(
      1, int64_t(float(run.total) * (plan->limit / 4) / (plan->expected + 1)));
  piece = wholeGroups(run, piece, run.total);
  while (done < run.total && elapsed < 2 * plan->limit &&
         !run.stop.load(std::memory_order_relaxed)) {
    int64_t end = piece < run.total - done ? done + piece : run.total;
    function(&run.launch, done, end, scratch.get());
    done = end;
    elapsed = since(start);
  }
  run.kernel.sharing.tookAlone(*plan, run.total, done, elapsed);
  return true;
}

} // namespace

bool runGrid(GridRun &run) {
  constexpr unsigned mostCooperative = 1024;
  unsigned threads = 1;
  if (run.total > 1) {
    threads = openMP().threadsForLaunch();
    if (run.maxThreads)
      threads = std::min(threads, run.maxThreads);
    if (run.isCooperative && openMP())
      threads = unsigned(std::min<int64_t>(run.total, mostCooperative));
  }
  int64_t done = 0;
  Sharing::Plan plan = {};
  plan.isShared = threads > 1;
  if (threads > 1 && !run.isCooperative)
    plan = run.kernel.sharing.plan(run.total, threads);
  AtomicGate gate(run.kernel.atomics, !plan.isShared);
  if (!plan.isShared) {
    gate.describe(run.launch, run.host, /*isInline=*/true);
    if (!runInline(run, threads > 1 ? &plan : nullptr, done))
      return false;
    if (threads == 1 || done == run.total ||
        run.stop.load(std::memory_order_relaxed))
      return true;
  }
  gate.describe(run.launch, run.host, /*isInline=*/false);
  return runParallel(run, done, threads, plan);
}

} // namespace tilebridge::rt
