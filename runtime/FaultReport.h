//===- FaultReport.h - naming the line that ends the process --*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/LineTable.h"

#include <atomic>

namespace tilebridge::rt {

/// Where the code of a loaded kernel is. While it lives, a fault within that
/// code is reported by the kernel's name.
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

/// Runs `body`; where it faults or aborts, and the handler of faults is
/// installed, it is left at once (nothing that it holds is released), `signal`
/// says which signal it was, and the result is false. So it is where `body`
/// throws, as the compiler does without memory; `signal` is then 0.
bool runGuarded(void (*body)(void *), void *data, int &signal);

/// "SIGSEGV" and so on.
const char *nameOfSignal(int signal);

/// Installs the handler of faults, once; see tilebridge_report_faults.
void installFaultHandler();

} // namespace tilebridge::rt
