//===- InterruptReport.h - naming the line that takes long ---*- C++ -*---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>

namespace tilebridge::rt {

/// While it lives, this thread waits for a kernel: an interrupt (SIGINT) says
/// which one, and of compiled code where it is.
class RunningKernel {
public:
  enum class Means { Code, Interpreter };
  RunningKernel(const std::string &name, Means means);
  RunningKernel(const RunningKernel &) = delete;
  RunningKernel &operator=(const RunningKernel &) = delete;
  ~RunningKernel();
};

/// While it lives, this thread may be in a kernel that another thread waits
/// for, and is asked where it is when that one is interrupted outside of it.
/// `number` is the thread's in its team, above 0; threads of several teams with
/// the same number hide one another.
class HelpingThread {
public:
  explicit HelpingThread(unsigned number);
  HelpingThread(const HelpingThread &) = delete;
  HelpingThread &operator=(const HelpingThread &) = delete;
  ~HelpingThread();

private:
  unsigned number;
};

/// Puts the handler of interrupts before the process's own, unless that ignores
/// them; to be called once.
void installInterruptHandler();

} // namespace tilebridge::rt
