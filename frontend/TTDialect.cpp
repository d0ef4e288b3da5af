//===- TTDialect.cpp - Triton's tile IR -----------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTDialect.h"

#include "frontend/TTDialect.cpp.inc"

void tilebridge::tt::TTDialect::initialize() {}
