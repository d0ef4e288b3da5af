//===- Shape.cpp - blocks in other shapes ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Program.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tilebridge::reference {

static ArrayRef<int64_t> staticShape(mlir::Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static LogicalResult evaluateSplat(Program &program, Operation *op) {
  uint64_t element = program.lanes(op->getOperand(0)).front();
  program.set(op->getResult(0),
              Lanes(countOf(staticShape(op->getResult(0))), element));
  return success();
}

/// A pattern that nobody takes for data: what is not written must not be read.
static LogicalResult evaluateEmpty(Program &program, Operation *op) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  uint64_t pattern = truncated(0xA5A5A5A5A5A5A5A5, widthOf(element));
  program.set(op->getResult(0),
              Lanes(countOf(staticShape(op->getResult(0))), pattern));
  return success();
}

static LogicalResult evaluateFromElements(Program &program, Operation *op) {
  Lanes lanes;
  for (mlir::Value element : op->getOperands())
    lanes.push_back(program.lanes(element).front());
  program.set(op->getResult(0), std::move(lanes));
  return success();
}

static LogicalResult evaluateReshape(Program &program, Operation *op) {
  program.set(
      op->getResult(0),
      program.get(op->getOperand(0)).reshaped(staticShape(op->getResult(0))));
  return success();
}

static LogicalResult evaluateCast(Program &program, Operation *op) {
  const Datum &source = program.get(op->getOperand(0));
  for (auto [size, wanted] :
       llvm::zip(source.shape(), staticShape(op->getResult(0))))
    if (!ShapedType::isDynamic(wanted) && wanted != size)
      return program.error(op)
             << "casts a size of " << size << " to " << wanted;
  program.set(op->getResult(0), source);
  return success();
}

static LogicalResult evaluateDim(Program &program, Operation *op) {
  auto dim = cast<tensor::DimOp>(op);
  ArrayRef<int64_t> shape = program.get(dim.getSource()).shape();
  int64_t index = program.integer(dim.getIndex());
  if (index < 0 || index >= int64_t(shape.size()))
    return program.error(op) << "asks for dimension " << index
                             << " of a block of rank " << shape.size();
  program.setInteger(dim.getResult(), shape[index]);
  return success();
}

static LogicalResult evaluateExtract(Program &program, Operation *op) {
  auto extract = cast<tensor::ExtractOp>(op);
  const Datum &source = program.get(extract.getTensor());
  SmallVector<int64_t> position;
  for (auto [index, size] : llvm::zip(extract.getIndices(), source.shape())) {
    position.push_back(program.integer(index));
    if (position.back() < 0 || position.back() >= size)
      return program.error(op)
             << "extracts element " << position.back() << " of " << size;
  }
  program.set(extract.getResult(),
              Lanes{source.lanes()[linearIndex(position, source.shape())]});
  return success();
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

namespace {
/// A box of a block: one offset, size and stride a dimension.
struct Slice {
  SmallVector<int64_t> offsets, sizes, strides;

  template <typename OpT>
  Slice(Program &program, OpT op)
      : offsets(program.integers(op.getMixedOffsets())),
        sizes(program.integers(op.getMixedSizes())),
        strides(program.integers(op.getMixedStrides())) {}

  /// Reports a slice that is not inside.
  LogicalResult check(Program &program, Operation *op,
                      ArrayRef<int64_t> whole) const {
    for (size_t i = 0; i < whole.size(); ++i) {
      int64_t last = offsets[i] + (sizes[i] - 1) * strides[i];
      if (sizes[i] < 0 ||
          (sizes[i] > 0 && (offsets[i] < 0 || last < 0 || last >= whole[i])))
        return program.error(op)
               << "slices dimension " << i << " of size " << whole[i]
               << " from " << offsets[i] << " on, " << sizes[i]
               << " elements with stride " << strides[i];
    }
    return success();
  }

  /// Calls `body` with the number of each element in the whole block.
  void forEach(ArrayRef<int64_t> whole,
               llvm::function_ref<void(int64_t)> body) const {
    SmallVector<int64_t> at(whole.size());
    forEachPosition(sizes, [&](ArrayRef<int64_t> position) {
      for (size_t i = 0; i < whole.size(); ++i)
        at[i] = offsets[i] + position[i] * strides[i];
      body(linearIndex(at, whole));
    });
  }
};
} // namespace

/// The shape of a slice as its type says it, with the unit dimensions that it
/// drops.
static SmallVector<int64_t> shapeOfSlice(RankedTensorType type,
                                         RankedTensorType full,
                                         ArrayRef<int64_t> sizes) {
  auto dropped = computeRankReductionMask(full.getShape(), type.getShape(),
                                          /*matchDynamic=*/true);
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(sizes))
    if (!dropped || !dropped->contains(i))
      shape.push_back(size);
  return shape;
}

