//===- Views.cpp - scratchpads and views of one PE ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/simulator/Simulator.h"

#include "accel-backend/dialect/AccelDialect.h"
#include "accel-backend/dialect/AccelOps.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <cstring>

using namespace mlir;
using tilebridge::reference::Datum;
using tilebridge::reference::View;

namespace tilebridge::accel {

static Type elementOf(Value memref) {
  return cast<MemRefType>(memref.getType()).getElementType();
}

bool Simulator::isScratch(Value memref) const {
  return cast<MemRefType>(memref.getType()).getMemorySpace() != nullptr;
}

unsigned Simulator::memoryOf(Value memref, const View &view) const {
  if (isScratch(memref))
    return scratchpads.buffer(view.array).memory;
  if (view.array >= 0 && size_t(view.array) < memoryOfArray.size())
    return memoryOfArray[view.array];
  return chipMemory;
}

Step Simulator::executeAlloc(Pe &pe, Operation *op) {
  int number = bufferOf.lookup(op);
  auto type = cast<MemRefType>(op->getResult(0).getType());
  View view;
  view.address = scratchpads.addressOf(number, pe.row, pe.column);
  view.array = number;
  view.sizes.assign(type.getShape().begin(), type.getShape().end());
  auto [strides, offset] = type.getStridesAndOffset();
  view.strides.assign(strides.begin(), strides.end());
  Fault fault = scratchpads.allocate(number, pe.row, pe.column);
  if (fault != Fault::None)
    return report(pe, op, fault, op->getResult(0), view);
  pe.program->set(op->getResult(0), Datum(type.getElementType(), view));
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// "the buffer of line 12" is said by a note.
Step Simulator::report(Pe &pe, Operation *op, Fault fault, Value memref,
                       const View &view) {
  const Buffer &buffer = scratchpads.buffer(view.array);
  const std::string &memory = target.memories[buffer.memory].name;
  InFlightDiagnostic diagnostic = error(pe, op);
  switch (fault) {
  case Fault::None:
    break;
  case Fault::OutOfBounds:
    diagnostic << "leaves a buffer of " << buffer.bytes << " bytes in '"
               << memory << "'";
    break;
  case Fault::Undefined:
    diagnostic << "reads elements of a buffer in '" << memory
               << "' that were never written";
    break;
  case Fault::Overwritten:
    diagnostic << "reads elements of a buffer in '" << memory
               << "' that another buffer in the same place has overwritten";
    break;
  case Fault::Arriving:
    diagnostic << "touches elements of a buffer in '" << memory
               << "' that a transfer is writing; wait for its token first";
    break;
  case Fault::Leaving:
    diagnostic << "writes elements of a buffer in '" << memory
               << "' that a transfer is reading; wait for its token first";
    break;
  }
  diagnostic.attachNote(buffer.op->getLoc()) << "the buffer is allocated here";
  for (const Transfer &transfer : transfers) {
    bool isInvolved = fault == Fault::Arriving || fault == Fault::Leaving;
    if (isInvolved && !transfer.isWaited && transfer.pe == size_t(pe.number) &&
        (transfer.to.view.address == view.address ||
         transfer.from.view.address == view.address))
      diagnostic.attachNote(transfer.op->getLoc())
          << "the transfer starts here";
  }
  return Step::Failed;
}

bool Simulator::checkChip(Pe &pe, Operation *op, const View &view,
                          const Region &region, StringRef verb) {
  auto [begin, end] = region.extent();
  if (begin == end || launch.memory.empty())
    return true;
  auto isInside = [&, begin = begin,
                   end = end](const reference::MemoryRange &array) {
    auto first = reinterpret_cast<uint64_t>(array.begin);
    return begin >= first && end - first <= array.size && end >= begin;
  };
  if (view.array >= 0) {
    const reference::MemoryRange &array = launch.memory[view.array];
    if (isInside(array))
      return true;
    auto first = reinterpret_cast<uint64_t>(array.begin);
    int64_t low = int64_t(begin - first), high = int64_t(end - first);
    error(pe, op) << verb << " bytes " << low << " to " << high - 1
                  << " of the array of "
                  << reference::describeArray(kernel, referenceLaunch,
                                              view.array)
                  << ", which has " << array.size;
    return false;
  }
  if (view.array == View::kAnyArray && llvm::any_of(launch.memory, isInside))
    return true;
  error(pe, op) << verb << " " << end - begin
                << " bytes that are in none of the arrays of the launch";
  return false;
}

bool Simulator::checkBlock(Pe &pe, Operation *op, Value memref, bool reads,
                           bool writes) {
  const View &view = pe.program->view(memref);
  Region region = Region::of(view, reference::bytesOf(elementOf(memref)));
  if (!isScratch(memref))
    return checkChip(pe, op, view, region, writes ? "writes" : "reads");
  Fault fault = Fault::None;
  if (reads)
    fault = scratchpads.checkRead(view.array, view.address, region);
  if (writes && fault == Fault::None)
    fault = scratchpads.checkWrite(view.array, view.address, region);
  if (fault == Fault::None)
    return true;
  report(pe, op, fault, memref, view);
  return false;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Calls `element` with the place of each element, the last dimension fastest.
template <typename F>
static void forEachElement(const Region &region, F element) {
  region.forEachRun([&](uint64_t address, uint64_t bytes) {
    for (uint64_t at = 0; at < bytes; at += region.elementBytes)
      element(address + at);
    return true;
  });
}

Datum Simulator::readBlock(Pe &pe, Value memref) {
  const View &view = pe.program->view(memref);
  Type element = elementOf(memref);
  unsigned bytes = reference::bytesOf(element);
  Region region = Region::of(view, bytes);
  reference::Lanes lanes;
  lanes.reserve(region.count());
  uint64_t mask =
      reference::truncated(~uint64_t(0), reference::widthOf(element));
  forEachElement(region, [&](uint64_t address) {
    uint64_t bits = 0;
    std::memcpy(&bits, reinterpret_cast<const void *>(address), bytes);
    lanes.push_back(bits & mask);
  });
  return Datum(element, view.sizes, std::move(lanes));
}

void Simulator::writeBlock(Pe &pe, Value memref,
                           const reference::Lanes &lanes) {
  const View &view = pe.program->view(memref);
  unsigned bytes = reference::bytesOf(elementOf(memref));
  Region region = Region::of(view, bytes);
  size_t lane = 0, step = lanes.size() == 1 ? 0 : 1;
  forEachElement(region, [&](uint64_t address) {
    std::memcpy(reinterpret_cast<void *>(address), &lanes[lane], bytes);
    lane += step;
  });
  if (isScratch(memref))
    scratchpads.define(view.array, view.address, region);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// The view of one element.
static View elementView(Pe &pe, Value memref, OperandRange indices) {
  View view = pe.program->view(memref);
  SmallVector<int64_t> position;
  for (Value index : indices)
    position.push_back(pe.program->integer(index));
  view.offset = view.offsetOf(position);
  view.sizes.clear();
  view.strides.clear();
  return view;
}

Step Simulator::executeLoad(Pe &pe, Operation *op) {
  if (letOthersGoFirst(pe))
    return Step::Parked;
  auto load = cast<memref::LoadOp>(op);
  View view = elementView(pe, load.getMemref(), load.getIndices());
  unsigned bytes = reference::bytesOf(load.getType());
  Region region = Region::of(view, bytes);
  if (isScratch(load.getMemref())) {
    Fault fault = scratchpads.checkRead(view.array, view.address, region);
    if (fault != Fault::None)
      return report(pe, op, fault, load.getMemref(), view);
  } else if (!checkChip(pe, op, view, region, "reads")) {
    return Step::Failed;
  }
  uint64_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<const void *>(region.address), bytes);
  pe.program->set(load.getResult(),
                  reference::Lanes{reference::truncated(
                      bits, reference::widthOf(load.getType()))});
  unsigned memory = memoryOf(load.getMemref(), view);
  pe.time = pass(memory, pe, pe.time, bytes, /*isWrite=*/false, "load") +
            target.memories[memory].latencyCycles;
  return Step::Next;
}

Step Simulator::executeStore(Pe &pe, Operation *op) {
  if (letOthersGoFirst(pe))
    return Step::Parked;
  auto store = cast<memref::StoreOp>(op);
  View view = elementView(pe, store.getMemref(), store.getIndices());
  Type type = store.getValue().getType();
  unsigned bytes = reference::bytesOf(type);
  Region region = Region::of(view, bytes);
  if (isScratch(store.getMemref())) {
    Fault fault = scratchpads.checkWrite(view.array, view.address, region);
    if (fault != Fault::None)
      return report(pe, op, fault, store.getMemref(), view);
    scratchpads.define(view.array, view.address, region);
  } else if (!checkChip(pe, op, view, region, "writes")) {
    return Step::Failed;
  }
  uint64_t bits = pe.program->lanes(store.getValue()).front();
  std::memcpy(reinterpret_cast<void *>(region.address), &bits, bytes);
  pe.time = pass(memoryOf(store.getMemref(), view), pe, pe.time, bytes,
                 /*isWrite=*/true, "store");
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Step Simulator::executeExpandShape(Pe &pe, Operation *op) {
  auto expand = cast<memref::ExpandShapeOp>(op);
  View view = pe.program->view(expand.getSrc());
  SmallVector<int64_t> sizes = pe.program->integers(
      getMixedValues(expand.getStaticOutputShape(), expand.getOutputShape(),
                     op->getContext()));
  SmallVector<int64_t, 4> strides(sizes.size());
  for (auto [dim, group] : llvm::enumerate(expand.getReassociationIndices())) {
    int64_t stride = view.strides[dim];
    for (int64_t inner : llvm::reverse(group)) {
      strides[inner] = stride;
      stride *= sizes[inner];
    }
  }
  view.sizes.assign(sizes.begin(), sizes.end());
  view.strides = strides;
  pe.program->set(expand.getResult(), Datum(elementOf(expand.getSrc()), view));
  return Step::Next;
}

Step Simulator::executeCollapseShape(Pe &pe, Operation *op) {
  auto collapse = cast<memref::CollapseShapeOp>(op);
  const View &source = pe.program->view(collapse.getSrc());
  View view = source;
  view.sizes.clear();
  view.strides.clear();
  for (ArrayRef<int64_t> group : collapse.getReassociationIndices()) {
    int64_t size = 1, stride = source.strides[group.back()];
    for (int64_t dim : llvm::reverse(group)) {
      if (source.sizes[dim] != 1 && size == 1)
        stride = source.strides[dim];
      size *= source.sizes[dim];
    }
    view.sizes.push_back(size);
    view.strides.push_back(stride);
  }
  pe.program->set(collapse.getResult(),
                  Datum(elementOf(collapse.getSrc()), view));
  return Step::Next;
}

} // namespace tilebridge::accel
