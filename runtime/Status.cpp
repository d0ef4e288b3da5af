//===- Status.cpp - codes with a sentence ---------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Status.h"

#include <cstdio>
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

tilebridge_code checkFlags(uint32_t flags, uint32_t known,
                           const char *options) {
  uint32_t unknown = flags & ~known;
  if (unknown == 0)
    return TILEBRIDGE_OK;
  char digits[16];
  std::snprintf(digits, sizeof(digits), "0x%x", unknown);
  return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
              std::string("the flags of ") + options + " have " + digits +
                  ", which this version of the runtime does not know (" +
                  tilebridge_version() + ")");
}

std::string describeErrno(int error) {
  return std::generic_category().message(error);
}

} // namespace tilebridge::rt

const char *tilebridge_last_error() {
  return tilebridge::rt::lastError.c_str();
}
