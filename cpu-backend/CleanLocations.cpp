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

/// The part of a location that names a file; null if none does. (Line tables
/// cannot be made from an inlined call of which one side names none.)
static LocationAttr withFile(LocationAttr loc) {
  if (isa<FileLineColRange>(loc))
    return loc;
  if (auto name = dyn_cast<NameLoc>(loc))
    return withFile(name.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      if (LocationAttr found = withFile(part))
        return found;
    return {};
  }
  auto call = dyn_cast<CallSiteLoc>(loc);
  if (!call)
    return {};
  LocationAttr callee = withFile(call.getCallee()),
               caller = withFile(call.getCaller());
  if (!callee || !caller)
    return callee ? callee : caller;
  return CallSiteLoc::get(Location(callee), Location(caller));
}

/// LLVM wants a place for each call in a function that has one; line 0 is none.
static Location placeOf(Location loc, Location otherwise) {
  LocationAttr found = withFile(loc);
  return found ? Location(found) : otherwise;
}

/// The same of what nobody calls: the innermost place of a call site.
static Location calleeOf(Location loc, Location otherwise) {
  loc = placeOf(loc, otherwise);
  while (auto site = dyn_cast<CallSiteLoc>(loc))
    loc = site.getCallee();
  return loc;
}

namespace {

struct CleanLocationsPass
    : public tilebridge::cpu::impl::CpuCleanLocationsPassBase<
          CleanLocationsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Location nowhere =
        FileLineColLoc::get(module.getContext(), "<unknown>", 0, 0);
    // A call site is in a function: debug information has no place for others.
    module->setLoc(calleeOf(module.getLoc(), nowhere));
    for (Operation &top : *module.getBody()) {
      Location place = calleeOf(top.getLoc(), nowhere);
      bool isFunction = isa<FunctionOpInterface>(top);
      top.walk([&](Operation *op) {
        op->setLoc(isFunction ? placeOf(op->getLoc(), place)
                              : calleeOf(op->getLoc(), place));
      });
      top.setLoc(place);
    }
  }
};

} // namespace
