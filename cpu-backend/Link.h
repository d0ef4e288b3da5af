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
/// process. Thread safe. A foreign object is one for another architecture,
/// whose C libraries are not here to link with: they are named, not looked
/// into.
llvm::Expected<std::string> linkSharedObject(llvm::StringRef object,
                                             bool isForeign = false);

} // namespace tilebridge::cpu