static LogicalResult evaluateExtractSlice(Program &program, Operation *op) {
  auto extract = cast<tensor::ExtractSliceOp>(op);
  const Datum &source = program.get(extract.getSource());
  Slice slice(program, extract);
  if (failed(slice.check(program, op, source.shape())))
    return failure();
  Lanes lanes;
  slice.forEach(source.shape(),
                [&](int64_t at) { lanes.push_back(source.lanes()[at]); });
  auto full = RankedTensorType::get(extract.getStaticSizes(),
                                    extract.getType().getElementType());
  program.set(extract.getResult(),
              Datum(source.elementType(),
                    shapeOfSlice(extract.getType(), full, slice.sizes),
                    std::move(lanes)));
  return success();
}

static LogicalResult evaluateInsertSlice(Program &program, Operation *op) {
  auto insert = cast<tensor::InsertSliceOp>(op);
  const Datum &source = program.get(insert.getSource());
  const Datum &dest = program.get(insert.getDest());
  Slice slice(program, insert);
  if (failed(slice.check(program, op, dest.shape())))
    return failure();
  if (countOf(slice.sizes) != int64_t(source.lanes().size()))
    return program.error(op)
           << "inserts " << source.lanes().size() << " elements in place of "
           << countOf(slice.sizes);
  Lanes lanes = dest.lanes();
  size_t next = 0;
  slice.forEach(dest.shape(),
                [&](int64_t at) { lanes[at] = source.lanes()[next++]; });
  program.set(insert.getResult(),
              Datum(dest.elementType(), dest.shape(), std::move(lanes)));
  return success();
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

static LogicalResult evaluatePad(Program &program, Operation *op) {
  auto pad = cast<tensor::PadOp>(op);
  // A copy: the region sets values, which may move the others.
  Datum source = program.get(pad.getSource());
  SmallVector<int64_t> low = program.integers(pad.getMixedLowPad());
  SmallVector<int64_t> high = program.integers(pad.getMixedHighPad());
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(source.shape())) {
    shape.push_back(low[i] + size + high[i]);
    int64_t wanted = pad.getResultType().getDimSize(i);
    if (low[i] < 0 || high[i] < 0 ||
        (!ShapedType::isDynamic(wanted) && shape.back() != wanted))
      return program.error(op)
             << "pads dimension " << i << " of size " << size << " by "
             << low[i] << " and " << high[i] << " to " << wanted;
  }
  // The region computes the elements of the whole result, from positions that
  // are lanes, and the source is then laid over them.
  Type index = IndexType::get(op->getContext());
  SmallVector<Lanes> positions(shape.size());
  forEachPosition(shape, [&](ArrayRef<int64_t> position) {
    for (auto [lanes, at] : llvm::zip(positions, position))
      lanes.push_back(uint64_t(at));
  });
  SmallVector<Datum> arguments, yielded;
  for (Lanes &lanes : positions)
    arguments.push_back(Datum(index, shape, std::move(lanes)));
  if (failed(program.run(pad.getRegion().front(), arguments, yielded)))
    return failure();
  Lanes lanes = yielded.front().lanes();
  if (lanes.size() == 1)
    lanes.assign(countOf(shape), lanes.front());
  size_t next = 0;
  SmallVector<int64_t> at(shape.size());
  forEachPosition(source.shape(), [&](ArrayRef<int64_t> position) {
    for (size_t i = 0; i < at.size(); ++i)
      at[i] = low[i] + position[i];
    lanes[linearIndex(at, shape)] = source.lanes()[next++];
  });
  program.set(pad.getResult(),
              Datum(source.elementType(), shape, std::move(lanes)));
  return success();
}

void addShapeHandlers(HandlerTable &table) {
  table.add<tensor::SplatOp>(evaluateSplat);
  table.add<tensor::EmptyOp>(evaluateEmpty);
  table.add<tensor::FromElementsOp>(evaluateFromElements);
  table.add<tensor::ExpandShapeOp>(evaluateReshape);
  table.add<tensor::CollapseShapeOp>(evaluateReshape);
  table.add<tensor::CastOp>(evaluateCast);
  table.add<tensor::DimOp>(evaluateDim);
  table.add<tensor::ExtractOp>(evaluateExtract);
  table.add<tensor::ExtractSliceOp>(evaluateExtractSlice);
  table.add<tensor::InsertSliceOp>(evaluateInsertSlice);
  table.add<tensor::PadOp>(evaluatePad);
}

} // namespace tilebridge::reference
