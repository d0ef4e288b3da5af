//===- Status.h - codes with a sentence --------------------------*- C++
//-*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/tilebridge.h"

#include <string>

namespace tilebridge::rt {

/// Keeps `message` for tilebridge_last_error() of this thread; returns `code`.
tilebridge_code fail(tilebridge_code code, std::string message);

/// Refuses flags of a caller's options that this version does not know: what
/// they ask for would not be done. `options` is the name of the options' type.
tilebridge_code checkFlags(uint32_t flags, uint32_t known, const char *options);

/// The text of errno value `error`.
std::string describeErrno(int error);

} // namespace tilebridge::rt
