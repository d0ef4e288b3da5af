//===- BatchMemory.cpp - memory that several programs access --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/merge/ProgramBatch.h"

#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

FailureOr<SmallVector<OpFoldResult>>
ProgramBatch::sizesOfAll(ArrayRef<OpFoldResult> old) {
  if (!isWidened(old.size()))
    return demandSame(old);
  auto sizes = demandSame(old.drop_back());
  if (failed(sizes) || !demand(old.back(), merged.columns))
    return failure();
  sizes->push_back(b.getIndexAttr(merged.columns * merged.count));
  return sizes;
}

FailureOr<SmallVector<OpFoldResult>>
ProgramBatch::offsetsOfAll(ArrayRef<OpFoldResult> old) {
  if (!isWidened(old.size()))
    return demandSame(old);
  auto offsets = demandSame(old.drop_back());
  if (failed(offsets) || !demand(old.back(), 0))
    return failure();
  offsets->push_back(b.getIndexAttr(0));
  return offsets;
}

/// Views whose place grows from program to program have one dimension more, or
/// a longer one.
LogicalResult ProgramBatch::visitView(Operation *op) {
  Location loc = op->getLoc();
  Type index = b.getIndexType();
  auto with = [](ArrayRef<OpFoldResult> list, OpFoldResult value) {
    auto result = llvm::to_vector(list);
    result.push_back(value);
    return result;
  };
  OpFoldResult count = b.getIndexAttr(merged.count);
  auto place = [&](Value source, OpFoldResult offset, Value step,
                   ArrayRef<OpFoldResult> sizes,
                   SmallVector<OpFoldResult> strides) -> LogicalResult {
    if (isWidened(sizes.size())) {
      if (getConstantIntValue(strides.back()) != 1 ||
          getConstantIntValue(getAsOpFoldResult(step)) != merged.columns)
        return failure();
      Value view = memref::ReinterpretCastOp::create(b, loc, source, offset,
                                                     sizes, strides);
      set(op->getResult(0), {Kind::Block, view, step});
      return success();
    }
    // The stride of a single element counts for nothing, but would look as if
    // elements were next to one another there.
    OpFoldResult other = b.getIndexAttr(merged.count);
    for (auto [size, stride] : llvm::zip_equal(sizes, strides))
      if (getConstantIntValue(size) != 1)
        other = stride;
    for (auto [size, stride] : llvm::zip_equal(sizes, strides))
      if (getConstantIntValue(size) == 1)
        stride = other;
    Value view = memref::ReinterpretCastOp::create(
        b, loc, source, offset, with(sizes, count),
        with(strides, getAsOpFoldResult(step)));
    set(op->getResult(0), {Kind::Block, view, step});
    return success();
  };
  if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op)) {
    Batched source = lookup(cast.getSource());
    auto sizes = sizesOfAll(cast.getConstifiedMixedSizes()),
         strides = demandSame(cast.getConstifiedMixedStrides());
    auto offset = dyn_cast<Value>(cast.getConstifiedMixedOffset());
    if (source.kind != Kind::Same || failed(sizes) || failed(strides) ||
        !offset || lookup(offset).kind != Kind::Linear)
      return failure();
    return place(source.value, lookup(offset).value,
                 castStep(lookup(offset).step, index), *sizes, *strides);
  }
  auto subview = dyn_cast<memref::SubViewOp>(op);
  if (!subview || subview.getDroppedDims().any())
    return failure();
  Batched source = lookup(subview.getSource());
  auto sizes = sizesOfAll(subview.getMixedSizes()),
       strides = demandSame(subview.getMixedStrides());
  if (failed(sizes) || failed(strides))
    return failure();
  if (source.kind == Kind::Block) {
    auto offsets = offsetsOfAll(subview.getMixedOffsets());
    if (failed(offsets))
      return failure();
    if (!isWidened(sizes->size())) {
      *offsets = with(*offsets, b.getIndexAttr(0));
      *sizes = with(*sizes, count);
      *strides = with(*strides, b.getIndexAttr(1));
    }
    Value view = memref::SubViewOp::create(b, loc, source.value, *offsets,
                                           *sizes, *strides);
    set(op->getResult(0), {Kind::Block, view, source.step});
    return success();
  }
  // A part of a tensor that begins elsewhere for each program.
  Value offset, step;
  SmallVector<OpFoldResult> steps, wholeStrides;
  if (auto whole = source.value.getDefiningOp<memref::ReinterpretCastOp>()) {
    offset = getValueOrCreateConstantIndexOp(b, loc,
                                             whole.getConstifiedMixedOffset());
    wholeStrides = whole.getConstifiedMixedStrides();
  } else {
    auto data = memref::ExtractStridedMetadataOp::create(b, loc, source.value);
    offset = data.getOffset();
    wholeStrides = data.getConstifiedMixedStrides();
  }
  for (auto [d, old] : llvm::enumerate(subview.getMixedOffsets())) {
    OpFoldResult stride = wholeStrides[d];
    Value strideValue = getValueOrCreateConstantIndexOp(b, loc, stride);
    auto value = dyn_cast<Value>(old);
    Batched at =
        value ? lookup(value)
              : Batched::same(getValueOrCreateConstantIndexOp(b, loc, old));
    if (at.kind == Kind::Block)
      return failure();
    offset = b.createOrFold<arith::AddIOp>(
        loc, offset, b.createOrFold<arith::MulIOp>(loc, at.value, strideValue));
    if (at.kind == Kind::Linear) {
      Value far = b.createOrFold<arith::MulIOp>(loc, at.step, strideValue);
      step = step ? b.createOrFold<arith::AddIOp>(loc, step, far) : far;
    }
    if (getConstantIntValue((*strides)[d]) != 1)
      return failure();
    steps.push_back(stride);
  }
  if (!step)
    return failure();
  return place(source.value, offset, step, *sizes, steps);
}

