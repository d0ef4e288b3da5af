//===- PrefetchLines.cpp - asking for lines of memory ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/NestEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Asks for the lines of `lanes` elements from `at` on.
static void prefetchLines(OpBuilder &b, Location loc, Value memref, Value at,
                          int64_t lanes, NearestCache cache,
                          bool isWrite = false) {
  int64_t bits = cast<MemRefType>(memref.getType()).getElementTypeBitWidth();
  int64_t inLine = std::max<int64_t>(8 * lineBytes / bits, 1);
  for (int64_t lane = 0; lane < lanes; lane += inLine)
    memref::PrefetchOp::create(
        b, loc, memref,
        lane == 0 ? at
                  : toValue(b, loc, addIndex(b, loc, at, b.getIndexAttr(lane))),
        isWrite, hintOf(cache),
        /*isDataCache=*/true);
}

void tilebridge::cpu::prefetchLater(OpBuilder &b, Location loc, Value memref,
                                    Value place, const Later &later,
                                    int64_t lanes) {
  OpBuilder::InsertionGuard guard(b);
  if (later.condition) {
    auto branch = scf::IfOp::create(b, loc, later.condition, false);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  prefetchLines(b, loc, memref,
                arith::AddIOp::create(b, loc, place, later.distance), lanes,
                later.cache);
}

/// Asks for what stands where the lanes are in a later block.
void FunctionEmitter::prefetchLaterBlock(const View &view,
                                         ArrayRef<Index> indices,
                                         unsigned laneDim, Location loc) {
  auto it = frame->prefetches.find(&view);
  if (it == frame->prefetches.end() || constantOf(view.strides[laneDim]) != 1)
    return;
  Value at =
      arith::AddIOp::create(rewriter, loc, address(view, indices, laneDim, loc),
                            indices[laneDim].base);
  prefetchLater(rewriter, loc, view.base, at, it->second, frame->lanes);
}

/// The outputs whose lines are asked for. Stores leave the CPU in their order:
/// one that waits for the second cache holds up all others, while requests are
/// sent as soon as the address is known. (Adding two arrays there took 0.91 of
/// the time; where loads and stores had the same place in a page, 0.75.) Where
/// lanes come from scratch memory or are scanned, the loads that the next nest
/// waits for would queue behind these requests instead: a softmax of 512 rows
/// took 1.07 of the time, sums along columns 1.15.
void NestEmitter::findClaims() {
  if (!fe.target().hasTwoFmas || nest.isCold || frame.vecDim < 0 ||
      !nest.reduceDims.empty() || !scans.empty())
    return;
  bool readsScratch = llvm::any_of(nest.outputs, [](const NestOutput &output) {
    return output.source != nullptr;
  });
  auto visit = [&](Value value, ArrayRef<Index> place) {
    const View *view = fe.viewIfInMemory(value);
    auto load = fe.loads.find(value);
    if (view && (load == fe.loads.end() || load->second.get() != view))
      readsScratch |= llvm::any_of(
          llvm::zip_equal(place, view->shape), [&](const auto &each) {
            auto [index, size] = each;
            return index.dim == frame.vecDim && size != 1;
          });
    return true;
  };
  walkInputs(visit);
  if (readsScratch)
    return;
  for (const NestOutput &output : nest.outputs)
    if (output.isStore && !output.mask &&
        frame.lanes * output.view.elementType().getIntOrFloatBitWidth() >=
            8 * lineBytes)
      frame.claims.insert(&output.view);
}

/// Asks for what the lanes of an output are stored to at `at`.
void FunctionEmitter::claimLines(const View &view, Value at, Location loc) {
  if (frame->interior && frame->claims.contains(&view))
    prefetchLines(rewriter, loc, view.base, at, frame->lanes,
                  NearestCache::First, /*isWrite=*/true);
}
