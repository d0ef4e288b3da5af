//===- Datum.cpp - what a value is while a program runs ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Datum.h"

using namespace mlir;

namespace tilebridge::reference {

int64_t View::offsetOf(ArrayRef<int64_t> position) const {
  // Wraps as addresses do: a wild position is found when it is accessed.
  uint64_t at = uint64_t(offset);
  for (auto [index, stride] : llvm::zip(position, strides))
    at += uint64_t(index) * uint64_t(stride);
  return int64_t(at);
}

Datum Datum::reshaped(ArrayRef<int64_t> shape) const {
  Datum result = *this;
  result.sizes.assign(shape.begin(), shape.end());
  return result;
}

unsigned widthOf(Type element) {
  return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
}

unsigned bytesOf(Type element) { return (widthOf(element) + 7) / 8; }

int64_t countOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

void forEachPosition(ArrayRef<int64_t> shape,
                     llvm::function_ref<void(ArrayRef<int64_t>)> body) {
  if (countOf(shape) <= 0)
    return;
  SmallVector<int64_t> position(shape.size(), 0);
  while (true) {
    body(position);
    size_t dim = shape.size();
    while (dim > 0 && ++position[dim - 1] == shape[dim - 1])
      position[--dim] = 0;
    if (dim == 0)
      return;
  }
}

int64_t linearIndex(ArrayRef<int64_t> position, ArrayRef<int64_t> shape) {
  int64_t index = 0;
  for (auto [at, size] : llvm::zip(position, shape))
    index = index * size + at;
  return index;
}

} // namespace tilebridge::reference
