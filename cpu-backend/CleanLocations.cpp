//===- CleanLocations.cpp - call sites that name no file are dropped ---------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"

#include "cpu-backend/Passes.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUCLEANLOCATIONSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge::cpu;

static bool namesFile(Location loc) {
  return loc->findInstanceOf<FileLineColLoc>() != FileLineColLoc();
}

/// Of a call site the half that names a file, if only one does.
static Location clean(Location loc) {
  auto site = dyn_cast<CallSiteLoc>(loc);
  if (!site)
    return loc;
  Location callee = clean(site.getCallee()), caller = clean(site.getCaller());
  if (!namesFile(callee))
    return caller;
  return namesFile(caller) ? Location(CallSiteLoc::get(callee, caller))
                           : callee;
}

namespace {

struct CleanLocationsPass
    : public tilebridge::cpu::impl::CpuCleanLocationsPassBase<
          CleanLocationsPass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([](Operation *op) { op->setLoc(clean(op->getLoc())); });
  }
};

} // namespace
