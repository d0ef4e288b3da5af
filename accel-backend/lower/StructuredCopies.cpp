//===- StructuredCopies.cpp - boxes of views as copies --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/lower/Copies.h"

#include "accel-backend/dialect/AccelOps.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

namespace {
/// What becomes of the box that a load reads.
struct Destination {
  /// The op whose result is the loaded block.
  Operation *op;
  SmallVector<OpFoldResult> low;
  /// The value outside of the box, or what is there.
  Value pad;
  Value other;
};
} // namespace

/// True if the op may write to memory that a load can read.
static bool mayWrite(Operation *op) {
  if (isa<bufferization::ToTensorOp>(op))
    return false;
  return !isMemoryEffectFree(op) && !hasSingleEffect<MemoryEffects::Read>(op);
}

/// True if a load at `from` reads the same at `to`.
static bool readsTheSame(Operation *from, Operation *to) {
  if (from->getBlock() != to->getBlock())
    return false;
  for (Operation *op = from->getNextNode(); op && op != to;
       op = op->getNextNode())
    if (mayWrite(op))
      return false;
  return true;
}

/// What is made of `value`, a box that was loaded; none if it is used as it is.
static std::optional<Destination> destinationOf(OpOperand &use) {
  Destination destination{use.getOwner(), {}, {}, {}};
  if (auto pad = dyn_cast<tensor::PadOp>(use.getOwner())) {
    destination.low = pad.getMixedLowPad();
    destination.pad = pad.getConstantPaddingValue();
    if (!destination.pad)
      return std::nullopt;
    return destination;
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(use.getOwner())) {
    if (use.get() != insert.getSource() || !insert.hasUnitStride() ||
        insert.getSourceType().getRank() != insert.getDestType().getRank())
      return std::nullopt;
    destination.low = insert.getMixedOffsets();
    destination.other = insert.getDest();
    return destination;
  }
  return std::nullopt;
}

static bool isZero(OpFoldResult value) { return isZeroInteger(value); }

/// The index values of `low`, none where all of them are 0.
static SmallVector<Value> lowValues(RewriterBase &rewriter, Location loc,
                                    ArrayRef<OpFoldResult> low) {
  if (llvm::all_of(low, isZero))
    return {};
  return llvm::map_to_vector(low, [&](OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(rewriter, loc, value);
  });
}

/// Puts the insertion point where the copy reads what the load read and has its
/// operands; fails where there is no such place.
static LogicalResult placeCopy(RewriterBase &rewriter, Operation *load,
                               const Destination &destination) {
  if (readsTheSame(load, destination.op)) {
    rewriter.setInsertionPoint(destination.op);
    return success();
  }
  SmallVector<Value> needed;
  for (OpFoldResult value : destination.low)
    if (auto dynamic = dyn_cast<Value>(value))
      needed.push_back(dynamic);
  for (Value value : {destination.pad, destination.other})
    if (value)
      needed.push_back(value);
  DominanceInfo dominance(load->getParentOfType<FunctionOpInterface>());
  llvm::erase_if(needed, [&](Value value) {
    return dominance.properlyDominates(value, load);
  });
  rewriter.setInsertionPoint(load);
  if (needed.empty())
    return success();
  return moveValueDefinitions(rewriter, needed, load, dominance);
}

/// The copy for one use of what a load reads.
static LogicalResult copyInto(RewriterBase &rewriter,
                              bufferization::ToTensorOp load,
                              const Destination &destination) {
  if (failed(placeCopy(rewriter, load, destination)))
    return load.emitError("cannot be lowered for an accelerator: memory is "
                          "written between the load and the place where its "
                          "masked elements get their value, which is not known "
                          "before");
  Location loc = load.getLoc();
  auto type = cast<RankedTensorType>(destination.op->getResult(0).getType());
  Value dest = destination.other;
  if (!dest)
    dest = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                   type.getElementType());
  CopyOp copy =
      createCopy(rewriter, loc, load.getBuffer(), dest,
                 lowValues(rewriter, loc, destination.low), destination.pad);
  rewriter.replaceOp(destination.op, copy.getResult());
  return success();
}

/// A box whose sizes are known after all, because what was around it has been
/// folded: a cast says which ones.
static void copyKnownBoxes(RewriterBase &rewriter,
                           bufferization::ToTensorOp load) {
  for (Operation *user : llvm::make_early_inc_range(load->getUsers())) {
    auto known = dyn_cast<tensor::CastOp>(user);
    auto type =
        known ? cast<RankedTensorType>(known.getType()) : RankedTensorType();
    if (!known || !type.hasStaticShape())
      continue;
    rewriter.setInsertionPoint(load);
    Value dest = tensor::EmptyOp::create(
        rewriter, load.getLoc(), type.getShape(), type.getElementType());
    CopyOp copy =
        createCopy(rewriter, load.getLoc(), load.getBuffer(), dest, {}, {});
    rewriter.replaceOp(known, copy.getResult());
  }
}

/// All uses of a box, also those behind casts of its type.
static void collectUses(Value box, SmallVectorImpl<OpOperand *> &uses) {
  for (OpOperand &use : box.getUses()) {
    if (auto cast = dyn_cast<tensor::CastOp>(use.getOwner()))
      collectUses(cast.getResult(), uses);
    else
      uses.push_back(&use);
  }
}

static LogicalResult lowerLoad(RewriterBase &rewriter,
                               bufferization::ToTensorOp load) {
  SmallVector<OpOperand *> uses;
  collectUses(load.getResult(), uses);
  for (OpOperand *use : uses)
    if (auto destination = destinationOf(*use))
      if (failed(copyInto(rewriter, load, *destination)))
        return failure();
  if (!cast<RankedTensorType>(load.getType()).hasStaticShape())
    copyKnownBoxes(rewriter, load);
  if (isOpTriviallyDead(load)) {
    rewriter.eraseOp(load);
    return success();
  }
  // Casts are dead, or the block is used as it is.
  uses.clear();
  collectUses(load.getResult(), uses);
  auto type = cast<RankedTensorType>(load.getType());
  if (uses.empty()) {
    for (Operation *user : llvm::make_early_inc_range(load->getUsers()))
      rewriter.eraseOp(user);
    rewriter.eraseOp(load);
    return success();
  }
  rewriter.setInsertionPoint(load);
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(
          memref::DimOp::create(rewriter, load.getLoc(), load.getBuffer(), i));
  if (!sizes.empty()) {
    InFlightDiagnostic diagnostic = load.emitError(
        "cannot be lowered for an accelerator: a box of a size that is not "
        "known is used without being padded to a block");
    diagnostic.attachNote(uses.front()->getOwner()->getLoc()) << "used here";
    return failure();
  }
  Value dest = tensor::EmptyOp::create(rewriter, load.getLoc(), type, sizes);
  CopyOp copy =
      createCopy(rewriter, load.getLoc(), load.getBuffer(), dest, {}, {});
  rewriter.replaceOp(load, copy.getResult());
  return success();
}

LogicalResult tilebridge::accel::lowerStructuredAccess(RewriterBase &rewriter,
                                                       Operation *op) {
  if (auto load = dyn_cast<bufferization::ToTensorOp>(op))
    return lowerLoad(rewriter, load);
  auto store = cast<bufferization::MaterializeInDestinationOp>(op);
  rewriter.setInsertionPoint(store);
  createCopy(rewriter, store.getLoc(), store.getSource(), store.getDest(), {},
             {});
  rewriter.eraseOp(store);
  return success();
}
