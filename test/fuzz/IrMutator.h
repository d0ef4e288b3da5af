//===- IrMutator.h - changes programs that stay programs --------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tilebridge::fuzz {

/// Parses a module and changes it: an operand becomes another value of its
/// type, a constant or an attribute another, an op is gone or there twice, a
/// type or a size is another one everywhere. What comes out verifies as a rule,
/// so it reaches the passes, which damaged text seldom does. Nothing if the
/// text does not parse.
std::optional<std::string> mutateProgram(llvm::StringRef text, uint64_t seed);

} // namespace tilebridge::fuzz
