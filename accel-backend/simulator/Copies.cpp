//===- Copies.cpp - what a transfer moves ---------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/simulator/Combine.h"
#include "accel-backend/simulator/Simulator.h"

#include "accel-backend/dialect/AccelOps.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <cstring>

using namespace mlir;
using tilebridge::reference::Datum;
using tilebridge::reference::View;

namespace tilebridge::accel {

uint64_t Transfer::bytes() const {
  ArrayRef<int64_t> sizes =
      hasRows && !isScatter ? to.view.sizes : from.view.sizes;
  uint64_t count = uint64_t(reference::countOf(sizes));
  if (hasMask) {
    uint64_t active = uint64_t(mask.size()) - llvm::count(mask, uint64_t(0));
    // A mask of rows leaves out whole ones.
    count = count / std::max<uint64_t>(mask.size(), 1) * active;
  }
  return count * elementBytes;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The parts of a copy's operands that both ops have.
namespace {
struct CopyOperands {
  Value source, dest, rows, pad, mask;
  OperandRange low;
  int64_t dim;
  bool isScatter;
  std::optional<CombiningKind> accumulate;
  std::optional<ArrayRef<int64_t>> multicast;

  template <typename OpT>
  explicit CopyOperands(OpT op)
      : source(op.getSource()), dest(op.getDest()), rows(op.getRows()),
        pad(op.getPad()), mask(op.getMask()), low(op.getLow()),
        dim(int64_t(op.getDim())), isScatter(op.getScatter()),
        accumulate(op.getAccumulate()), multicast(op.getMulticast()) {}
  static CopyOperands of(Operation *op) {
    if (auto copy = dyn_cast<CopyOp>(op))
      return CopyOperands(copy);
    return CopyOperands(cast<CopyStartOp>(op));
  }
};
} // namespace

static std::vector<int64_t> signedLanes(const Datum &datum) {
  std::vector<int64_t> result;
  unsigned width = reference::widthOf(datum.elementType());
  for (uint64_t bits : datum.lanes())
    result.push_back(reference::signedValue(bits, width));
  return result;
}

bool Simulator::readOperands(Pe &pe, Operation *op, Transfer &transfer) {
  CopyOperands operands = CopyOperands::of(op);
  for (Value value :
       {operands.source, operands.dest, operands.rows, operands.mask})
    if (value && !isa<MemRefType>(value.getType())) {
      error(pe, op) << "has a tensor, which lowered kernels do not have";
      return false;
    }
  transfer.op = op;
  transfer.pe = size_t(pe.number);
  Type element = cast<MemRefType>(operands.source.getType()).getElementType();
  transfer.elementBytes = reference::bytesOf(element);
  auto side = [&](Value memref) {
    Side result;
    result.memref = memref;
    result.view = pe.program->view(memref);
    result.memory = memoryOf(memref, result.view);
    result.buffer = isScratch(memref) ? result.view.array : 0;
    return result;
  };
  transfer.from = side(operands.source);
  transfer.to = side(operands.dest);
  transfer.whole = transfer.to.view;
  transfer.dim = operands.dim;
  transfer.isScatter = operands.isScatter;
  transfer.accumulate = operands.accumulate;
  if (operands.multicast)
    transfer.multicast.assign(operands.multicast->begin(),
                              operands.multicast->end());
  if (operands.rows) {
    if (!checkBlock(pe, op, operands.rows, true, false))
      return false;
    transfer.rows = signedLanes(readBlock(pe, operands.rows));
    transfer.hasRows = true;
  }
  if (operands.mask) {
    if (!checkBlock(pe, op, operands.mask, true, false))
      return false;
    transfer.mask = readBlock(pe, operands.mask).lanes();
    transfer.hasMask = true;
  }
  if (operands.pad)
    transfer.pad = pe.program->lanes(operands.pad).front();
  // The box of dest.
  View &to = transfer.to.view;
  SmallVector<int64_t> low(to.sizes.size(), 0);
  for (auto [i, value] : llvm::enumerate(operands.low))
    low[i] = pe.program->integer(value);
  SmallVector<int64_t, 4> sizes = transfer.from.view.sizes;
  if (transfer.hasRows)
    sizes[transfer.dim] = transfer.isScatter ? to.sizes[transfer.dim]
                                             : int64_t(transfer.rows.size());
  for (size_t i = 0; i < sizes.size(); ++i)
    if (low[i] < 0 || sizes[i] < 0 || low[i] + sizes[i] > to.sizes[i]) {
      error(pe, op) << "copies a box of " << sizes[i] << " from " << low[i]
                    << " in dimension " << i << " of a destination of "
                    << to.sizes[i];
      return false;
    }
  to.offset = to.offsetOf(low);
  to.sizes = sizes;
  return true;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Calls `each` with the views of both sides of each part of a transfer that
/// moves as a whole: all of it, a row, or an element under a mask.
static bool
forEachPart(const Transfer &transfer,
            llvm::function_ref<bool(const View &from, const View &to)> each) {
  const View &from = transfer.from.view, &to = transfer.to.view;
  if (transfer.hasRows) {
    size_t dim = size_t(transfer.dim);
    for (size_t r = 0; r < transfer.rows.size(); ++r) {
      if (transfer.hasMask && !transfer.mask[r])
        continue;
      View source = from, target = to;
      View &indexed = transfer.isScatter ? target : source;
      View &direct = transfer.isScatter ? source : target;
      indexed.offset += transfer.rows[r] * indexed.strides[dim];
      direct.offset += int64_t(r) * direct.strides[dim];
      indexed.sizes[dim] = direct.sizes[dim] = 1;
      // The other dimensions are those of the direct side.
      indexed.sizes = direct.sizes;
      if (!each(source, target))
        return false;
    }
    return true;
  }
  if (!transfer.hasMask)
    return each(from, to);
  bool goesOn = true;
  size_t lane = 0;
  reference::forEachPosition(from.sizes, [&](ArrayRef<int64_t> position) {
    if (!goesOn || !transfer.mask[lane++])
      return;
    View source = from, target = to;
    source.offset = from.offsetOf(position);
    target.offset = to.offsetOf(position);
    source.sizes.clear();
    source.strides.clear();
    target.sizes.clear();
    target.strides.clear();
    goesOn = each(source, target);
  });
  return goesOn;
}

bool Simulator::checkTransfer(Pe &pe, Transfer &transfer) {
  bool accumulates = transfer.accumulate.has_value();
  unsigned bytes = transfer.elementBytes;
  auto check = [&](const Side &side, const View &view, bool isWrite) {
    Region region = Region::of(view, bytes);
    if (!side.buffer)
      return checkChip(pe, transfer.op, view, region,
                       isWrite ? "writes" : "reads");
    Fault fault =
        isWrite ? scratchpads.checkWrite(side.buffer, view.address, region)
                : scratchpads.checkRead(side.buffer, view.address, region);
    if (fault == Fault::None && isWrite && accumulates)
      fault = scratchpads.checkRead(side.buffer, view.address, region);
    if (fault == Fault::None)
      return true;
    report(pe, transfer.op, fault, side.memref, view);
    return false;
  };
  if (transfer.pad && !check(transfer.to, transfer.whole, true))
    return false;
  return forEachPart(transfer, [&](const View &from, const View &to) {
    return check(transfer.from, from, false) && check(transfer.to, to, true);
  });
}

void Simulator::charge(Transfer &transfer) const {
  uint64_t alignment =
      target.engines[engines[transfer.engine].kind].alignmentBytes;
  unsigned bytes = transfer.elementBytes;
  forEachPart(transfer, [&](const View &from, const View &to) {
    transfer.chargedRead += chargedBytes(Region::of(from, bytes), alignment);
    transfer.chargedWrite += chargedBytes(Region::of(to, bytes), alignment);
    return true;
  });
  if (transfer.pad)
    transfer.chargedWrite =
        chargedBytes(Region::of(transfer.whole, bytes), alignment);
}

void Simulator::mark(Transfer &transfer, int change) {
  unsigned bytes = transfer.elementBytes;
  bool isEnd = change < 0;
  if (transfer.to.buffer && transfer.pad) {
    Region region = Region::of(transfer.whole, bytes);
    uint64_t base = transfer.whole.address;
    scratchpads.markWriting(transfer.to.buffer, base, region, change);
    if (isEnd)
      scratchpads.define(transfer.to.buffer, base, region);
  }
  forEachPart(transfer, [&](const View &from, const View &to) {
    if (transfer.from.buffer)
      scratchpads.markReading(transfer.from.buffer, from.address,
                              Region::of(from, bytes), change);
    if (transfer.to.buffer && !transfer.pad) {
      Region region = Region::of(to, bytes);
      scratchpads.markWriting(transfer.to.buffer, to.address, region, change);
      if (isEnd)
        scratchpads.define(transfer.to.buffer, to.address, region);
    }
    return true;
  });
}

bool Simulator::land(Transfer &transfer) {
  transfer.hasLanded = true;
  Type element =
      cast<MemRefType>(transfer.from.memref.getType()).getElementType();
  if (options.isOnlyTime && isa<FloatType>(element))
    return true;
  unsigned bytes = transfer.elementBytes;
  if (transfer.pad) {
    Region::of(transfer.whole, bytes)
        .forEachRun([&](uint64_t address, uint64_t count) {
          for (uint64_t at = 0; at < count; at += bytes)
            std::memcpy(reinterpret_cast<void *>(address + at), &*transfer.pad,
                        bytes);
          return true;
        });
  }
  std::optional<CombiningKind> kind = transfer.accumulate;
  auto combine = [&](char *to, const char *from) {
    uint64_t x = 0, y = 0;
    std::memcpy(&x, to, bytes);
    std::memcpy(&y, from, bytes);
    uint64_t result = combined(*kind, x, y, element);
    std::memcpy(to, &result, bytes);
  };
  return forEachPart(transfer, [&](const View &from, const View &to) {
    RegionPair pair = RegionPair::of(from, to, bytes);
    if (kind)
      pair.copy(combine);
    else
      pair.copy();
    return true;
  });
}

} // namespace tilebridge::accel
