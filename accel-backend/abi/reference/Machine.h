//===- Machine.h - the PEs of a launch -------------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel_numbers.h"
#include "accel_reference.h"

#include <array>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace accel {

/// Ends a PE whose launch has failed.
struct Stop {};

struct Machine;

/// A transfer that has not landed. The struct that described it may be gone.
struct Pending {
  accel_dma dma;
  uint64_t pad = 0;
  /// Its number among the multicasts of its line.
  uint64_t sequence = 0;
};

/// What the PEs of a line do together, by its number in their sequence.
struct Meeting {
  std::vector<accel_pe *> arrived;
  std::vector<accel_reduction> reductions;
  accel_dma first = {};
  bool isDone = false;
};

} // namespace accel

struct accel_pe {
  accel::Machine *machine = nullptr;
  int64_t row = 0, column = 0;
  std::map<std::string, std::vector<char>> memories;
  std::map<accel_token, accel::Pending> pending;
  accel_token lastToken = ACCEL_COMPLETED;
  /// Barriers, reductions and multicasts so far, by line.
  uint64_t meetings[4] = {}, multicasts[4] = {};

  // Taking turns.
  bool isDone = false;
  std::function<bool()> canGoOn; // empty: yes
  std::string waitsFor;
  std::condition_variable turn;
};

namespace accel {

struct Machine {
  const accel_kernel *kernel;
  const accel_reference_launch *launch;
  int64_t rows, columns;
  std::vector<std::unique_ptr<accel_pe>> pes;
  std::mt19937_64 random;

  /// Held by the PE that runs.
  std::mutex mutex;
  accel_pe *running = nullptr;
  std::string error;
  bool hasFailed = false;

  std::map<std::array<uint64_t, 3>, Meeting> meetings, multicasts;

  /// Runs all PEs to their ends.
  void run();
  /// Lets other PEs go on until canGoOn() is true. `waitsFor` is for the
  /// message, if that never happens.
  void wait(accel_pe *pe, std::function<bool()> canGoOn, std::string waitsFor);
  /// Lets another PE run, now and then.
  void takeTurns(accel_pe *pe) { wait(pe, nullptr, "its turn"); }
  /// Ends the launch and this PE.
  [[noreturn]] void fail(accel_pe *pe, const char *where,
                         const std::string &message);

  size_t lineSize(uint32_t along) const;
  /// A number that the PEs of a line share.
  uint64_t lineOf(const accel_pe *pe, uint32_t along) const;
  /// Fails if an access is beyond the scratchpads and arrays.
  void check(accel_pe *pe, const char *where, const void *address,
             uint64_t bytes);

private:
  void runOne(accel_pe *pe);
  void passOn(accel_pe *from);
  accel_pe *next(accel_pe *from);
  std::string deadlock() const;
};

/// Checks a multicast against those of the other PEs of its line.
void joinMulticast(accel_pe *pe, Pending &transfer);
/// Whether a transfer can land.
bool isReady(accel_pe *pe, const Pending &transfer);
/// Moves the bytes.
void land(accel_pe *pe, const Pending &transfer);
/// With a seed, lets some transfers land early.
void landSome(accel_pe *pe);

unsigned bytesOf(uint32_t type);
/// into = kind(into, with), elements of this type.
void combine(uint32_t type, uint32_t kind, void *into, const void *with);

} // namespace accel
