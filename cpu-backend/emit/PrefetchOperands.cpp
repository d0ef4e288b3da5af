//===- PrefetchOperands.cpp - what the next block of a product reads ------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// An operand that is computed while it is packed, such as weights that are
// unpacked, reads few bytes for much arithmetic, in rows that lie far apart:
// the CPU foresees none of them, and waits at the first element of each. So an
// iteration asks for the blocks that the next one reads, before it begins to
// compute: each line once, however many elements are made of it.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/Growth.h"
#include "cpu-backend/emit/NestEmitter.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// More lines at once are dropped, or push out what is there.
static constexpr int64_t mostLines = 512;

namespace {
/// One loop over the lines of a view: `step` elements of dimension `dim`.
struct LineLoop {
  unsigned dim;
  int64_t count, step;
};
} // namespace

/// The loops that meet each line of a block once; nothing where its rows are
/// not contiguous, or it has too many.
static std::optional<SmallVector<LineLoop>> linesOf(const View &view) {
  SmallVector<LineLoop> loops;
  int64_t lines = 1;
  bool isContiguous = false;
  for (auto [d, size] : llvm::enumerate(view.shape)) {
    auto stride = constantOf(view.strides[d]);
    if (size == 1 || stride == 0)
      continue;
    int64_t step = 1;
    if (stride == 1) {
      isContiguous = true;
      step = 8 * lineBytes / view.elementType().getIntOrFloatBitWidth();
    }
    loops.push_back({static_cast<unsigned>(d), size, step});
    lines *= llvm::divideCeil(size, step);
  }
  if (!isContiguous || lines > mostLines)
    return std::nullopt;
  return loops;
}

Value FunctionEmitter::bytesToNext(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (!isShapeOfMemory(op) || buffers.count(tensor))
      break;
    tensor = op->getOperand(0);
  }
  auto it = loads.find(tensor);
  scf::ForOp around = loopAround(rewriter);
  if (it == loads.end() || !around || it->second->rowDim >= 0)
    return {};
  const View &view = *it->second;
  Location loc = tensor.getLoc();
  auto growth = growthOf(view, around, loc);
  int64_t bytes = view.elementType().getIntOrFloatBitWidth() / 8;
  if (!growth || constantOf(*growth) == 0)
    return {};
  return toValue(
      rewriter, loc,
      mulIndex(rewriter, loc, *growth, rewriter.getIndexAttr(bytes)));
}

void FunctionEmitter::prefetchNextOperand(Value tensor, Location loc) {
  scf::ForOp around = loopAround(rewriter);
  if (!around)
    return;
  llvm::SmallSetVector<const View *, 4> views;
  Indices any(cast<RankedTensorType>(tensor.getType()).getRank());
  walkCone(tensor, any, nullptr, [&](Value value, ArrayRef<Index>) {
    auto it = loads.find(value);
    if (it != loads.end() && viewIfInMemory(value) == it->second.get() &&
        it->second->rowDim < 0)
      views.insert(it->second.get());
    return true;
  });
  for (const View *view : views) {
    auto offset = dyn_cast<Value>(view->placed().offset);
    std::optional<SmallVector<LineLoop>> loops = linesOf(*view);
    if (!offset || !loops)
      continue;
    auto growth = growthOf(*view, around, loc);
    if (!growth || constantOf(*growth) == 0)
      continue;
    OpBuilder::InsertionGuard guard(rewriter);
    OpFoldResult at = addIndex(rewriter, loc, offset, *growth);
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, value);
    };
    for (const LineLoop &line : *loops) {
      auto loop = scf::ForOp::create(rewriter, loc, index(0), index(line.count),
                                     index(line.step));
      rewriter.setInsertionPointToStart(loop.getBody());
      at = addIndex(rewriter, loc, at,
                    mulIndex(rewriter, loc, loop.getInductionVar(),
                             view->strides[line.dim]));
    }
    memref::PrefetchOp::create(rewriter, loc, view->base,
                               toValue(rewriter, loc, at), /*isWrite=*/false,
                               /*localityHint=*/2, /*isDataCache=*/true);
  }
}
