//===- Text.h - what EmitC's translation leaves to do -----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tilebridge::accel {

/// Finishes a text of C++: gives functions their first lines (`//@@ ...`) and
/// results their names (`//@ v3 name`), drops what nothing uses, indents.
std::string finishText(llvm::StringRef text);

} // namespace tilebridge::accel
