//===- Passes.td - passes that decide ----------------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_ACCEL_PLAN_PASSES
#define TILEBRIDGE_ACCEL_PLAN_PASSES

include "accel-backend/plan/CopyPasses.td"
include "accel-backend/plan/MappingPasses.td"
include "accel-backend/plan/MemoryPasses.td"

#endif
