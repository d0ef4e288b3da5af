//===- PlanPass.cpp - tilebridge-cpu-plan ------------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/Plan.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUPLANPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

namespace {
struct CpuPlanPass : tilebridge::cpu::impl::CpuPlanPassBase<CpuPlanPass> {
  void runOnOperation() override {
    if (!getOperation().isExternal())
      tilebridge::cpu::decidePlan(getOperation());
  }
};
} // namespace
