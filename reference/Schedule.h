//===- Schedule.h - programs that wait for one another -*- C++ -*- ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace tilebridge::reference {

/// Runs programs one at a time. `body` runs one; it may call `pass` to let the
/// others go on, which is what programs that spin on a lock need. Each program
/// is a thread while it is not done, but only the one that has its turn runs.
///
/// A program starts when all before it are done or have passed, so programs
/// that never pass run one after the other. `pass` gives false once a body has
/// failed; the others then end.
class Schedule {
public:
  using Body = std::function<bool(uint64_t program)>;

  /// Programs have a turn of `turn` calls of `pass`.
  Schedule(llvm::ArrayRef<uint64_t> programs, unsigned turn, Body body)
      : programs(programs), turn(turn), body(std::move(body)) {}

  /// Returns false if a body did.
  bool run();

  /// Called by a body.
  bool pass();

private:
  struct Runner;
  static void *runThread(void *runner);
  Runner *start(uint64_t program);
  void giveTurn(Runner &runner);

  llvm::ArrayRef<uint64_t> programs;
  unsigned turn;
  Body body;
  bool hasFailed = false;
};

} // namespace tilebridge::reference
