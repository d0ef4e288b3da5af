//===- Irregular.cpp - gathers, scatters, masks that are not boxes -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/MemoryTable.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

bool FunctionEmitter::isIrregularLoad(Operation *op) {
  return isa<linalg_ext::GatherOp, linalg_ext::GatherRowsOp,
             linalg_ext::MaskedLoadOp>(op);
}

/// Addresses are computed where the op stands.
void FunctionEmitter::rememberIrregular(Operation *op) {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  View view;
  if (auto gather = dyn_cast<linalg_ext::GatherOp>(op)) {
    int64_t size = tableSizeOf(op);
    view = makeView(rewriter, op->getLoc(), mapScalar(gather.getBase()),
                    {std::max<int64_t>(size, 1)});
    if (size > 0)
      view.hi.front() = rewriter.getIndexAttr(size);
  } else if (auto rows = dyn_cast<linalg_ext::GatherRowsOp>(op)) {
    view = makeView(rewriter, op->getLoc(), mapScalar(rows.getView()), shape);
    view.hi[rows.getDim()] = rewriter.getIndexAttr(shape[rows.getDim()]);
    view.pad = rows.getOther();
    view.rows = rows.getRows();
    view.rowMask = rows.getRowmask();
    view.rowDim = rows.getDim();
    NestEmitter::askForTableRows(*this, view, op->getLoc());
  } else {
    view = makeView(rewriter, op->getLoc(),
                    mapScalar(cast<linalg_ext::MaskedLoadOp>(op).getView()),
                    shape);
  }
  irregular[op->getResult(0)] = std::make_unique<View>(std::move(view));
}

/// What masked-off lanes are; in the element type of memory.
Value FunctionEmitter::otherOf(Value other, Type element,
                               ArrayRef<Index> indices, Location loc) {
  if (!other)
    return zeroOf(element, loc);
  return evaluate(other, indices);
}

static Value chosen(OpBuilder &b, Location loc, Value condition, Type type,
                    function_ref<Value()> value,
                    function_ref<Value()> otherwise) {
  auto branch = scf::IfOp::create(b, loc, type, condition, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, loc, otherwise());
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, loc, value());
  return branch.getResult(0);
}

/// `value()` where `condition` (null: always) holds, else `other`.
static Value guarded(OpBuilder &b, Location loc, Value condition, Value other,
                     function_ref<Value()> value) {
  if (!condition)
    return value();
  return chosen(b, loc, condition, other.getType(), value,
                [&] { return other; });
}

static int laneDimOf(ArrayRef<Index> indices) {
  for (auto [d, index] : llvm::enumerate(indices))
    if (index.step != 0)
      return d;
  return -1;
}

