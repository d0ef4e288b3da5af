//===- Multicast.cpp - one read for all PEs of a line ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A copy may be done for a line of PEs together where all of them do it equally
// often from the same memory in each step.
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/KernelLaunch.h"
#include "accel-backend/plan/LineBound.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Tiles.h"
#include "accel-backend/plan/Turns.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELMULTICASTPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

static StringRef linesText(const Sharing &sharing) {
  if (sharing.alongRows && sharing.alongColumns)
    return "all PEs";
  return sharing.alongRows ? "the PEs of a row" : "the PEs of a column";
}

namespace {
struct AccelMulticastPass
    : accel::impl::AccelMulticastPassBase<AccelMulticastPass> {
  void runOnOperation() override {
    FailureOr<std::optional<KernelLaunch>> launch =
        KernelLaunch::thatMayShare(getOperation());
    if (failed(launch))
      return signalPassFailure();
    if (!*launch)
      return;
    Turns turns = (*launch)->turns();
    getOperation().walk([&](CopyOp copy) {
      if (isInChipMemory(copy.getSource().getType()) &&
          !isInChipMemory(copy.getDest().getType()))
        decide(copy, (*launch)->target, turns);
    });
  }

  static void decide(CopyOp copy, const Target &target, Turns &turns) {
    Sharing sharing = turns.ofAccess(copy, sourceOf(copy));
    if (!sharing.alongRows && !sharing.alongColumns) {
      Sharing byAddress = turns.ofValues(sourceOf(copy));
      if (byAddress.alongRows || byAddress.alongColumns)
        copy.emitRemark("not multicast: ")
            << linesText(byAddress)
            << " load the same data, but not equally often";
      return;
    }
    const DmaEngine *engine = target.findEngine(
        memoryOf(copy.getSource(), target).name, target.localMemory().name);
    Lines lines = engine ? engine->multicast : Lines::None;
    SmallVector<int64_t> coordinates;
    if (sharing.alongColumns && hasColumns(lines))
      coordinates.push_back(0);
    if (sharing.alongRows && hasRows(lines))
      coordinates.push_back(1);
    if (coordinates.empty()) {
      copy.emitRemark("not multicast: ")
          << linesText(sharing) << " load the same data, but "
          << (engine ? "engine '" + engine->name + "'"
                     : std::string("no engine of the target"))
          << (engine ? " cannot multicast along such lines" : " loads it");
      return;
    }
    copy.setMulticastAttr(
        DenseI64ArrayAttr::get(copy.getContext(), coordinates));
  }
};
} // namespace
