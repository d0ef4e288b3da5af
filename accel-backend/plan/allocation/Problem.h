//===- Problem.h - where buffers lie in a scratchpad ---------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What has to be placed, what a placement is, and the check of one. The check
// knows nothing of how placements are found (Solver.h) and is run on each.
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tilebridge::accel::allocation {

/// A block of memory that is needed for a while.
struct Buffer {
  /// For messages.
  std::string name;
  uint64_t bytes = 0;
  /// Of the offset. Any positive number: not all hardware has powers of two.
  uint64_t alignment = 1;
  /// It is needed from `begin` until before `end`; two buffers of which one
  /// ends where the other begins may share memory.
  int64_t begin = 0, end = 0;
  /// The bank that it should lie in as a whole. A wish: a placement without it
  /// is better than none.
  std::optional<unsigned> bank;

  bool livesWith(const Buffer &other) const {
    return begin < other.end && other.begin < end;
  }
};

struct Problem {
  uint64_t capacity = 0;
  /// Equal parts of the memory, one behind the other.
  unsigned banks = 1;
  llvm::SmallVector<Buffer> buffers;

  uint64_t bankBytes() const { return capacity / (banks ? banks : 1); }

  /// Says what makes no sense in the problem itself; empty where nothing does.
  std::string check() const;

  /// No placement needs less: the most bytes that are needed at one time.
  uint64_t lowerBound() const;

  /// A time at which that many are needed, and the buffers that are needed
  /// then.
  llvm::SmallVector<unsigned> fullest() const;
};

struct Placement {
  /// One for each buffer of the problem.
  llvm::SmallVector<uint64_t> offsets;
  /// The end of the last buffer.
  uint64_t bytes = 0;
  /// The buffers that are not in the bank that they should be in.
  llvm::SmallVector<unsigned> elsewhere;
};

/// Says what is wrong with a placement; empty where nothing is.
std::string verify(const Problem &problem, const Placement &placement);

} // namespace tilebridge::accel::allocation
