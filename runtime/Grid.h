//===- Grid.h - running the programs of a launch -----------------*- C++ -*
//-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/Kernel.h"

#include <atomic>

namespace tilebridge::rt {

/// One launch while it runs.
struct GridRun {
  tilebridge_kernel &kernel;
  tb_launch_v1 &launch;
  tb_host_v1 &host;
  int64_t total;       // programs, at least 1
  unsigned maxThreads; // 0: no limit
  bool isCooperative;
  std::atomic<bool> stop{
      false}; // set by a failed assertion: no further program is started
};

/// Runs all programs. Returns false if no thread could get the scratch memory.
///
/// Programs may wait for programs with smaller ids, and hold locks while they
/// run: whenever one waits, the one with the smallest id that is not done is
/// running or about to be, because a thread takes its own range in order and
/// after that always the lowest that is left.
bool runGrid(GridRun &run);

} // namespace tilebridge::rt
