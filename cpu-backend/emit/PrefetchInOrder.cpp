//===- PrefetchInOrder.cpp - what a reduction of rows reads next ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A reduction along its rows reads one after the other and computes next to
// nothing: it waits for memory. The CPU looks ahead by itself, but starts anew
// at each page. What follows some lines later is asked for, along a long row or
// along rows that follow one another in memory. Much further ahead than this,
// the CPU's own requests and these get into each other's way.
//===----------------------------------------------------------------------===//

#include "cpu-backend/NeverNan.h"
#include "cpu-backend/emit/NestEmitter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// So many bytes are read before those that were asked for.
static constexpr int64_t bytesAhead = 3072;
/// Single rows of more bytes are asked for along themselves, shorter ones as a
/// whole.
static constexpr int64_t longRowBytes = 4096;

int64_t tilebridge::cpu::bytesOf(const View &view) {
  int64_t bytes = view.elementType().getIntOrFloatBitWidth() / 8;
  for (int64_t size : view.shape)
    bytes *= size;
  return bytes;
}

/// A larger or smaller float is found by several dependent instructions, which
/// spread the loads: to ask for more gains nothing, or loses. One finds it
/// where what was found so far is a number, whatever comes (1.02 to 1.03 times
/// as fast, f32, AMD Zen 4).
static bool isSlow(Operation *reduce) {
  auto rows = dyn_cast<linalg::ReduceOp>(reduce);
  bool isOfNumbers = rows && llvm::all_of(rows.getInits(), isNeverNan);
  return anyInside(reduce, [&](Operation *op) {
    return isa<arith::MaximumFOp, arith::MinimumFOp, arith::CmpFOp>(op) ||
           (!isOfNumbers && isa<arith::MaxNumFOp, arith::MinNumFOp>(op));
  });
}

/// Elements of less than 32 bits on CPUs that do half of a 512-bit multiply-add
/// a cycle: they look ahead well enough along such rows, which are two lines a
/// step. (Sums of rows of bf16 took 0.55 to 0.75 of the time without between
/// one and two times the last cache, the same from four on. AMD Zen 4.)
static bool comesUnasked(const EmitTarget &target, int64_t bytes) {
  return bytes < 4 && target.vectorBits >= 512 && !target.hasTwoFmas;
}

/// What is to be asked for while `view` is read at `place` the first time;
/// nothing where that is not known, or a nest reads it that is no reduction
/// along rows.
std::optional<Later> NestEmitter::laterInOrder(const View &view,
                                               ArrayRef<Index> place) {
  auto isSlowOutput = [](const NestOutput &output) {
    return output.reduce && isSlow(output.reduce);
  };
  if (!vecReduced ||
      (rowsAtOnce.empty() && llvm::any_of(nest.outputs, isSlowOutput)))
    return std::nullopt;
  int64_t bytes = view.elementType().getIntOrFloatBitWidth() / 8;
  if (bytes == 0 || frame.lanes * bytes < 16 ||
      comesUnasked(fe.target(), bytes))
    return std::nullopt;
  int rowDim = -1;
  int64_t rowBytes = 0;
  for (auto [d, index] : llvm::enumerate(place)) {
    if (index.dim == frame.vecDim && constantOf(view.strides[d]) == 1) {
      rowBytes = view.shape[d] * bytes;
    } else if (view.shape[d] != 1) {
      if (rowDim >= 0)
        return std::nullopt;
      rowDim = d;
    }
  }
  if (rowBytes == 0)
    return std::nullopt;
  scf::ForOp around = loopAround(b);
  Value inOrder = constant(bytesAhead / bytes);
  if (rowDim < 0 && rowBytes > longRowBytes) {
    // Not the same row again and again.
    auto later = laterBlock(view, around, 1, /*evenInOrder=*/true);
    return later ? std::optional(Later{inOrder, isLargeRead(view)})
                 : std::nullopt;
  }
  if (rowDim < 0) {
    auto growth = around ? growthOf(view, around) : std::nullopt;
    if (!growth)
      return std::nullopt;
    // The pieces of a row follow one another: what is not converted waits for
    // memory anyway. (A row of f16 times a vector took 0.75 of the time.)
    if (constantOf(*growth) == rowBytes / bytes)
      return bytes < 4 ? std::optional(Later{inOrder, isLargeRead(view)})
                       : std::nullopt;
    int64_t ahead = std::max<int64_t>(bytesAhead / rowBytes, 1);
    return laterBlock(view, around, ahead, /*evenInOrder=*/false);
  }
  // Where other memory is between the rows, later ones are asked for.
  auto later = laterBlock(view);
  if (!later)
    return std::nullopt;
  Value distance = arith::SelectOp::create(b, loc, later->condition,
                                           later->distance, constant(0));
  // Asking for what is read here costs less than a branch for each row would.
  if (!rowsAtOnce.empty())
    return Later{distance, {}};
  Value isApart = rowsAreApart(view);
  if (!isApart)
    return Later{inOrder, isLargeRead(view)};
  return Later{arith::SelectOp::create(b, loc, isApart, distance, inOrder),
               isLargeRead(view)};
}
