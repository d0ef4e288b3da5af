//===- Fork.h - what a forked child must not find begun ---------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

namespace tilebridge::rt {

/// While one lives, `fork` by another thread waits for it, for at most
/// `mostForkWait` seconds: a child has only the thread that forked, and locks
/// that others held, of LLVM or of the dynamic loader, stay locked in it for
/// ever. May be nested; a thread that forks while it has one itself does not
/// wait.
class ForkDelay {
public:
  ForkDelay();
  ~ForkDelay();
  ForkDelay(const ForkDelay &) = delete;
  ForkDelay &operator=(const ForkDelay &) = delete;
};

/// A compilation takes milliseconds. One that takes longer than this, or that
/// waits for the thread that forks, is not worth a program that stands still.
inline constexpr int mostForkWait = 5;

/// Whether this process was forked from one that had loaded this library.
bool isForkedChild();

} // namespace tilebridge::rt
