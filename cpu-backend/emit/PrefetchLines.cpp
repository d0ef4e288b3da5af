//===- PrefetchLines.cpp - asking for lines of memory ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/FunctionEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Bytes of what the CPU moves between memory and caches.
static constexpr int64_t lineBytes = 64;

/// Asks for the lines of `lanes` elements from `at` on.
static void prefetchLines(OpBuilder &b, Location loc, Value memref, Value at,
                          int64_t lanes, NearestCache cache) {
  int64_t bits = cast<MemRefType>(memref.getType()).getElementTypeBitWidth();
  int64_t inLine = std::max<int64_t>(8 * lineBytes / bits, 1);
  for (int64_t lane = 0; lane < lanes; lane += inLine)
    memref::PrefetchOp::create(
        b, loc, memref,
        lane == 0 ? at
                  : toValue(b, loc, addIndex(b, loc, at, b.getIndexAttr(lane))),
        /*isWrite=*/false,
        /*localityHint=*/cache == NearestCache::First ? 3 : 2,
        /*isDataCache=*/true);
}

void tilebridge::cpu::prefetchLater(OpBuilder &b, Location loc, Value memref,
                                    ArrayRef<Value> places, const Later &later,
                                    int64_t lanes) {
  OpBuilder::InsertionGuard guard(b);
  if (later.condition) {
    auto branch = scf::IfOp::create(b, loc, later.condition, false);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  for (Value place : places)
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
