//===- Tile.cpp - smaller blocks ------------------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/plan/Split.h"
#include "accel-backend/plan/Tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELTILEPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

// The block of an operation that is to be tiled: what it gives, or what it
// stores.
static Value blockOf(Operation *op) {
  if (op->getNumResults())
    return op->getResult(0);
  return op->getNumOperands() ? op->getOperand(0) : Value();
}

namespace {
struct AccelTilePass : accel::impl::AccelTilePassBase<AccelTilePass> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    SmallVector<Operation *> tiled;
    kernel.walk([&](Operation *op) {
      if (op->hasAttr(tileAttr))
        tiled.push_back(op);
    });
    if (tiled.empty())
      return;
    if (failed(separateUses(kernel))) {
      kernel.emitError("is too large to be tiled");
      return signalPassFailure();
    }
    // One block is cut with others: what it was says which sizes were decided.
    SmallVector<SmallVector<int64_t>> before;
    for (Operation *op : tiled) {
      Value block = blockOf(op);
      auto type = block ? dyn_cast<RankedTensorType>(block.getType())
                        : RankedTensorType();
      before.push_back(type ? llvm::to_vector(type.getShape())
                            : SmallVector<int64_t>());
    }
    for (auto [op, shape] : llvm::zip_equal(tiled, before))
      if (failed(tile(kernel, op, shape)))
        return signalPassFailure();
    for (Operation *op : tiled)
      op->removeAttr(tileAttr);
  }

  static LogicalResult tile(func::FuncOp kernel, Operation *op,
                            ArrayRef<int64_t> before) {
    auto sizes = op->getAttrOfType<DenseI64ArrayAttr>(tileAttr);
    Value block = blockOf(op);
    auto type = block ? dyn_cast<RankedTensorType>(block.getType())
                      : RankedTensorType();
    if (!sizes || !type || sizes.size() != type.getRank())
      return op->emitError("'accel.tile' has one size for each dimension of a "
                           "block");
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
      int64_t size = sizes[dimension];
      // It may have been cut with another block, whose size is then decided.
      int64_t now =
          cast<RankedTensorType>(block.getType()).getDimSize(dimension);
      if (size == now || size == before[dimension])
        continue;
      if (size < 1 || now % size)
        return op->emitError("'accel.tile' has a size of ")
               << size << " where the block has " << now
               << ": it has to divide it";
      DimensionClasses classes(kernel);
      unsigned number = classes.of(block, dimension);
      Cut cut = canSplit(kernel, classes, number);
      if (!cut.isPossible) {
        InFlightDiagnostic diagnostic =
            op->emitError("dimension ")
            << dimension << " of this block cannot be tiled: " << cut.reason;
        if (cut.because)
          diagnostic.attachNote(cut.because->getLoc()) << "by this";
        return failure();
      }
      split(kernel, classes, number, size);
    }
    return success();
  }
};
} // namespace
