//===- LaneGroups.cpp - copies of rows of a few elements ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What is read at `i // 2`, such as bytes with two numbers each, is copied to
// scratch memory as rows of two equal elements, and what is read at `i ^ 1`,
// such as the other ones of a rotary embedding's pairs, as rows that run
// backwards. Lanes along these would be two. They run along the dimension
// before, and are shuffled before they are stored.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/JoinStores.h"
#include "cpu-backend/emit/NestEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Lets lanes run along the dimension before the last one, if that is a group
/// of a few elements.
void NestEmitter::findGroups() {
  constexpr int64_t mostEqual = 8, mostReversed = 4;
  size_t rank = nest.shape.size();
  if (rank < 2 || nest.outputs.size() != 1 || lanesToExchange > 1)
    return;
  const NestOutput &output = nest.outputs.front();
  int64_t size = nest.shape.back();
  if (output.reduce || output.isStore || output.mask || output.source ||
      output.view.isBool || size < 2 || nest.shape[rank - 2] <= size)
    return;
  const View *from = fe.viewIfInMemory(output.tensor);
  if (!from || from->rowDim >= 0 || from->isBool ||
      from->shape.size() != rank || !from->isFull(rank - 1))
    return;
  auto hasStrides = [&](const View &view, int64_t outer, int64_t inner) {
    return constantOf(view.strides[rank - 2]) == outer &&
           constantOf(view.strides[rank - 1]) == inner;
  };
  bool isEqual = size <= mostEqual && hasStrides(*from, 1, 0),
       isReversed = size <= mostReversed && hasStrides(*from, size, -1);
  if (!hasStrides(output.view, size, 1) || !(isEqual || isReversed))
    return;
  frame.vecDim = static_cast<int>(rank - 2);
  groupSize = size;
}

/// The elements of the groups that the lanes are at, in their order.
LogicalResult NestEmitter::emitGroups() {
  const NestOutput &output = nest.outputs.front();
  const View *from = fe.viewIfInMemory(output.tensor);
  bool isEqual = constantOf(from->strides.back()) == 0;
  SmallVector<Value> parts;
  for (int64_t i = 0; i < (isEqual ? 1 : groupSize); ++i) {
    Indices at(indices);
    at.back().base = constant(i);
    Value part = fe.evaluate(output.tensor, at);
    if (!part)
      return failure();
    parts.push_back(fe.toLanes(part, frame.lanes));
  }
  parts.resize(groupSize, parts.front());
  vector::StoreOp::create(b, loc, interleaved(b, loc, parts), output.view.base,
                          fe.address(output.view, indices, -1, loc));
  return success();
}
