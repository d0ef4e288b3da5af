//===- PieceScan.cpp - scans of buffers far away --------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A scan goes on from piece to piece: the first position of a piece is combined
// with the last one of the piece before, as it would be without pieces.
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/spill/Nest.h"
#include "accel-backend/plan/spill/Pieces.h"

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

// The scan, if the body is one of its inputs and nothing else.
static linalg_ext::ScanOp scanOf(ComputeOp op) {
  Block &body = op.getBody().front();
  auto scan = dyn_cast<linalg_ext::ScanOp>(body.front());
  if (!scan || !llvm::hasNItems(body, 2) ||
      scan.getResults() != body.getTerminator()->getOperands())
    return {};
  for (auto [number, input] : llvm::enumerate(scan.getInputs()))
    if (input != body.getArgument(unsigned(number)))
      return {};
  return scan.getNumOperands() == op.getInputs().size() ? scan
                                                        : linalg_ext::ScanOp();
}

bool Pieces::rewriteScan(ComputeOp op) {
  linalg_ext::ScanOp scan = scanOf(op);
  if (!scan || op.getInputs().size() != op.getOuts().size())
    return false;
  int64_t d = int64_t(scan.getDimension());
  ArrayRef<int64_t> shape =
      cast<MemRefType>(op.getInputs().front().getType()).getShape();
  uint64_t bytes = 0;
  for (Value value : op->getOperands())
    bytes += llvm::divideCeil(
        cast<MemRefType>(value.getType()).getElementTypeBitWidth(), 8);
  SmallVector<int64_t> sizes = sizesFor(shape, bytes);
  // With the scanned dimension innermost of the loops a piece follows the one
  // that it goes on from.
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Nest nest(builder, loc);
  int64_t rank = int64_t(shape.size());
  SmallVector<OpFoldResult> begin(rank, builder.getIndexAttr(0)), count;
  for (int64_t size : sizes)
    count.push_back(builder.getIndexAttr(size));
  for (int64_t each = 0; each < rank; ++each)
    if (each != d && sizes[each] < shape[each])
      begin[each] = nest.open(shape[each], sizes[each]);
  bool isCut = sizes[d] < shape[d];
  SmallVector<int64_t> line(sizes);
  line[d] = 1;
  SmallVector<Value> last;
  SmallVector<OpFoldResult> zeros(rank, builder.getIndexAttr(0)),
      oneLine(count);
  oneLine[d] = builder.getIndexAttr(1);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value at = zero;
  if (isCut) {
    for (Value out : op.getOuts())
      last.push_back(
          allocate(builder, loc, line,
                   cast<MemRefType>(out.getType()).getElementType()));
    at = nest.open(shape[d], sizes[d]);
    begin[d] = at;
    if (scan.getReverse()) {
      Value end =
          arith::ConstantIndexOp::create(builder, loc, shape[d] - sizes[d]);
      begin[d] = arith::SubIOp::create(builder, loc, end, at).getResult();
    }
  }
  SmallVector<Value> buffers, outs;
  for (Value input : op.getInputs())
    buffers.push_back(fetch(builder, loc, nest, input, begin, count, sizes));
  for (Value out : op.getOuts())
    outs.push_back(allocate(builder, loc, sizes,
                            cast<MemRefType>(out.getType()).getElementType()));
  auto lineAt = [&](Value buffer, bool isLast) {
    SmallVector<OpFoldResult> place(zeros);
    if (isLast != scan.getReverse())
      place[d] = builder.getIndexAttr(sizes[d] - 1);
    return nest.part(buffer, place, oneLine);
  };
  if (isCut) {
    Value goesOn =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, at, zero);
    auto branch = scf::IfOp::create(builder, loc, goesOn,
                                    /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> first;
    for (Value buffer : buffers)
      first.push_back(lineAt(buffer, /*isLast=*/false));
    SmallVector<AffineMap> maps(last.size() + first.size(),
                                builder.getMultiDimIdentityMap(unsigned(rank)));
    SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
    linalg::GenericOp::create(
        builder, loc, last, first, maps, kinds,
        [&](OpBuilder &body, Location, ValueRange arguments) {
          IRMapping mapping;
          Block &combiner = scan.getCombiner().front();
          mapping.map(combiner.getArguments(), arguments);
          for (Operation &each : combiner.without_terminator())
            body.clone(each, mapping);
          SmallVector<Value> results;
          for (Value value : combiner.getTerminator()->getOperands())
            results.push_back(mapping.lookupOrDefault(value));
          linalg::YieldOp::create(body, loc, results);
        });
  }
  SmallVector<Value> operands(buffers);
  llvm::append_range(operands, outs);
  auto inner = cast<ComputeOp>(
      mlir::clone(builder, op.getOperation(), TypeRange(), operands));
  Block &body = inner.getBody().front();
  for (BlockArgument argument : body.getArguments())
    argument.setType(cast<RankedTensorType>(argument.getType()).clone(sizes));
  for (Value result : body.front().getResults())
    result.setType(cast<RankedTensorType>(result.getType()).clone(sizes));
  for (auto [buffer, out] : llvm::zip_equal(outs, op.getOuts())) {
    Value part = nest.part(out, begin, count);
    if (isFar(out))
      copy(builder, loc, buffer, part);
    else
      linalg::CopyOp::create(builder, loc, buffer, part);
  }
  if (isCut)
    for (auto [buffer, carried] : llvm::zip_equal(outs, last))
      linalg::CopyOp::create(builder, loc, lineAt(buffer, /*isLast=*/true),
                             carried);
  nest.close();
  op.erase();
  return true;
}
