//===- FaultGuard.cpp - a kernel's bad access as an error ------------ -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/cli/FaultGuard.h"

#include "tools/cli/Error.h"

#include <unistd.h>

namespace tilebridge::cli {

/// Only what POSIX allows in a handler.
static void onFault(int) {
  static const char text[] =
      "tilebridge: the kernel reads or writes outside its arrays: compare the "
      "grid, the sizes and the numbers that are passed with the lengths of the "
      "arrays; `null` is no array at all\n";
  if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
    _exit(Failed);
  _exit(Failed);
}

FaultGuard::FaultGuard() {
  struct sigaction action = {};
  action.sa_handler = onFault;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &oldSegv);
  sigaction(SIGBUS, &action, &oldBus);
}

FaultGuard::~FaultGuard() {
  sigaction(SIGSEGV, &oldSegv, nullptr);
  sigaction(SIGBUS, &oldBus, nullptr);
}

} // namespace tilebridge::cli
