//===- DynamicLibrary.h - dlopen for bytes ----------------------*- C++ -*
//-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <string>
#include <string_view>

namespace tilebridge::rt {

/// Loads a shared object that is in memory, all symbols bound, none of them
/// visible to others. Returns null with the reason where that fails. No file is
/// left behind.
void *loadLibraryFromMemory(std::string_view object, std::string &why);

} // namespace tilebridge::rt
