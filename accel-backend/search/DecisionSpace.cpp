//===- DecisionSpace.cpp - what there is to decide ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/search/DecisionSpace.h"

#include "accel-backend/plan/Merge.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Tiles.h"

using namespace mlir;
using namespace tilebridge::accel;

static constexpr int64_t mostDepth = 3;
// Blocks are halved so often at most: below, units are badly used.
static constexpr unsigned mostHalves = 4;
// Each of them has buffers of its own.
static constexpr int64_t mostMerged = 4;

void tilebridge::accel::apply(func::FuncOp kernel, const Decision &decision) {
  if (decision.isOwn)
    return clearDecisions(kernel);
  kernel->removeAttr(assignmentAttr);
  if (decision.assignment)
    kernel->setAttr(assignmentAttr, decision.assignment);
  kernel->removeAttr(unicastAttr);
  if (!decision.multicast)
    kernel->setAttr(unicastAttr, UnitAttr::get(kernel.getContext()));
  kernel->removeAttr(mergeAttr);
  if (decision.merge != unmerged)
    kernel->setAttr(
        mergeAttr, DenseI64ArrayAttr::get(kernel.getContext(), decision.merge));
  setDepth(kernel, decision.depth);
  Tiles tiles(kernel);
  for (auto [index, size] : llvm::enumerate(decision.tiles))
    tiles.set(index, size);
}

static SmallVector<int64_t> sizesOf(const Tile &tile) {
  SmallVector<int64_t> sizes{tile.blockSize};
  for (unsigned halves = 0; halves < mostHalves; ++halves)
    if (sizes.back() % 2 == 0 && sizes.back() > 16)
      sizes.push_back(sizes.back() / 2);
  return sizes;
}

// Powers of two in each dimension, as long as each PE keeps a program.
static SmallVector<Merge> mergesOf(const Grids &grids) {
  SmallVector<Merge> result;
  for (int64_t z = 1; z <= mostMerged; z *= 2)
    for (int64_t y = 1; y * z <= mostMerged; y *= 2)
      for (int64_t x = 1; x * y * z <= mostMerged; x *= 2) {
        Merge merge = {x, y, z};
        Grids together = grids;
        together.launch = merged(grids.launch, merge);
        bool isSmaller = true;
        for (unsigned d = 0; d < 3; ++d)
          isSmaller &= merge[d] <= grids.launch[d];
        if (merge == unmerged ||
            (isSmaller && together.programs() >= grids.pes()))
          result.push_back(merge);
      }
  return result;
}

DecisionSpace::DecisionSpace(func::FuncOp kernel, const Target &target)
    : context(kernel.getContext()),
      tiles(llvm::to_vector(Tiles(kernel).all())) {
  // A decision that was tried before is none about the launch.
  kernel->removeAttr(mergeAttr);
  launch = gridsOf(kernel, target);
  if (launch && launch->programs() && !refuseMerge(kernel))
    merges = mergesOf(*launch);
}

SmallVector<AssignmentAttr>
DecisionSpace::assignmentsOf(const Merge &merge) const {
  SmallVector<AssignmentAttr> result{nullptr};
  if (!launch)
    return result;
  Grids grids = *launch;
  grids.launch = merged(launch->launch, merge);
  if (grids.programs() <= 1 || grids.pes() == 1)
    return result;
  auto add = [&](AssignmentKind kind, ArrayRef<int64_t> values) {
    result.push_back(
        AssignmentAttr::get(context, kind, values, DenseIntElementsAttr()));
  };
  add(AssignmentKind::Interleaved, {});
  if (grids.programs() > grids.pes())
    add(AssignmentKind::Blocked,
        {int64_t(llvm::divideCeil(grids.programs(), grids.pes()))});
  return result;
}

size_t DecisionSpace::size() const {
  size_t count = 0;
  for (const Merge &merge : merges)
    count += assignmentsOf(merge).size() * 2 * mostDepth;
  for (const Tile &tile : tiles)
    count *= sizesOf(tile).size();
  return count;
}

Decision DecisionSpace::first() const {
  Decision decision;
  for (const Tile &tile : tiles)
    decision.tiles.push_back(tile.blockSize);
  return decision;
}

std::vector<Decision> DecisionSpace::all() const {
  std::vector<Decision> all;
  for (const Merge &merge : merges)
    for (AssignmentAttr assignment : assignmentsOf(merge))
      for (bool multicast : {true, false})
        for (int64_t depth = 1; depth <= mostDepth; ++depth) {
          Decision decision = first();
          decision.assignment = assignment;
          decision.multicast = multicast;
          decision.merge = merge;
          decision.depth = depth;
          all.push_back(decision);
        }
  for (auto [index, tile] : llvm::enumerate(tiles)) {
    std::vector<Decision> more;
    for (const Decision &decision : all)
      for (int64_t size : sizesOf(tile)) {
        more.push_back(decision);
        more.back().tiles[index] = size;
      }
    all = std::move(more);
  }
  return all;
}

// Whether one dimension is merged twice as much, or half as much.
static bool isNext(const Merge &a, const Merge &b) {
  unsigned different = 0;
  for (unsigned d = 0; d < 3; ++d) {
    if (a[d] == b[d])
      continue;
    if (a[d] != 2 * b[d] && b[d] != 2 * a[d])
      return false;
    ++different;
  }
  return different == 1;
}

SmallVector<Decision>
DecisionSpace::neighboursOf(const Decision &decision) const {
  SmallVector<Decision> result;
  for (auto [index, tile] : llvm::enumerate(tiles))
    for (int64_t size : sizesOf(tile)) {
      result.push_back(decision);
      result.back().tiles[index] = size;
    }
  for (int64_t depth = 1; depth <= mostDepth; ++depth) {
    result.push_back(decision);
    result.back().depth = depth;
  }
  for (AssignmentAttr assignment : assignmentsOf(decision.merge)) {
    result.push_back(decision);
    result.back().assignment = assignment;
  }
  result.push_back(decision);
  result.back().multicast = !decision.multicast;
  for (const Merge &merge : merges) {
    if (!isNext(merge, decision.merge))
      continue;
    for (int64_t depth = 1; depth <= decision.depth; ++depth) {
      result.push_back(decision);
      result.back().merge = merge;
      result.back().depth = depth;
      // Its values are for another number of programs.
      if (decision.assignment &&
          decision.assignment.getKind() == AssignmentKind::Blocked)
        result.back().assignment = assignmentsOf(merge).back();
    }
  }
  return result;
}

std::vector<Decision> tilebridge::accel::allDecisions(func::FuncOp kernel,
                                                      const Target &target) {
  return DecisionSpace(kernel, target).all();
}
