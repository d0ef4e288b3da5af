//===- Grid.cpp - running the programs of a launch -------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Grid.h"

#include "runtime/Arena.h"
#include "runtime/OpenMP.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace tilebridge::rt {

namespace {

using Clock = std::chrono::steady_clock;

// A launch that is expected to end sooner than this is not worth waking other
// threads for.
constexpr float inlineNanoseconds = 25000;
constexpr unsigned maxRanges = 256;
constexpr int64_t chunksPerRange = 16;

/// What programs of a thread keep for its next ones begins anew.
void clearHeader(const Scratch &scratch, size_t bytes) {
  std::memset(scratch.get(), 0,
              std::min<size_t>(bytes, TB_SCRATCH_ZEROED_BYTES));
}

float since(Clock::time_point begin) {
  return std::chrono::duration<float, std::nano>(Clock::now() - begin).count();
}

/// A thread's share of the programs. Each has a cache line, so that threads
/// that stay in their own do not disturb one another; the same thread gets the
/// same share of the next launch, whose data it then has in its caches.
struct alignas(64) Range {
  std::atomic<int64_t> next;
  int64_t end;
};

struct Team {
  GridRun &run;
  Range *ranges;
  unsigned rangeCount;
  int64_t chunk;
  unsigned maxThreads;
};

void runRange(Team &team, Range &range, void *scratch, int64_t &done) {
  tb_run_fn function = team.run.kernel.executable->run;
  while (!team.run.stop.load(std::memory_order_relaxed) &&
         range.next.load(std::memory_order_relaxed) < range.end) {
    int64_t begin = range.next.fetch_add(team.chunk, std::memory_order_relaxed);
    if (begin >= range.end)
      return;
    int64_t end = std::min(begin + team.chunk, range.end);
    function(&team.run.launch, begin, end, scratch);
    done += end - begin;
  }
}

void runThread(Team &team, unsigned thread) {
  if (thread >= team.maxThreads)
    return;
  Scratch scratch(team.run.kernel.executable->scratch_bytes);
  if (!scratch)
    return; // The other threads do this one's share.
  clearHeader(scratch, team.run.kernel.executable->scratch_bytes);
  auto start = Clock::now();
  int64_t done = 0;
  runRange(team, team.ranges[thread % team.rangeCount], scratch.get(), done);
  for (unsigned i = 0; i < team.rangeCount; ++i)
    runRange(team, team.ranges[i], scratch.get(), done);
  if (thread == 0 && done)
    team.run.kernel.nanosecondsPerProgram.store(since(start) / float(done),
                                                std::memory_order_relaxed);
}

bool runParallel(GridRun &run, int64_t begin, unsigned threads) {
  Range ranges[maxRanges];
  int64_t left = run.total - begin;
  auto count = unsigned(std::min<int64_t>({threads, maxRanges, left}));
  for (unsigned i = 0; i < count; ++i) {
    // Not `left * i / count`, which overflows for the largest grids.
    int64_t share = left / count, rest = left % count;
    ranges[i].next.store(begin + share * i + std::min<int64_t>(i, rest),
                         std::memory_order_relaxed);
    ranges[i].end = begin + share * (i + 1) + std::min<int64_t>(i + 1, rest);
  }
  Team team{run, ranges, count,
            std::max<int64_t>(1, left / count / chunksPerRange), threads};
  const OpenMP &library = openMP();
  auto body = [](void *data) {
    runThread(*static_cast<Team *>(data), unsigned(openMP().threadNumber()));
  };
  // 0 stands for the usual number of threads: to ask for fewer would make
  // libgomp end the others and start them again for the next region. Those that
  // are not wanted return at once.
  library.parallel(body, &team, run.isCooperative ? threads : 0, 0);
  if (run.stop.load(std::memory_order_relaxed))
    return true;
  return std::all_of(ranges, ranges + count, [](const Range &range) {
    return range.next.load(std::memory_order_relaxed) >= range.end;
  });
}

/// Runs programs on the calling thread from 0 on; stops early where it turns
/// out that others should help.
bool runInline(GridRun &run, float expected, bool mayStopEarly, int64_t &done) {
  Scratch scratch(run.kernel.executable->scratch_bytes);
  if (!scratch)
    return false;
  clearHeader(scratch, run.kernel.executable->scratch_bytes);
  tb_run_fn function = run.kernel.executable->run;
  if (!mayStopEarly) {
    // In pieces, so that a failed assertion ends a long launch. Few: each ends
    // with a wait for the stores that went around the caches.
    int64_t piece = std::max<int64_t>(1, run.total / 8);
    for (; done < run.total && !run.stop.load(std::memory_order_relaxed);
         done += std::min(piece, run.total - done))
      function(&run.launch, done, std::min(done + piece, run.total),
               scratch.get());
    return true;
  }
  auto start = Clock::now();
  float elapsed = 0;
  int64_t piece = std::max<int64_t>(
      1, int64_t(float(run.total) * (inlineNanoseconds / 4) / (expected + 1)));
  while (done < run.total && elapsed < 2 * inlineNanoseconds &&
         !run.stop.load(std::memory_order_relaxed)) {
    int64_t end = piece < run.total - done ? done + piece : run.total;
    function(&run.launch, done, end, scratch.get());
    done = end;
    elapsed = since(start);
  }
  run.kernel.nanosecondsPerProgram.store(elapsed / float(done),
                                         std::memory_order_relaxed);
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
  if (threads == 1)
    return runInline(run, 0, /*mayStopEarly=*/false, done);
  float expected =
      run.kernel.nanosecondsPerProgram.load(std::memory_order_relaxed) *
      float(run.total);
  if (expected > 0 && expected < inlineNanoseconds && !run.isCooperative) {
    if (!runInline(run, expected, /*mayStopEarly=*/true, done))
      return false;
    if (done == run.total || run.stop.load(std::memory_order_relaxed))
      return true;
  }
  return runParallel(run, done, threads);
}

} // namespace tilebridge::rt
