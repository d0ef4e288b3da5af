//===- CleanLocations.cpp - every operation gets a place in a file --------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

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

/// The innermost place of a call site.
static Location calleeOf(Location loc) {
  while (auto site = dyn_cast<CallSiteLoc>(loc))
    loc = site.getCallee();
  return loc;
}

/// Where a function's operations are that do not say so themselves. LLVM wants
/// a place for each call in a function that has one; line 0 is none.
static Location placeOf(FunctionOpInterface function) {
  Location loc = clean(function.getLoc());
  return namesFile(loc)
             ? loc
             : FileLineColLoc::get(function.getContext(), "<unknown>", 0, 0);
}

namespace {

struct CleanLocationsPass
    : public tilebridge::cpu::impl::CpuCleanLocationsPassBase<
          CleanLocationsPass> {
  using Base::Base;

  void runOnOperation() override {
    // A call site is in a function; what is none was called by nobody.
    getOperation()->setLoc(calleeOf(getOperation().getLoc()));
    for (Operation &top : *getOperation().getBody()) {
      if (isa<FunctionOpInterface>(top))
        top.setLoc(calleeOf(clean(top.getLoc())));
      else
        top.walk(
            [](Operation *op) { op->setLoc(calleeOf(clean(op->getLoc()))); });
    }
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      Location place = placeOf(function);
      function->walk([&](Operation *op) {
        Location loc = clean(op->getLoc());
        op->setLoc(namesFile(loc) ? loc : place);
      });
    }
  }
};

} // namespace
