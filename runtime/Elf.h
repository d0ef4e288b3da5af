//===- Elf.h - looking into shared objects ---------------------*- C++ -* -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilebridge::rt {

/// Whether `bytes` are a 64-bit shared object for this machine whose headers
/// and segments lie inside of it.
bool checkSharedObject(std::string_view bytes, std::string &why);

/// The contents of the section of this name; empty where there is none.
std::string_view section(std::string_view object, std::string_view name);

/// How many bytes the segments of a shared object take once it is loaded.
uint64_t sizeInMemory(std::string_view object);

/// The GNU build id of the file, as hexadecimal digits; where it has none, its
/// size and time of change; where there is no such file, "".
std::string fileIdentity(const std::string &path);

/// The identities of a shared library and of the libraries called libLLVM* and
/// libMLIR* that it needs, as far as they are found where the dynamic loader
/// will look for them.
std::string libraryIdentity(const std::string &path);

} // namespace tilebridge::rt
