//===- LinalgExtDialect.cpp - what linalg lacks ---------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/bridge/LinalgExtDialect.h"

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "triton-to-linalg/bridge/LinalgExtDialect.cpp.inc"

void tilebridge::linalg_ext::LinalgExtDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "triton-to-linalg/bridge/LinalgExtComputeOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.cpp.inc"
      >();
}