Value FunctionEmitter::evaluateIrregular(Operation *op,
                                         ArrayRef<Index> indices) {
  Location loc = op->getLoc();
  auto known = irregular.find(op->getResult(0));
  if (known == irregular.end()) {
    op->emitError("is used before it is emitted");
    return {};
  }
  const View &view = *known->second;
  Type element = view.elementType();
  if (auto gather = dyn_cast<linalg_ext::GatherOp>(op)) {
    if (frame->pieces)
      if (auto value = NestEmitter::readPieces(*this, gather, indices))
        return *value;
    Value offsets = evaluate(gather.getOffsets(), indices);
    Value mask =
        gather.getMask() ? evaluate(gather.getMask(), indices) : Value();
    Value other = otherOf(gather.getOther(), element, indices, loc);
    if (!offsets || !other || (gather.getMask() && !mask))
      return {};
    Index zero;
    Value base = address(view, zero, -1, loc);
    bool hasLanes = isa<VectorType>(offsets.getType()) ||
                    (mask && isa<VectorType>(mask.getType()));
    auto gatherAll = [&] {
      return gatherLanes(view.base, base, toLanes(offsets, frame->lanes), mask,
                         other, gather.getOffsets(), loc, laneDimOf(indices));
    };
    if (hasLanes) {
      Value on = mask ? toLanes(mask, frame->lanes) : mask;
      auto table = MemoryTable::find(
          rewriter, op, view.base, base, on, target(),
          [&](Value tensor) { return evaluate(tensor, indices); });
      if (!table)
        return gatherAll();
      Value lanes = toLanes(other, frame->lanes);
      return chosen(
          rewriter, loc, table->isReadable(), lanes.getType(),
          [&] { return table->load(lanes); }, gatherAll);
    }
    if (isa<VectorType>(other.getType()) && !mask)
      other = zeroOf(element, loc);
    return guarded(rewriter, loc, mask, other, [&]() -> Value {
      Value value =
          loadElement(view.base, advanced(rewriter, loc, base, offsets), loc);
      return isa<VectorType>(other.getType()) ? toLanes(value, frame->lanes)
                                              : value;
    });
  }
  int laneDim = laneDimOf(indices);
  if (auto load = dyn_cast<linalg_ext::MaskedLoadOp>(op)) {
    Value mask = evaluate(load.getMask(), indices);
    Value other = otherOf(load.getOther(), element, indices, loc);
    if (!mask || !other)
      return {};
    if (laneDim >= 0)
      return toLanes(loadLanes(view, indices, laneDim, asLaneMask(mask, loc),
                               toLanes(other, frame->lanes), loc),
                     frame->lanes);
    Value at = address(view, indices, -1, loc);
    return guarded(rewriter, loc, mask, other,
                   [&]() -> Value { return loadElement(view.base, at, loc); });
  }
  if (laneDim == view.rowDim)
    return gatherFromRows(view, indices, loc);
  if (!evaluate(view.rows, indices[view.rowDim]))
    return {};
  return read(view, indices, loc);
}

/// Loops over `shape` in row-major order; lanes along the last dimension of
/// `order`.
LogicalResult
FunctionEmitter::inOrder(ArrayRef<int64_t> shape, ArrayRef<unsigned> order,
                         Location loc,
                         function_ref<LogicalResult(ArrayRef<Index>)> body) {
  OpBuilder::InsertionGuard guard(rewriter);
  Indices indices(shape.size());
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  for (auto [i, d] : llvm::enumerate(order)) {
    bool hasLanes = i + 1 == order.size() && frame->lanes > 1;
    Value size = arith::ConstantIndexOp::create(rewriter, loc, shape[d]);
    indices[d] = frame->openLoop(rewriter, loc, d, zero, size,
                                 hasLanes ? frame->lanes : 1, hasLanes);
  }
  return body(indices);
}

LogicalResult FunctionEmitter::emitScatter(Operation *scatter) {
  auto op = cast<linalg_ext::ScatterOp>(scatter);
  Location loc = op.getLoc();
  View view = makeView(rewriter, loc, mapScalar(op.getBase()), {1});
  auto isDone = emitScatterPieces(op, view);
  if (failed(isDone) || *isDone)
    return LogicalResult(isDone);
  Frame own;
  own.open(rewriter);
  auto type = cast<RankedTensorType>(op.getValue().getType());
  ArrayRef<int64_t> shape = type.getShape();
  own.lanes = shape.empty()
                  ? 1
                  : scatteredLanes(type, shape.back(), target().vectorBits);
  Frame *outer = std::exchange(frame, &own);
  LogicalResult result =
      inOrder(shape, llvm::to_vector(llvm::seq<unsigned>(0, shape.size())), loc,
              [&](ArrayRef<Index> at) {
                Value offsets = evaluate(op.getOffsets(), at);
                Value mask =
                    op.getMask() ? evaluate(op.getMask(), at) : Value();
                Value elements = evaluate(op.getValue(), at);
                if (!offsets || !elements || (op.getMask() && !mask))
                  return failure();
                Index zero;
                scatterLanes(view.base, address(view, zero, -1, loc), offsets,
                             mask, elements, loc);
                return success();
              });
  frame = outer;
  return result;
}
