//===- Mutate.h - one damaged copy ------------------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace tilebridge::fuzz {

/// The text changed as a program in two of three cases, as text in the third;
/// one in four as the bridge IR that it is lowered to. Always the same for a
/// seed.
std::string mutate(llvm::StringRef text, uint64_t seed);

} // namespace tilebridge::fuzz
