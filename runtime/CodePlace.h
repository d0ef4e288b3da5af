//===- CodePlace.h - where in a kernel a thread is ---------*- C++ -*-----===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What handlers of signals use: nothing here allocates or takes a lock, but for
// the constructor and the destructor of a CodeRange.
#pragma once

#include "runtime/LineTable.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <string_view>

namespace tilebridge::rt {

/// Where the code of a loaded kernel is. While it lives, handlers of signals
/// find that code by its addresses.
class CodeRange {
public:
  /// `symbol` is any address of the kernel's library, `object` its file.
  CodeRange(const void *symbol, std::string_view object, std::string name);
  CodeRange(const CodeRange &) = delete;
  CodeRange &operator=(const CodeRange &) = delete;
  ~CodeRange();

  bool contains(uint64_t address) const { return address - base < size; }

  uint64_t base = 0, size = 0;
  std::string name;
  LineTable lines;
};

/// An address in a kernel; `range` is null where a thread is elsewhere.
struct CodePlace {
  const CodeRange *range = nullptr;
  uint64_t address = 0;
};

/// Where the thread was that a signal interrupted, whose handler was given
/// `context`: in a kernel, or in what a kernel calls (a function of libm, say).
CodePlace findPlace(const void *context);

/// Text of limited length without allocation.
class Message {
public:
  Message &operator<<(std::string_view text) {
    size_t count = std::min(text.size(), sizeof(buffer) - used);
    std::memcpy(buffer + used, text.data(), count);
    used += count;
    return *this;
  }
  /// " at file:line:column", or nothing.
  Message &operator<<(const CodePlace &place);
  Message &number(uint64_t value, unsigned radix = 10);
  /// To the standard error output.
  void write() const;

private:
  char buffer[2048];
  size_t used = 0;
};

} // namespace tilebridge::rt
