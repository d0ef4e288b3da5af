//===- Error.h - how the commands fail -------------------------*- C++ -* -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/tilebridge.h"

#include <stdexcept>
#include <string>

namespace tilebridge::cli {

/// What the process ends with; documented in the help.
enum ExitCode {
  Success = 0,
  Failed = 1,       // a file, the compilation or the launch
  WrongUsage = 2,   // the command line
  AssertFailed = 3, // an assertion of the kernel
};

/// Ends the command with a message.
struct Error : std::runtime_error {
  Error(ExitCode code, const std::string &message)
      : std::runtime_error(message), code(code) {}
  ExitCode code;
};

[[noreturn]] inline void usageError(const std::string &message) {
  throw Error(WrongUsage, message);
}

/// Throws the runtime's last error unless `code` is good.
inline void check(tilebridge_code code) {
  if (code != TILEBRIDGE_OK)
    throw Error(code == TILEBRIDGE_ERROR_KERNEL_ASSERT ? AssertFailed : Failed,
                tilebridge_last_error());
}

} // namespace tilebridge::cli
