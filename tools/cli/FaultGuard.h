//===- FaultGuard.h - a kernel's bad access as an error ---------*- C++ -* -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <csignal>

namespace tilebridge::cli {

/// While it lives, an access to memory that is not the process's ends the
/// command with a message and the exit code of a failure, whichever thread of
/// the launch makes it. A program that launches kernels keeps its own handlers:
/// this is for the command alone, whose only work is the launch.
class FaultGuard {
public:
  FaultGuard();
  ~FaultGuard();
  FaultGuard(const FaultGuard &) = delete;
  FaultGuard &operator=(const FaultGuard &) = delete;

private:
  struct sigaction oldSegv, oldBus;
};

} // namespace tilebridge::cli
