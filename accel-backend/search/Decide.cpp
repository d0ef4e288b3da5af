//===- Decide.cpp - decisions as attributes -------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/search/Decide.h"

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/dialect/Assignment.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Split.h"
#include "accel-backend/plan/Tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge::accel;

// Smaller parts of a class waste more of a unit than they save.
static constexpr int64_t smallestTile = 16;

void tilebridge::accel::setDepth(func::FuncOp kernel, int64_t depth) {
  Builder builder(kernel.getContext());
  kernel.walk([&](CopyOp copy) {
    if (!isInChipMemory(copy.getSource().getType()))
      return;
    copy->setAttr(depthAttr, builder.getI64IntegerAttr(depth));
  });
}

bool tilebridge::accel::isDecided(func::FuncOp kernel) {
  return kernel
      .walk([](CopyOp copy) {
        return copy->hasAttr(depthAttr) || copy->hasAttr(tileAttr)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

void tilebridge::accel::clearDecisions(func::FuncOp kernel) {
  kernel->removeAttr(assignmentAttr);
  kernel->removeAttr(unicastAttr);
  kernel->removeAttr(mergeAttr);
  kernel.walk([](CopyOp copy) {
    copy->removeAttr(depthAttr);
    copy->removeAttr(tileAttr);
  });
}

static Value blockOf(CopyOp copy) {
  return isa<RankedTensorType>(copy.getDest().getType()) ? copy.getDest()
                                                         : copy.getSource();
}

Tiles::Tiles(func::FuncOp kernel) {
  // Decided on a copy in which each use has a block of its own, and told of
  // the operations of the kernel: their order is the same.
  SmallVector<CopyOp> copies;
  kernel.walk([&](CopyOp copy) { copies.push_back(copy); });
  OwningOpRef<Operation *> owner(kernel->clone());
  auto scratch = cast<func::FuncOp>(owner.get());
  if (failed(separateUses(scratch)))
    return;
  SmallVector<CopyOp> ofScratch;
  scratch.walk([&](CopyOp copy) { ofScratch.push_back(copy); });
  DimensionClasses classes(scratch);

  std::vector<double> bytes(classes.classes().size());
  scratch.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<tensor::EmptyOp, arith::ConstantOp>(op))
      for (Value result : op->getResults())
        if (auto type = dyn_cast<RankedTensorType>(result.getType()))
          if (type.hasStaticShape())
            for (unsigned number : classes.of(result))
              bytes[number] += bytesOf(type);
    return op->getNumRegions() &&
                   !isa<scf::ForOp, scf::IfOp, scf::WhileOp, func::FuncOp>(op)
               ? WalkResult::skip()
               : WalkResult::advance();
  });
  std::vector<bool> seen(bytes.size());
  for (auto [copy, original] : llvm::zip_equal(ofScratch, copies)) {
    Value block = blockOf(copy);
    auto type = cast<RankedTensorType>(block.getType());
    if (!type.hasStaticShape())
      continue;
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
      unsigned number = classes.of(block, dimension);
      const DimensionClasses::Class &entry = classes.classes()[number];
      if (seen[number] || entry.size != type.getDimSize(dimension) ||
          entry.size < 2 || !canSplit(scratch, classes, number).isPossible)
        continue;
      seen[number] = true;
      tiles.push_back({original, dimension, entry.size, entry.size,
                       bytes[number], entry.kind == DimensionKind::Contracted});
    }
  }
}

void Tiles::set(unsigned index, int64_t size) {
  tiles[index].size = size;
  write();
}

bool Tiles::shrink() {
  auto weight = [](const Tile &tile) {
    double share = double(tile.size) / double(tile.blockSize);
    return tile.bytes * share * (tile.isContracted ? 2 : 1);
  };
  // Down to what units work well on, and if need be below.
  for (int64_t least : {smallestTile, int64_t(1)}) {
    Tile *best = nullptr;
    for (Tile &tile : tiles)
      if (tile.size % 2 == 0 && tile.size / 2 >= least &&
          (!best || weight(tile) > weight(*best)))
        best = &tile;
    if (!best)
      continue;
    best->size /= 2;
    write();
    return true;
  }
  return false;
}

void Tiles::clear() {
  for (Tile &tile : tiles)
    tile.size = tile.blockSize;
  write();
}

void Tiles::write() {
  for (const Tile &tile : tiles)
    tile.op->removeAttr(tileAttr);
  for (const Tile &tile : tiles) {
    if (tile.size == tile.blockSize)
      continue;
    auto type =
        cast<RankedTensorType>(blockOf(cast<CopyOp>(tile.op)).getType());
    SmallVector<int64_t> sizes(type.getShape());
    if (auto before = tile.op->getAttrOfType<DenseI64ArrayAttr>(tileAttr))
      sizes.assign(before.asArrayRef().begin(), before.asArrayRef().end());
    sizes[tile.dimension] = tile.size;
    tile.op->setAttr(tileAttr,
                     DenseI64ArrayAttr::get(tile.op->getContext(), sizes));
  }
}
