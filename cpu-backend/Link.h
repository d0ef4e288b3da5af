//===- Link.h - an object in memory to a shared object in memory -*- C++
//-*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tilebridge::cpu {

/// Links one relocatable object into a shared object with lld, inside this
/// process. Thread safe.
llvm::Expected<std::string> linkSharedObject(llvm::StringRef object);

} // namespace tilebridge::cpu
