//===- WholeBlocks.cpp - nests without bounds where blocks are whole ------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A row of a single step asks where it ends, and whether it is there at all:
// thirty instructions around three that compute. Most blocks are inside of
// their tensors in every dimension. That is asked for once, before the nest,
// and for these it is written without bounds.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/NestEmitter.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// The code is there twice: no long bodies, and no few rows. Rows of four
/// vectors gain nothing; sums of bf16 take 1.1 times as long then, as LLVM
/// widens them in another way.
static constexpr int64_t mostCost = 8, mostVectors = 2, leastRows = 4;

/// Views that the nest reads or writes, each once.
llvm::SmallSetVector<const View *, 4> NestEmitter::viewsOfNest() {
  llvm::SmallSetVector<const View *, 4> views;
  forEachAccess(
      ownIndices(nest.shape.size()), nullptr,
      [&](const View &view, ArrayRef<Index>, bool) { views.insert(&view); });
  return views;
}

/// The condition under which no index of the nest is outside of a box, nor left
/// out as nobody sees it; null where there is none to ask for, or it is not
/// worth it.
Value NestEmitter::findWhole() {
  if (nest.isCold || mayBeWhole || frame.vecDim < 0 || nest.shape.size() < 2 ||
      (bodyCost > mostCost && rowsAtOnce.empty()) ||
      frame.lanes != nest.shape[frame.vecDim] ||
      frame.lanes * widestBits > mostVectors * fe.target().vectorBits ||
      llvm::product_of(nest.shape) < leastRows * frame.lanes ||
      !scans.empty() || lanesToExchange > 1 || squares || part ||
      nest.redirected || rowsAreFar || !fe.staged.empty())
    return {};
  // A number that the nest computes is a value of either version.
  for (const NestOutput &output : nest.outputs)
    if (output.reduce &&
        llvm::any_of(output.reduce->getResultTypes(), [](Type type) {
          return cast<RankedTensorType>(type).getRank() == 0;
        }))
      return {};
  llvm::SmallSetVector<std::pair<Value, int64_t>, 4> equal;
  auto require = [&](OpFoldResult number, int64_t wanted) {
    if (auto known = constantOf(number))
      return *known == wanted;
    equal.insert({cast<Value>(number), wanted});
    return true;
  };
  for (const View *view : viewsOfNest()) {
    if (view->rowDim >= 0)
      return {};
    for (auto [d, size] : llvm::enumerate(view->shape))
      if (!view->isFull(d) &&
          !(require(view->lo[d], 0) && require(view->hi[d], size)))
        return {};
  }
  for (unsigned d : restricted)
    if (!require(ranges[d].first, 0) ||
        !require(ranges[d].second, nest.shape[d]))
      return {};
  Value result;
  for (auto [number, wanted] : equal) {
    Value is = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, number,
                                     constant(wanted));
    result = result ? arith::AndIOp::create(b, loc, result, is) : is;
  }
  return result;
}

/// The nest for blocks that are whole, and the one for others.
LogicalResult NestEmitter::emitWholeOrNot(Value isWhole) {
  auto branch = scf::IfOp::create(b, loc, isWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  auto emit = [&](Block *block, bool whole) {
    b.setInsertionPoint(block->getTerminator());
    Nest copy = nest;
    NestEmitter inner(fe, copy);
    inner.mayBeWhole = whole;
    return inner.run();
  };
  auto readers = fe.readers;
  {
    // What is read has the same view in both.
    SmallVector<std::pair<View *, View>, 0> bounded;
    auto restore = llvm::scope_exit([&] {
      for (auto &[view, before] : bounded)
        *view = before;
    });
    for (const View *each : viewsOfNest()) {
      auto *view = const_cast<View *>(each);
      bounded.push_back({view, *view});
      for (auto [d, size] : llvm::enumerate(view->shape)) {
        view->lo[d] = b.getIndexAttr(0);
        view->hi[d] = b.getIndexAttr(size);
      }
    }
    if (failed(emit(branch.thenBlock(), true)))
      return failure();
  }
  fe.readers = readers;
  return emit(branch.elseBlock(), false);
}
