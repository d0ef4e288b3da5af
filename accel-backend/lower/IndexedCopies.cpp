//===- IndexedCopies.cpp - masks, rows and offsets as copies --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/lower/Copies.h"

#include "triton-to-linalg/bridge/AccessNote.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;
using namespace tilebridge::linalg_ext;

namespace {
/// What a load leaves where it does not read.
struct Other {
  Value dest;
  Value pad;
};
} // namespace

/// A block is the destination itself; a scalar, or zero, is what is padded
/// with.
static Other otherOf(RewriterBase &rewriter, Location loc, Value other,
                     RankedTensorType type) {
  if (other && isa<RankedTensorType>(other.getType()))
    return {other, {}};
  Value dest = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                       type.getElementType());
  if (!other)
    other = arith::ConstantOp::create(
        rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
  return {dest, other};
}

/// A copy that is indexed, or has a mask; a value of null is none.
static CopyOp createIndexedCopy(RewriterBase &rewriter, Location loc,
                                Value source, Value dest, Value rows,
                                int64_t dim, bool scatter, Value pad,
                                Value mask) {
  SmallVector<Type, 1> results;
  if (isa<RankedTensorType>(dest.getType()))
    results.push_back(dest.getType());
  return CopyOp::create(rewriter, loc, TypeRange(results), source, dest, rows,
                        static_cast<uint64_t>(dim), scatter, ValueRange(), pad,
                        mask, CombiningKindAttr(), DenseI64ArrayAttr());
}

/// The block as one of rank 1; null stays null.
static Value flatten(RewriterBase &rewriter, Location loc, Value block) {
  if (!block)
    return {};
  auto type = cast<RankedTensorType>(block.getType());
  if (type.getRank() == 1)
    return block;
  auto flat =
      RankedTensorType::get({type.getNumElements()}, type.getElementType());
  if (type.getRank() == 0)
    return tensor::ExpandShapeOp::create(rewriter, loc, flat, block,
                                         ArrayRef<ReassociationIndices>{});
  ReassociationIndices all =
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return tensor::CollapseShapeOp::create(rewriter, loc, flat, block,
                                         ArrayRef<ReassociationIndices>{all});
}

/// The inverse of `flatten`.
static Value unflatten(RewriterBase &rewriter, Location loc, Value block,
                       RankedTensorType type) {
  if (type.getRank() == 1)
    return block;
  if (type.getRank() == 0)
    return tensor::CollapseShapeOp::create(rewriter, loc, type, block,
                                           ArrayRef<ReassociationIndices>{});
  ReassociationIndices all =
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return tensor::ExpandShapeOp::create(rewriter, loc, type, block,
                                       ArrayRef<ReassociationIndices>{all});
}

static void remarkElements(Operation *op, int64_t count) {
  InFlightDiagnostic diagnostic = op->emitRemark("is done element by element (")
                                  << count << " a program): ";
  if (std::optional<AccessNote> note = accessNoteOf(op->getLoc()))
    diagnostic << note->reason;
  else
    diagnostic << "the offsets are no strides of a block and no rows of one";
  diagnostic << "; a DMA engine moves blocks";
}

static void lowerGather(RewriterBase &rewriter, GatherOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  remarkElements(op, type.getNumElements());
  Other other = otherOf(rewriter, loc, op.getOther(), type);
  CopyOp copy = createIndexedCopy(
      rewriter, loc, op.getBase(), flatten(rewriter, loc, other.dest),
      flatten(rewriter, loc, op.getOffsets()), 0, false,
      op.getMask() ? other.pad : Value(), flatten(rewriter, loc, op.getMask()));
  rewriter.replaceOp(op, unflatten(rewriter, loc, copy.getResult(), type));
}

static void lowerScatter(RewriterBase &rewriter, ScatterOp op) {
  Location loc = op.getLoc();
  remarkElements(op,
                 cast<ShapedType>(op.getValue().getType()).getNumElements());
  createIndexedCopy(rewriter, loc, flatten(rewriter, loc, op.getValue()),
                    op.getBase(), flatten(rewriter, loc, op.getOffsets()), 0,
                    true, {}, flatten(rewriter, loc, op.getMask()));
  rewriter.eraseOp(op);
}

/// Masked elements are moved by descriptors with a mask where an engine has
/// them; the block keeps its shape.
static void lowerMaskedLoad(RewriterBase &rewriter, MaskedLoadOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  Other other = otherOf(rewriter, op.getLoc(), op.getOther(), type);
  CopyOp copy =
      createIndexedCopy(rewriter, op.getLoc(), op.getView(), other.dest, {}, 0,
                        false, other.pad, op.getMask());
  rewriter.replaceOp(op, copy.getResult());
}

static void lowerGatherRows(RewriterBase &rewriter, GatherRowsOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  Other other = otherOf(rewriter, op.getLoc(), op.getOther(), type);
  CopyOp copy = createIndexedCopy(rewriter, op.getLoc(), op.getView(),
                                  other.dest, op.getRows(), op.getDim(), false,
                                  other.pad, op.getRowmask());
  rewriter.replaceOp(op, copy.getResult());
}

/// The part of the value that lies in the view's sizes goes to the view.
static void lowerScatterRows(RewriterBase &rewriter, ScatterRowsOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getValue().getType());
  auto view = cast<MemRefType>(op.getView().getType());
  SmallVector<OpFoldResult> sizes,
      zeros(type.getRank(), rewriter.getIndexAttr(0)),
      ones(type.getRank(), rewriter.getIndexAttr(1));
  bool whole = true;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (i == static_cast<int64_t>(op.getDim()) || !view.isDynamicDim(i)) {
      int64_t size = i == static_cast<int64_t>(op.getDim())
                         ? type.getDimSize(i)
                         : view.getDimSize(i);
      whole &= size == type.getDimSize(i);
      sizes.push_back(rewriter.getIndexAttr(size));
      continue;
    }
    whole = false;
    sizes.push_back(
        memref::DimOp::create(rewriter, loc, op.getView(), i).getResult());
  }
  Value value = op.getValue();
  if (!whole)
    value = tensor::ExtractSliceOp::create(rewriter, loc, value, zeros, sizes,
                                           ones);
  createIndexedCopy(rewriter, loc, value, op.getView(), op.getRows(),
                    op.getDim(), true, {}, op.getRowmask());
  rewriter.eraseOp(op);
}

LogicalResult tilebridge::accel::lowerIndexedAccess(RewriterBase &rewriter,
                                                    Operation *op) {
  rewriter.setInsertionPoint(op);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](GatherOp gather) { lowerGather(rewriter, gather); })
      .Case([&](ScatterOp scatter) { lowerScatter(rewriter, scatter); })
      .Case([&](MaskedLoadOp load) { lowerMaskedLoad(rewriter, load); })
      .Case([&](MaskedStoreOp store) {
        createIndexedCopy(rewriter, op->getLoc(), store.getValue(),
                          store.getView(), {}, 0, false, {}, store.getMask());
        rewriter.eraseOp(op);
      })
      .Case([&](GatherRowsOp gather) { lowerGatherRows(rewriter, gather); })
      .Case(
          [&](ScatterRowsOp scatter) { lowerScatterRows(rewriter, scatter); });
  return success();
}
