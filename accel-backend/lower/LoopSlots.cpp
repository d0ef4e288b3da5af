//===- LoopSlots.cpp - buffers with a slot for each iteration ------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/lower/LoopBuffers.h"

#include "accel-backend/lower/Transfers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

/// True if each user of the buffer takes a view of it with another layout.
static bool takesAnyLayout(Value buffer) {
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    if (isa<memref::SubViewOp>(user))
      return takesAnyLayout(user->getResult(0));
    return llvm::none_of(user->getResultTypes(),
                         [](Type type) { return isa<MemRefType>(type); }) &&
           !user->hasTrait<OpTrait::IsTerminator>() && !isa<scf::ForOp>(user) &&
           !isa<scf::WhileOp>(user);
  });
}

/// The buffer of an iteration that `memref` is a view of; null where it is
/// none.
AllocOp tilebridge::accel::bufferOf(Value memref, scf::ForOp loop) {
  auto alloc = transferRoot(memref).getDefiningOp<AllocOp>();
  if (!alloc || alloc->getBlock() != loop.getBody() ||
      !takesAnyLayout(alloc.getMemref()))
    return {};
  return alloc;
}

/// The store in `op`: itself, or all that an scf.if does.
CopyOp tilebridge::accel::storeIn(Operation *op) {
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (branch.getNumResults() || branch.elseBlock() ||
        !llvm::hasNItems(*branch.thenBlock(), 2))
      return {};
    op = &branch.thenBlock()->front();
  }
  auto copy = dyn_cast<CopyOp>(op);
  return copy && isInChipMemory(copy.getDest().getType()) ? copy : CopyOp();
}

/// A new buffer of `slots` times the size, before the loop.
Value tilebridge::accel::makeSlots(IRRewriter &rewriter, LoopWork &work,
                                   AllocOp alloc, int64_t slots) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(work.loop);
  auto type = cast<MemRefType>(alloc.getMemref().getType());
  SmallVector<int64_t> shape = {slots};
  llvm::append_range(shape, type.getShape());
  return AllocOp::create(rewriter, alloc.getLoc(),
                         MemRefType::get(shape, type.getElementType(),
                                         MemRefLayoutAttrInterface(),
                                         type.getMemorySpace()),
                         IntegerAttr(), IntegerAttr());
}

/// The buffer of one slot.
Value tilebridge::accel::slotOf(OpBuilder &builder, Location loc, Value slots,
                                Value slot) {
  auto type = cast<MemRefType>(slots.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      sizes, strides(type.getRank(), builder.getIndexAttr(1));
  offsets[0] = slot;
  sizes.push_back(builder.getIndexAttr(1));
  for (int64_t size : type.getShape().drop_front())
    sizes.push_back(builder.getIndexAttr(size));
  MemRefType one = memref::SubViewOp::inferRankReducedResultType(
      type.getShape().drop_front(), type, offsets, sizes, strides);
  return memref::SubViewOp::create(builder, loc, one, slots, offsets, sizes,
                                   strides);
}

/// Uses `view`, of another layout, in the place of `buffer`.
void tilebridge::accel::replaceBuffer(IRRewriter &rewriter, Value buffer,
                                      Value view) {
  for (Operation *user : llvm::make_early_inc_range(buffer.getUsers())) {
    auto part = dyn_cast<memref::SubViewOp>(user);
    if (!part)
      continue;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(part);
    MemRefType type = memref::SubViewOp::inferRankReducedResultType(
        part.getType().getShape(), cast<MemRefType>(view.getType()),
        part.getMixedOffsets(), part.getMixedSizes(), part.getMixedStrides());
    Value newPart = memref::SubViewOp::create(
        rewriter, part.getLoc(), type, view, part.getMixedOffsets(),
        part.getMixedSizes(), part.getMixedStrides());
    replaceBuffer(rewriter, part.getResult(), newPart);
    rewriter.eraseOp(part);
  }
  buffer.replaceAllUsesWith(view);
}

/// The slot after `slot`.
Value tilebridge::accel::nextSlot(IRRewriter &rewriter, Location loc,
                                  Value slot, int64_t slots) {
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value count = arith::ConstantIndexOp::create(rewriter, loc, slots);
  Value next = arith::AddIOp::create(rewriter, loc, slot, one);
  Value wraps = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                      next, count);
  return arith::SelectOp::create(rewriter, loc, wraps, zero, next);
}
