//===- Descriptors.cpp - whether an engine can say a transfer -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/Descriptor.h"
#include "accel-backend/simulator/Simulator.h"

using namespace mlir;

namespace tilebridge::accel {

/// Why a descriptor of the engine cannot say a copy with these dimensions;
/// empty where it can. Indices are one more dimension.
static std::string whyNot(const DmaEngine &kind, const RegionPair &pair,
                          bool hasRows) {
  bool isContiguous =
      pair.sizes.empty() || (pair.fromStrides.back() == pair.elementBytes &&
                             pair.toStrides.back() == pair.elementBytes);
  size_t dims = pair.sizes.size() + !isContiguous + hasRows;
  if (dims > kind.maxDims)
    return std::to_string(dims) + " dimensions, it has " +
           std::to_string(kind.maxDims);
  for (size_t i = 0; i < pair.sizes.size(); ++i) {
    size_t fromInner = pair.sizes.size() - 1 - i + !isContiguous;
    uint64_t most =
        kind.maxSizes.empty()
            ? UINT64_MAX
            : kind.maxSizes[std::min(fromInner, kind.maxSizes.size() - 1)];
    if (uint64_t(pair.sizes[i]) > most)
      return "an extent of " + std::to_string(pair.sizes[i]) +
             ", its most is " + std::to_string(most);
    for (int64_t stride : {pair.fromStrides[i], pair.toStrides[i]}) {
      uint64_t distance = uint64_t(stride < 0 ? -stride : stride);
      if (kind.maxStrideBytes && distance > kind.maxStrideBytes)
        return "a stride of " + std::to_string(stride) +
               " bytes, its most is " + std::to_string(kind.maxStrideBytes);
      if (stride == 0 && !kind.strideZero)
        return "a stride of 0";
    }
  }
  return "";
}

/// Reports a transfer that needs more than one descriptor of its engine. It may
/// say dimensions that are one range as one or as several.
bool Simulator::checkDescriptor(Pe &pe, const Transfer &transfer) {
  const DmaEngine &kind = target.engines[engines[transfer.engine].kind];
  std::string why;
  reference::View from = transfer.from.view, to = transfer.to.view;
  if (transfer.hasRows) {
    // The indexed dimension is no stride.
    size_t dim = size_t(transfer.dim);
    from.sizes = transfer.isScatter ? from.sizes : to.sizes;
    from.sizes[dim] = to.sizes[dim] = 1;
  }
  auto pair = RegionPair::of(from, to, transfer.elementBytes);
  if (transfer.hasRows && !kind.indexed) {
    why = "it has no indices";
  } else if (transfer.pad && !kind.padding) {
    why = "it writes no padding";
  } else if (transfer.accumulate &&
             !canAccumulate(kind, *transfer.accumulate)) {
    why =
        kind.accumulate ? "it accumulates sums only" : "it does not accumulate";
  } else if (reference::countOf(pair.sizes) != 0) {
    why = whyNot(kind, pair, transfer.hasRows);
    if (!why.empty() && whyNot(kind,
                               RegionPair::of(from, to, transfer.elementBytes,
                                              /*merges=*/false),
                               transfer.hasRows)
                            .empty())
      why.clear();
  }
  if (why.empty())
    return true;
  error(pe, transfer.op) << "needs more than a descriptor of the engine '"
                         << kind.name << "' says: " << why;
  return false;
}

/// What an engine moves for a contiguous range: whole units of its alignment.
static uint64_t roundedOut(uint64_t address, uint64_t bytes,
                           uint64_t alignment) {
  return llvm::alignTo(address + bytes, alignment) -
         llvm::alignDown(address, alignment);
}

uint64_t Simulator::chargedBytes(const Region &region,
                                 uint64_t alignment) const {
  if (alignment <= 1)
    return uint64_t(region.bytes());
  uint64_t total = 0;
  region.forEachRun([&](uint64_t address, uint64_t bytes) {
    total += roundedOut(address, bytes, alignment);
    return true;
  });
  return total;
}

} // namespace tilebridge::accel
