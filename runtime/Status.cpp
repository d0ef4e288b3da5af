//===- Status.cpp - codes with a sentence ---------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Status.h"

#include <system_error>

namespace tilebridge::rt {

static thread_local std::string lastError;

tilebridge_code fail(tilebridge_code code, std::string message) {
  // Diagnostics end in a newline, sentences do not.
  while (!message.empty() && message.back() == '\n')
    message.pop_back();
  lastError = std::move(message);
  return code;
}

std::string describeErrno(int error) {
  return std::generic_category().message(error);
}

} // namespace tilebridge::rt

const char *tilebridge_last_error() {
  return tilebridge::rt::lastError.c_str();
}