/// A view of one element a program: `memref` at the scalar index `old`.
Value ProgramBatch::lineOf(Value memref, Value old) {
  Batched base = lookup(memref), at = lookup(old);
  if (base.kind != Kind::Same || at.kind != Kind::Linear)
    return {};
  Location loc = memref.getLoc();
  auto whole = memref::ExtractStridedMetadataOp::create(b, loc, base.value);
  Value stride = getValueOrCreateConstantIndexOp(
      b, loc, whole.getConstifiedMixedStrides()[0]);
  Value offset = b.createOrFold<arith::AddIOp>(
      loc, whole.getOffset(),
      b.createOrFold<arith::MulIOp>(loc, at.value, stride));
  Value step = b.createOrFold<arith::MulIOp>(loc, at.step, stride);
  return memref::ReinterpretCastOp::create(
      b, loc, base.value, OpFoldResult(offset),
      ArrayRef<OpFoldResult>{b.getIndexAttr(merged.count)},
      ArrayRef<OpFoldResult>{getAsOpFoldResult(step)});
}

LogicalResult ProgramBatch::visitMemory(Operation *op) {
  Location loc = op->getLoc();
  if (isa<memref::ReinterpretCastOp, memref::SubViewOp>(op))
    return visitView(op);
  if (auto load = dyn_cast<bufferization::ToTensorOp>(op)) {
    Batched view = lookup(load.getBuffer());
    if (view.kind != Kind::Block)
      return failure();
    seen.push_back({view.value, view.step, /*isStore=*/false});
    Value block = bufferization::ToTensorOp::create(
        b, loc, withPrograms(load.getType()), view.value);
    return set(op->getResult(0), Batched::block(block)), success();
  }
  auto write = [&](Value block, Value view) {
    auto store = bufferization::MaterializeInDestinationOp::create(
        b, loc, Type(), block, view);
    store.setWritable(true);
    return success();
  };
  if (auto store = dyn_cast<bufferization::MaterializeInDestinationOp>(op)) {
    Batched view = lookup(store.getDest());
    Value block = asBlock(store.getSource());
    if (view.kind != Kind::Block || !block)
      return failure();
    seen.push_back({view.value, view.step, /*isStore=*/true});
    return write(block, view.value);
  }
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    if (load.getIndices().size() != 1)
      return failure();
    Value line = lineOf(load.getMemRef(), load.getIndices()[0]);
    if (!line)
      return failure();
    Value block = bufferization::ToTensorOp::create(
        b, loc,
        RankedTensorType::get({merged.count}, load.getResult().getType()),
        line);
    return set(load.getResult(), Batched::block(block)), success();
  }
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    if (store.getIndices().size() != 1)
      return failure();
    Value line = lineOf(store.getMemRef(), store.getIndices()[0]);
    Value block = asVector(store.getValue());
    if (!line || !block)
      return failure();
    return write(block, line);
  }
  if (isa<linalg_ext::MaskedLoadOp, linalg_ext::MaskedStoreOp>(op)) {
    bool isStore = isa<linalg_ext::MaskedStoreOp>(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      Batched batched = lookup(operand);
      if (isa<BaseMemRefType>(operand.getType())) {
        if (batched.kind != Kind::Block)
          return failure();
        seen.push_back({batched.value, batched.step, isStore});
        operands.push_back(batched.value);
      } else if (isa<TensorType>(operand.getType())) {
        operands.push_back(asBlock(operand));
      } else if (batched.kind == Kind::Same) {
        operands.push_back(batched.value);
      } else {
        return failure();
      }
    }
    return success(rebuild(op, operands) != nullptr);
  }
  return failure();
}
