//===- Passes.td - passes of triton-to-linalg --------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_TRITONTOLINALG_PASSES
#define TILEBRIDGE_TRITONTOLINALG_PASSES

include "mlir/Pass/PassBase.td"

#endif
