//===- DimensionClassesCompute.cpp - classes of accesses and compute ops --===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/DimensionClasses.h"

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;
using tilebridge::linalg_ext::rankOf;

bool DimensionClasses::visitCompute(Operation *op) {
  // All inputs and results have one shape, but for a reduced dimension.
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](linalg_ext::ReduceOp reduce) {
        int64_t along = reduce.getDimension();
        Value first = reduce.getInputs().front();
        for (Value input : reduce.getInputs()) {
          tieAll(first, input);
          mark(input, along, DimensionKind::Reduced, op);
        }
        for (Value result : reduce.getResults())
          for (int64_t d = 0; d < rankOf(result); ++d)
            tie(result, d, first, d < along ? d : d + 1);
        return true;
      })
      .Case([&](linalg_ext::ScanOp scan) {
        Value first = scan.getInputs().front();
        for (Value input : scan.getInputs()) {
          tieAll(first, input);
          mark(input, scan.getDimension(), DimensionKind::Scanned, op);
        }
        for (Value result : scan.getResults())
          tieAll(first, result);
        return true;
      })
      .Case([&](linalg_ext::HistogramOp histogram) {
        Value input = histogram.getInput();
        if (Value mask = histogram.getMask())
          tieAll(input, mask);
        for (int64_t d = 0; d < rankOf(input); ++d)
          mark(input, d, DimensionKind::Reduced, op);
        mark(histogram.getResult(), 0, DimensionKind::Fixed, op);
        return true;
      })
      .Case([&](linalg_ext::GatherAlongOp gather) {
        tieAll(gather.getIndices(), gather.getResult());
        for (int64_t d = 0; d < rankOf(gather.getSource()); ++d)
          if (d != int64_t(gather.getDimension()))
            tie(gather.getSource(), d, gather.getResult(), d);
        mark(gather.getSource(), gather.getDimension(), DimensionKind::Fixed,
             op);
        return true;
      })
      .Default(false);
}

// Memory has no classes; the block beside it has, and its rows and mask.
void DimensionClasses::visitCopy(CopyOp copy) {
  Value dest = copy.getDest(), source = copy.getSource();
  bool isLoad = isa<RankedTensorType>(dest.getType());
  Value block = isLoad ? dest : source;
  if (isLoad)
    tieAll(dest, copy.getResult());
  numberAll(block);
  Value rows = copy.getRows();
  if (rows && rankOf(rows))
    tie(rows, 0, block, copy.getDim());
  Value mask = copy.getMask();
  if (mask && rankOf(mask)) {
    if (rows)
      tie(mask, 0, block, copy.getDim());
    else
      tieAll(mask, block);
  }
}

bool DimensionClasses::visitAccess(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](bufferization::ToTensorOp read) {
        numberAll(read.getResult());
        return true;
      })
      .Case([&](bufferization::MaterializeInDestinationOp write) {
        numberAll(write.getSource());
        return true;
      })
      .Case([&](CopyOp copy) {
        visitCopy(copy);
        return true;
      })
      .Case([&](linalg_ext::GatherRowsOp gather) {
        tie(gather.getRows(), 0, gather.getResult(), gather.getDim());
        if (Value mask = gather.getRowmask())
          tie(mask, 0, gather.getRows(), 0);
        return true;
      })
      .Case([&](linalg_ext::MaskedLoadOp load) {
        tieAll(load.getMask(), load.getResult());
        return true;
      })
      .Case([&](linalg_ext::MaskedStoreOp store) {
        tieAll(store.getMask(), store.getValue());
        return true;
      })
      .Default(false);
}
