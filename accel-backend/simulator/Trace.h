//===- Trace.h - what happened when, for Perfetto ---------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace tilebridge::accel {

/// Collects intervals on tracks and writes them in Chrome's trace format, which
/// Perfetto reads. Times are cycles; the file has microseconds.
class Trace {
public:
  enum class Kind { Pe, Engine, Port };

  bool isOn = false;
  void add(Kind kind, size_t track, llvm::StringRef name, double start,
           double end, llvm::StringRef place = "", uint64_t bytes = 0);
  void name(Kind kind, size_t track, std::string text);
  std::string json(double clockGHz) const;

private:
  struct Interval {
    Kind kind;
    size_t track;
    double start, end;
    std::string name, place;
    uint64_t bytes;
  };
  struct Name {
    Kind kind;
    size_t track;
    std::string text;
  };
  std::vector<Interval> intervals;
  std::vector<Name> names;
};

} // namespace tilebridge::accel
