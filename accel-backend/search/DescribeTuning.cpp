//===- DescribeTuning.cpp - what a search found, as JSON ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/search/AutoTile.h"

#include "accel-backend/dialect/AccessText.h"
#include "accel-backend/search/Decide.h"

using namespace mlir;
using namespace tilebridge::accel;

llvm::json::Object tilebridge::accel::describe(func::FuncOp kernel,
                                               const Tuning &tuning) {
  const Decision &decision = tuning.best.decision;
  llvm::json::Array tiles;
  Tiles all(kernel);
  for (auto [tile, size] : llvm::zip_equal(all.all(), decision.tiles)) {
    llvm::json::Object one{{"block", tile.blockSize}, {"tile", size}};
    if (std::string line = placeIn(tile.op->getLoc()); !line.empty())
      one["line"] = line;
    one["dimension"] = tile.dimension;
    tiles.push_back(std::move(one));
  }
  llvm::json::Object result{
      {"assignment", decision.assignment ? stringifyAssignmentKind(
                                               decision.assignment.getKind())
                                         : StringRef("by reuse")},
      {"multicast", decision.multicast},
      {"merge", llvm::json::Array(decision.merge)},
      {"depth", decision.depth},
      {"tiles", std::move(tiles)},
      {"model_cycles", tuning.best.cycles},
      {"decisions", int64_t(tuning.decisions)},
      {"lowered", int64_t(tuning.lowered)},
      {"simulated", int64_t(tuning.simulated)}};
  if (tuning.best.simulatedCycles)
    result["simulated_cycles"] = *tuning.best.simulatedCycles;
  return result;
}
