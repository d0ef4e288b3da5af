//===- PieceHistogram.cpp - histograms of buffers far away ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The counts of pieces of the input are added up. Where the bins are cut, a
// piece of them counts what is left of the elements without its first bin.
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/spill/Nest.h"
#include "accel-backend/plan/spill/Pieces.h"

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

// The histogram, if the body is one of its inputs and nothing else.
static linalg_ext::HistogramOp histogramOf(ComputeOp op) {
  Block &body = op.getBody().front();
  auto histogram = dyn_cast<linalg_ext::HistogramOp>(body.front());
  if (!histogram || !llvm::hasNItems(body, 2) || op.getOuts().size() != 1 ||
      histogram->getNumOperands() != op.getInputs().size() ||
      body.getTerminator()->getOperand(0) != histogram.getResult())
    return {};
  for (auto [number, operand] : llvm::enumerate(histogram->getOperands()))
    if (operand != body.getArgument(unsigned(number)))
      return {};
  return histogram;
}

// into[i] = combine(into[i], with[i]), or with a scalar.
static void combine(OpBuilder &builder, Location loc, Value into, Value with,
                    bool isSum) {
  auto type = cast<MemRefType>(into.getType());
  unsigned rank = unsigned(type.getRank());
  SmallVector<AffineMap> maps{
      isa<MemRefType>(with.getType())
          ? builder.getMultiDimIdentityMap(rank)
          : AffineMap::get(rank, 0, builder.getContext()),
      builder.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  linalg::GenericOp::create(
      builder, loc, with, into, maps, kinds,
      [&](OpBuilder &body, Location at, ValueRange arguments) {
        Value result = isSum
                           ? Value(arith::AddIOp::create(body, at, arguments[1],
                                                         arguments[0]))
                           : Value(arith::SubIOp::create(body, at, arguments[1],
                                                         arguments[0]));
        linalg::YieldOp::create(body, at, result);
      });
}

bool Pieces::rewriteHistogram(ComputeOp op) {
  linalg_ext::HistogramOp histogram = histogramOf(op);
  if (!histogram)
    return false;
  Value out = op.getOuts().front();
  auto outType = cast<MemRefType>(out.getType());
  auto inType = cast<MemRefType>(op.getInputs().front().getType());
  int64_t bins = outType.getDimSize(0);
  auto element = cast<IntegerType>(inType.getElementType());
  // Both the counts of a piece and those of the pieces so far.
  SmallVector<int64_t> binSizes =
      sizesFor(bins, 2 * llvm::divideCeil(outType.getElementTypeBitWidth(), 8));
  bool areBinsCut = binSizes.front() < bins;
  if (areBinsCut && element.getWidth() < 63 &&
      bins > (int64_t(1) << element.getWidth()))
    return false;
  ArrayRef<int64_t> shape = inType.getShape();
  uint64_t bytes = 0;
  for (Value input : op.getInputs())
    bytes += llvm::divideCeil(
        cast<MemRefType>(input.getType()).getElementTypeBitWidth(), 8);
  SmallVector<int64_t> sizes = sizesFor(shape, bytes);

  OpBuilder builder(op);
  Location loc = op.getLoc();
  Nest nest(builder, loc);
  OpFoldResult firstBin = builder.getIndexAttr(0);
  if (areBinsCut)
    firstBin = nest.open(bins, binSizes.front());
  Value counts = allocate(builder, loc, binSizes, outType.getElementType());
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(outType.getElementType()));
  linalg::FillOp::create(builder, loc, zero, counts);
  OpFoldResult binCount = builder.getIndexAttr(binSizes.front());
  Value outPart = nest.part(out, firstBin, binCount);
  nest.atEnd([this, loc, counts, outPart](OpBuilder &at) {
    if (isFar(outPart))
      copy(at, loc, counts, outPart);
    else
      linalg::CopyOp::create(at, loc, counts, outPart);
  });
  SmallVector<OpFoldResult> begin(shape.size(), builder.getIndexAttr(0)), count;
  for (auto [d, size] : llvm::enumerate(sizes)) {
    count.push_back(builder.getIndexAttr(size));
    if (size < shape[d])
      begin[d] = nest.open(shape[d], size);
  }
  SmallVector<Value> operands;
  for (Value input : op.getInputs())
    operands.push_back(fetch(builder, loc, nest, input, begin, count, sizes));
  if (areBinsCut) {
    Value first = arith::IndexCastOp::create(builder, loc, element,
                                             cast<Value>(firstBin));
    combine(builder, loc, operands.front(), first, /*isSum=*/false);
  }
  Value own = allocate(builder, loc, binSizes, outType.getElementType());
  operands.push_back(own);
  auto inner = cast<ComputeOp>(
      mlir::clone(builder, op.getOperation(), TypeRange(), operands));
  Block &body = inner.getBody().front();
  for (auto [argument, operand] : llvm::zip(body.getArguments(), operands))
    argument.setType(
        cast<RankedTensorType>(argument.getType())
            .clone(cast<MemRefType>(operand.getType()).getShape()));
  Value result = body.front().getResult(0);
  result.setType(cast<RankedTensorType>(result.getType()).clone(binSizes));
  combine(builder, loc, counts, own, /*isSum=*/true);
  nest.close();
  op.erase();
  return true;
}
