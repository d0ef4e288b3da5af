//===- Views.cpp - pointers, views and scalar accesses ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Program.h"

#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tilebridge::reference {

static Type elementOf(mlir::Value memref) {
  return cast<MemRefType>(memref.getType()).getElementType();
}

static LogicalResult evaluateReinterpretCast(Program &program, Operation *op) {
  auto cast = mlir::cast<memref::ReinterpretCastOp>(op);
  View view = program.view(cast.getSource());
  view.offset = program.integers(cast.getMixedOffsets()).front();
  view.sizes.assign(program.integers(cast.getMixedSizes()));
  view.strides.assign(program.integers(cast.getMixedStrides()));
  program.set(cast.getResult(), Datum(elementOf(cast.getResult()), view));
  return success();
}

static LogicalResult evaluateSubview(Program &program, Operation *op) {
  auto subview = cast<memref::SubViewOp>(op);
  View view = program.view(subview.getSource());
  SmallVector<int64_t> offsets = program.integers(subview.getMixedOffsets());
  SmallVector<int64_t> sizes = program.integers(subview.getMixedSizes());
  SmallVector<int64_t> steps = program.integers(subview.getMixedStrides());
  view.offset = view.offsetOf(offsets);
  llvm::SmallBitVector dropped = subview.getDroppedDims();
  SmallVector<int64_t, 4> keptSizes, strides;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0)
      return program.error(op)
             << "takes " << sizes[i] << " elements of dimension " << i;
    if (dropped.test(i))
      continue;
    keptSizes.push_back(sizes[i]);
    strides.push_back(view.strides[i] * steps[i]);
  }
  view.sizes = keptSizes;
  view.strides = strides;
  program.set(subview.getResult(), Datum(elementOf(subview.getResult()), view));
  return success();
}

static LogicalResult evaluateMetadata(Program &program, Operation *op) {
  auto meta = cast<memref::ExtractStridedMetadataOp>(op);
  const View &view = program.view(meta.getSource());
  View base = view;
  base.offset = 0;
  base.sizes.clear();
  base.strides.clear();
  program.setInteger(meta.getOffset(), view.offset);
  for (auto [result, size] : llvm::zip(meta.getSizes(), view.sizes))
    program.setInteger(result, size);
  for (auto [result, stride] : llvm::zip(meta.getStrides(), view.strides))
    program.setInteger(result, stride);
  program.set(meta.getBaseBuffer(), Datum(elementOf(meta.getSource()), base));
  return success();
}

static LogicalResult evaluateAlignedPointer(Program &program, Operation *op) {
  program.set(op->getResult(0), Lanes{program.view(op->getOperand(0)).address});
  return success();
}

static LogicalResult evaluateViewAddress(Program &program, Operation *op) {
  View view;
  view.address = program.lanes(op->getOperand(0)).front();
  view.sizes = {INT64_MAX};
  view.strides = {1};
  program.set(op->getResult(0), Datum(elementOf(op->getResult(0)), view));
  return success();
}

static LogicalResult evaluateCast(Program &program, Operation *op) {
  program.set(op->getResult(0), Datum(elementOf(op->getResult(0)),
                                      program.view(op->getOperand(0))));
  return success();
}

static LogicalResult evaluateDim(Program &program, Operation *op) {
  auto dim = cast<memref::DimOp>(op);
  ArrayRef<int64_t> sizes = program.view(dim.getSource()).sizes;
  int64_t index = program.integer(dim.getIndex());
  if (index < 0 || index >= int64_t(sizes.size()))
    return program.error(op) << "asks for dimension " << index
                             << " of a view of rank " << sizes.size();
  program.setInteger(dim.getResult(), sizes[index]);
  return success();
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

static int64_t scalarOffset(Program &program, const View &view,
                            OperandRange indices) {
  SmallVector<int64_t> position;
  for (mlir::Value index : indices)
    position.push_back(program.integer(index));
  return view.offsetOf(position);
}

static LogicalResult evaluateLoad(Program &program, Operation *op) {
  auto load = cast<memref::LoadOp>(op);
  const View &view = program.view(load.getMemref());
  auto bits = program.load(op, view, load.getType(),
                           scalarOffset(program, view, load.getIndices()));
  if (failed(bits))
    return failure();
  program.set(load.getResult(), Lanes{*bits});
  return success();
}

static LogicalResult evaluateStore(Program &program, Operation *op) {
  auto store = cast<memref::StoreOp>(op);
  const View &view = program.view(store.getMemref());
  return program.store(op, view, store.getValue().getType(),
                       scalarOffset(program, view, store.getIndices()),
                       program.lanes(store.getValue()).front());
}

/// Reads a whole view.
static LogicalResult evaluateToTensor(Program &program, Operation *op) {
  mlir::Value memref = op->getOperand(0);
  const View &view = program.view(memref);
  Type element = elementOf(memref);
  Lanes lanes;
  LogicalResult result = success();
  forEachPosition(view.sizes, [&](ArrayRef<int64_t> position) {
    if (failed(result))
      return;
    auto bits = program.load(op, view, element, view.offsetOf(position));
    result = bits;
    if (succeeded(bits))
      lanes.push_back(*bits);
  });
  if (failed(result))
    return failure();
  program.set(op->getResult(0), Datum(element, view.sizes, std::move(lanes)));
  return success();
}

/// Writes a whole view, from a block that was read before.
static LogicalResult evaluateMaterialize(Program &program, Operation *op) {
  auto write = cast<bufferization::MaterializeInDestinationOp>(op);
  const View &view = program.view(write.getDest());
  const Datum &source = program.get(write.getSource());
  if (source.shape() != ArrayRef<int64_t>(view.sizes))
    return program.error(op) << "writes a block to a view of another shape";
  size_t next = 0;
  LogicalResult result = success();
  forEachPosition(view.sizes, [&](ArrayRef<int64_t> position) {
    if (succeeded(result))
      result = program.store(op, view, source.elementType(),
                             view.offsetOf(position), source.lanes()[next++]);
  });
  return result;
}

void addViewHandlers(HandlerTable &table) {
  table.add<memref::ReinterpretCastOp>(evaluateReinterpretCast);
  table.add<memref::SubViewOp>(evaluateSubview);
  table.add<memref::ExtractStridedMetadataOp>(evaluateMetadata);
  table.add<memref::ExtractAlignedPointerAsIndexOp>(evaluateAlignedPointer);
  table.add<memref::CastOp>(evaluateCast);
  table.add<memref::DimOp>(evaluateDim);
  table.add<memref::LoadOp>(evaluateLoad);
  table.add<memref::StoreOp>(evaluateStore);
  table.add<linalg_ext::ViewAddressOp>(evaluateViewAddress);
  table.add<bufferization::ToTensorOp>(evaluateToTensor);
  table.add<bufferization::MaterializeInDestinationOp>(evaluateMaterialize);
}

} // namespace tilebridge::reference
