//===- Irregular.cpp - gathers, scatters, masks that are not boxes -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/FunctionEmitter.h"
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
    view = makeView(rewriter, op->getLoc(), mapScalar(gather.getBase()), {1});
  } else if (auto rows = dyn_cast<linalg_ext::GatherRowsOp>(op)) {
    view = makeView(rewriter, op->getLoc(), mapScalar(rows.getView()), shape);
    view.hi[rows.getDim()] = rewriter.getIndexAttr(shape[rows.getDim()]);
    view.pad = rows.getOther();
    view.rows = rows.getRows();
    view.rowMask = rows.getRowmask();
    view.rowDim = rows.getDim();
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

/// `value()` where `condition` (null: always) holds, else `other`.
static Value guarded(OpBuilder &b, Location loc, Value condition, Value other,
                     function_ref<Value()> value) {
  if (!condition)
    return value();
  auto branch = scf::IfOp::create(b, loc, other.getType(), condition, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, loc, other);
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, loc, value());
  return branch.getResult(0);
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
    Value offsets = evaluate(gather.getOffsets(), indices);
    Value mask =
        gather.getMask() ? evaluate(gather.getMask(), indices) : Value();
    Value other = otherOf(gather.getOther(), element, indices, loc);
    if (!offsets || !other || (gather.getMask() && !mask))
      return {};
    Index zero;
    Value base = address(view, zero, -1, loc);
    if (isa<VectorType>(offsets.getType()) ||
        (mask && isa<VectorType>(mask.getType())))
      return gatherLanes(view.base, base, toLanes(offsets, frame->lanes), mask,
                         other, gather.getOffsets(), loc);
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
  for (auto [i, d] : llvm::enumerate(order)) {
    bool last = i + 1 == order.size();
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, value);
    };
    auto loop =
        scf::ForOp::create(rewriter, loc, constant(0), constant(shape[d]),
                           constant(last ? frame->lanes : 1));
    frame->levels.back()->before = loop;
    auto level = std::make_unique<Level>();
    level->block = loop.getBody();
    frame->levels.push_back(std::move(level));
    rewriter.setInsertionPoint(loop.getBody()->getTerminator());
    indices[d] = {loop.getInductionVar(), last && frame->lanes > 1 ? 1 : 0,
                  static_cast<unsigned>(frame->levels.size() - 1),
                  static_cast<int>(d)};
  }
  return body(indices);
}

LogicalResult FunctionEmitter::emitScatter(Operation *op) {
  Location loc = op->getLoc();
  if (auto scatter = dyn_cast<linalg_ext::ScatterOp>(op)) {
    View to = makeView(rewriter, loc, mapScalar(scatter.getBase()), {1});
    auto isDone = emitScatterPieces(op, to);
    if (failed(isDone) || *isDone)
      return LogicalResult(isDone);
  }
  Frame own;
  own.open(rewriter);
  Value value = op->getOperand(0);
  auto type = cast<RankedTensorType>(value.getType());
  ArrayRef<int64_t> shape = type.getShape();
  auto lanesFor = [&](int64_t size) {
    int64_t bits =
        std::max<int64_t>(type.getElementType().getIntOrFloatBitWidth(), 32);
    return lanesAlong(size, target().vectorBits / bits);
  };
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, shape.size()));
  LogicalResult result = failure();
  Frame *outer = std::exchange(frame, &own);
  if (auto scatter = dyn_cast<linalg_ext::ScatterOp>(op)) {
    View view = makeView(rewriter, loc, mapScalar(scatter.getBase()), {1});
    own.lanes = shape.empty() ? 1 : lanesFor(shape.back());
    result = inOrder(shape, order, loc, [&](ArrayRef<Index> at) {
      Value offsets = evaluate(scatter.getOffsets(), at);
      Value mask =
          scatter.getMask() ? evaluate(scatter.getMask(), at) : Value();
      Value elements = evaluate(value, at);
      if (!offsets || !elements || (scatter.getMask() && !mask))
        return failure();
      Index zero;
      scatterLanes(view.base, address(view, zero, -1, loc), offsets, mask,
                   elements, loc);
      return success();
    });
  } else {
    auto rows = cast<linalg_ext::ScatterRowsOp>(op);
    View view = makeView(rewriter, loc, mapScalar(rows.getView()), shape);
    unsigned dim = rows.getDim();
    view.hi[dim] = rewriter.getIndexAttr(shape[dim]);
    // Rows outermost, so that the last of equal ones wins; lanes where memory
    // is contiguous.
    llvm::stable_sort(order, [&](unsigned a, unsigned b) {
      auto rank = [&](unsigned d) {
        return d == dim ? 0 : constantOf(view.strides[d]) == 1 ? 2 : 1;
      };
      return rank(a) < rank(b);
    });
    own.lanes = order.back() == dim ? 1 : lanesFor(shape[order.back()]);
    result =
        inOrder(shape, order, loc, [&](ArrayRef<Index> at) -> LogicalResult {
          Indices row = {at[dim]};
          Value number = evaluate(rows.getRows(), row);
          Value mask =
              rows.getRowmask() ? evaluate(rows.getRowmask(), row) : Value();
          Value elements = evaluate(value, at);
          if (!number || !elements || (rows.getRowmask() && !mask))
            return failure();
          Indices to(at);
          to[dim].dim = -1;
          to[dim].base = arith::IndexCastOp::create(
              rewriter, loc, rewriter.getIndexType(), number);
          to[dim].level = own.levels.size() - 1;
          int laneDim = laneDimOf(to);
          bool contiguous =
              laneDim >= 0 && constantOf(view.strides[laneDim]) == 1;
          // What the branch needs is remembered before it opens.
          Value isAny;
          if (laneDim >= 0)
            isAny = isAnyInRow(view, laneDim, rowLimit(view, to, laneDim, loc),
                               loc);
          address(view, to, contiguous ? laneDim : -1, loc, isAny);
          if (!mask)
            return write(view, to, elements, loc);
          auto branch = scf::IfOp::create(rewriter, loc, mask, false);
          OpBuilder::InsertionGuard guard(rewriter);
          rewriter.setInsertionPoint(branch.thenBlock()->getTerminator());
          return write(view, to, elements, loc);
        });
  }
  frame = outer;
  return result;
}
