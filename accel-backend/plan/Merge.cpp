//===- Merge.cpp - programs that a PE runs together -----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/Merge.h"

#include "accel-backend/dialect/Assignment.h"
#include "accel-backend/plan/Effects.h"
#include "accel-backend/plan/Readings.h"

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

// Ids are computed in 32 bits, also those beyond the last program.
static constexpr int64_t mostPrograms = 1 << 30;

std::optional<MergeRefusal>
tilebridge::accel::refuseMerge(func::FuncOp kernel) {
  auto launch = kernel->getAttrOfType<DenseI64ArrayAttr>(gridAttr);
  if (!launch || launch.size() != 3)
    return MergeRefusal{"the launch grid is not known", kernel};
  for (int64_t count : launch.asArrayRef())
    if (count > mostPrograms)
      return MergeRefusal{"the launch grid is too large", kernel};
  std::optional<MergeRefusal> refusal;
  kernel.walk([&](Operation *op) {
    if (isa<linalg_ext::PrintOp, linalg_ext::AssertOp, linalg_ext::ClockOp>(op))
      refusal = {"what it shows would be that of several programs at once", op};
    else if (isa<scf::WhileOp>(op))
      refusal = {"it may wait for what another program does", op};
    else if (isa<linalg_ext::AtomicLoadOp, linalg_ext::AtomicStoreOp>(op) ||
             (isSeen(op) && op->getNumResults() && !op->use_empty()))
      refusal = {"programs may agree by it on what each of them does", op};
    return refusal ? WalkResult::interrupt() : WalkResult::advance();
  });
  return refusal;
}

scf::ForOp tilebridge::accel::mergeLoopOf(func::FuncOp kernel) {
  scf::ForOp found;
  kernel.walk([&](scf::ForOp loop) {
    if (!loop->hasAttr(mergeAttr))
      return WalkResult::advance();
    found = loop;
    return WalkResult::interrupt();
  });
  return found;
}
