//===- Arena.h - scratch memory of a thread --------------------*- C++ -* -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstddef>

namespace tilebridge::rt {

/// Scratch memory for the programs that this thread runs, aligned to 64. It
/// belongs to the thread, grows to the most that was ever asked for, and is
/// freed when the thread ends. A launch from within a launch (out of a print
/// callback) finds it in use and gets memory of its own.
class Scratch {
public:
  explicit Scratch(size_t size);
  ~Scratch();
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  /// False where memory ran out.
  explicit operator bool() const { return memory != nullptr; }
  void *get() const { return memory; }

private:
  void *memory = nullptr;
  bool isOwned = false;    // allocated for this use only
  bool isBorrowed = false; // the thread's
};

} // namespace tilebridge::rt
