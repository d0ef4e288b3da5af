//===- FlattenRows.cpp - short rows that follow one another ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A block of 64 x 2 elements that follow one another in memory, such as pairs
// of real and imaginary parts that `tl.split` takes apart, is one row of 128
// for loops that go element by element. Where all that such loops read and
// write lies so, they see one row: vectors are full, and one loop does.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/PlanGroups.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// From which dimension on all elements follow one another.
static unsigned firstOfRow(const View &view) {
  unsigned last = view.shape.size() - 1, first = view.shape.size();
  if (!view.isWhole() || view.rows || view.isBool || view.pad || view.other)
    return last;
  int64_t size = 1;
  while (first > 0 && constantOf(view.strides[first - 1]) == size)
    size *= view.shape[--first];
  return std::min(first, last);
}

/// The same elements, as one row from dimension `first` on.
static void flattenFrom(View &view, OpBuilder &b, unsigned first) {
  unsigned last = view.shape.size() - 1;
  for (unsigned d = first; d < last; ++d) {
    view.shape[last] *= view.shape[d];
    view.shape[d] = 1;
    view.hi[d] = b.getIndexAttr(1);
  }
  view.hi[last] = b.getIndexAttr(view.shape[last]);
}

/// An operation whose elements depend on nothing but the operands' ones.
static bool isSameEverywhere(Operation *op) {
  if (!op)
    return false;
  return isOneNumber(op) ||
         (isElementwise(op) && !anyInside(op, llvm::IsaPred<linalg::IndexOp>));
}

/// Makes rows of a nest one where that gives full vectors: changes the nest,
/// and returns the views of what it reads, as it is to see them.
LoadedViews FunctionEmitter::flattenRows(Nest &nest) {
  LoadedViews flat;
  unsigned rank = nest.shape.size(), last = rank - 1;
  if (rank < 2 || !nest.reduceDims.empty() || nest.shape[last] < 2)
    return flat;
  unsigned first = 0;
  int64_t lanes = 1;
  SmallVector<Value> loaded;
  bool isPossible = true;
  Indices here = identityIndices(rank);
  auto visit = [&](Value value, ArrayRef<Index> at) {
    auto type = cast<RankedTensorType>(value.getType());
    isPossible &=
        type.getShape() == ArrayRef<int64_t>(nest.shape) && Indices(at) == here;
    if (const View *view = viewIfInMemory(value)) {
      first = std::max(first, firstOfRow(*view));
      loaded.push_back(value);
    } else {
      isPossible &= isSameEverywhere(value.getDefiningOp());
    }
    return isPossible;
  };
  for (NestOutput &output : nest.outputs) {
    if (output.reduce || output.mask || output.source)
      return flat;
    int64_t bits = output.view.elementType().getIntOrFloatBitWidth();
    lanes = std::max(lanes, target().vectorBits / bits);
    first = std::max(first, firstOfRow(output.view));
    walkCone(output.tensor, here, nullptr, visit);
  }
  if (!isPossible || first >= last || nest.shape[last] >= lanes)
    return flat;
  for (unsigned d = first; d < last; ++d) {
    nest.shape[last] *= nest.shape[d];
    nest.shape[d] = 1;
  }
  for (NestOutput &output : nest.outputs)
    flattenFrom(output.view, rewriter, first);
  for (Value value : loaded) {
    auto view = std::make_unique<View>(*viewIfInMemory(value));
    flattenFrom(*view, rewriter, first);
    flat.try_emplace(value, std::move(view));
  }
  return flat;
}
