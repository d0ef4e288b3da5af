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

/// Reports a transfer that needs more than one descriptor of its engine.
bool Simulator::checkDescriptor(Pe &pe, const Transfer &transfer) {
  const DmaEngine &kind = target.engines[engines[transfer.engine].kind];
  std::string why;
  const reference::View &from = transfer.from.view, &to = transfer.to.view;
  Box box;
  box.elementBytes = transfer.elementBytes;
  // With indices the side that they are of has other rows than are copied.
  const auto &sizes =
      transfer.hasRows && !transfer.isScatter ? to.sizes : from.sizes;
  box.most.assign(sizes.begin(), sizes.end());
  box.isExact.assign(sizes.size(), true);
  box.sourceStrides.assign(from.strides.begin(), from.strides.end());
  box.destStrides.assign(to.strides.begin(), to.strides.end());
  std::optional<int64_t> indexed;
  if (transfer.hasRows)
    indexed = transfer.dim;
  if (transfer.pad && !kind.padding)
    why = "it writes no padding";
  else if (transfer.accumulate && !canAccumulate(kind, *transfer.accumulate))
    why =
        kind.accumulate ? "it accumulates sums only" : "it does not accumulate";
  else if (reference::countOf(box.most) != 0)
    isOneDescriptor(box, indexed, kind, &why);
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
