//===- RuntimeLibrary.cpp - libtilebridge_runtime.so ---------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The library is TilebridgeRuntimeParts as a whole; what tilebridge.h declares
// is what it exports.
#include "runtime/tilebridge.h"
