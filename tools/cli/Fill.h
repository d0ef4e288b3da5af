//===- Fill.h - arrays that are made up -----------------------------*- C++ -* -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tools/cli/Npy.h"

#include <string>

namespace tilebridge::cli {

/// "f32[4,8]", "f32[4]=1.5", "i32[10]=range", "f16[64,64]=random",
/// "f32[8]=random:7" (a seed). Returns false where the text is not of this
/// form, so that it may be the name of a file.
bool parseArrayText(const std::string &text, Array &array);

} // namespace tilebridge::cli
