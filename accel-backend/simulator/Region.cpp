//===- Region.cpp - bytes that a strided view covers ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/simulator/Region.h"

#include <cstring>

using tilebridge::reference::View;

namespace tilebridge::accel {

Region Region::of(const View &view, unsigned elementBytes) {
  Region region;
  region.elementBytes = elementBytes;
  region.address = view.address + uint64_t(view.offset) * elementBytes;
  for (auto [size, stride] : llvm::zip(view.sizes, view.strides)) {
    int64_t bytes = stride * int64_t(elementBytes);
    if (size == 1)
      continue;
    if (!region.sizes.empty() && region.strides.back() == bytes * size) {
      region.sizes.back() *= size;
      region.strides.back() = bytes;
      continue;
    }
    region.sizes.push_back(size);
    region.strides.push_back(bytes);
  }
  return region;
}

std::pair<uint64_t, uint64_t> Region::extent() const {
  if (count() == 0)
    return {address, address};
  int64_t low = 0, high = 0;
  for (auto [size, stride] : llvm::zip(sizes, strides))
    (stride < 0 ? low : high) += (size - 1) * stride;
  return {address + uint64_t(low), address + uint64_t(high) + elementBytes};
}

/// Calls `row` for each position of all dimensions but the last `inner` ones.
static bool forEachRow(llvm::ArrayRef<int64_t> sizes,
                       llvm::function_ref<bool(llvm::ArrayRef<int64_t>)> row) {
  llvm::SmallVector<int64_t, 4> at(sizes.size(), 0);
  for (int64_t size : sizes)
    if (size == 0)
      return true;
  while (true) {
    if (!row(at))
      return false;
    size_t dim = at.size();
    while (dim > 0 && ++at[dim - 1] == sizes[dim - 1])
      at[--dim] = 0;
    if (dim == 0)
      return true;
  }
}

bool Region::forEachRun(
    llvm::function_ref<bool(uint64_t, uint64_t)> run) const {
  bool isContiguous = !sizes.empty() && strides.back() == elementBytes;
  llvm::ArrayRef<int64_t> outer = sizes;
  if (isContiguous)
    outer = outer.drop_back();
  uint64_t bytes = isContiguous ? sizes.back() * elementBytes : elementBytes;
  if (isContiguous && sizes.back() == 0)
    return true;
  return forEachRow(outer, [&](llvm::ArrayRef<int64_t> at) {
    uint64_t start = address;
    for (auto [position, stride] : llvm::zip(at, strides))
      start += uint64_t(position * stride);
    return run(start, bytes);
  });
}

RegionPair RegionPair::of(const View &from, const View &to,
                          unsigned elementBytes, bool merges) {
  RegionPair pair;
  pair.elementBytes = elementBytes;
  pair.from = from.address + uint64_t(from.offset) * elementBytes;
  pair.to = to.address + uint64_t(to.offset) * elementBytes;
  for (size_t i = 0; i < from.sizes.size(); ++i) {
    int64_t size = from.sizes[i];
    int64_t source = from.strides[i] * int64_t(elementBytes);
    int64_t target = to.strides[i] * int64_t(elementBytes);
    if (size == 1)
      continue;
    if (merges && !pair.sizes.empty() &&
        pair.fromStrides.back() == source * size &&
        pair.toStrides.back() == target * size) {
      pair.sizes.back() *= size;
      pair.fromStrides.back() = source;
      pair.toStrides.back() = target;
      continue;
    }
    pair.sizes.push_back(size);
    pair.fromStrides.push_back(source);
    pair.toStrides.push_back(target);
  }
  return pair;
}

void RegionPair::copy(
    llvm::function_ref<void(char *, const char *)> combine) const {
  bool isContiguous = !combine && !sizes.empty() &&
                      fromStrides.back() == elementBytes &&
                      toStrides.back() == elementBytes;
  llvm::ArrayRef<int64_t> outer = sizes;
  if (isContiguous)
    outer = outer.drop_back();
  uint64_t bytes = isContiguous ? sizes.back() * elementBytes : elementBytes;
  if (bytes == 0) // It may have no address either.
    return;
  forEachRow(outer, [&](llvm::ArrayRef<int64_t> at) {
    int64_t source = 0, target = 0;
    for (size_t i = 0; i < at.size(); ++i) {
      source += at[i] * fromStrides[i];
      target += at[i] * toStrides[i];
    }
    auto *readFrom = reinterpret_cast<const char *>(from + uint64_t(source));
    auto *writeTo = reinterpret_cast<char *>(to + uint64_t(target));
    if (combine)
      combine(writeTo, readFrom);
    else
      std::memmove(writeTo, readFrom, bytes);
    return true;
  });
}

} // namespace tilebridge::accel
