//===- CompilerFuzzer.h - the fuzz target -----------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tilebridge::fuzz {

/// Compiles any text; false if it was refused. Traps where it was neither
/// compiled nor refused with a reason.
bool compileText(llvm::StringRef text);

} // namespace tilebridge::fuzz
