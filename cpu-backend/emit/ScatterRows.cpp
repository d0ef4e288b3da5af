//===- ScatterRows.cpp - rows that are stored at any places ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Rows are stored in their order, so that the last of equal ones wins. Of each
// whole vectors go up to its end, and one with a mask behind them: stores with
// masks take AMD's CPUs with AVX2 a dozen cycles.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/FunctionEmitter.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

namespace tilebridge::cpu {
class ScatterRows {
public:
  ScatterRows(FunctionEmitter &fe, linalg_ext::ScatterRowsOp op)
      : fe(fe), op(op), b(fe.builder()), loc(op.getLoc()),
        type(cast<RankedTensorType>(op.getValue().getType())),
        view(makeView(b, loc, fe.mapScalar(op.getView()), type.getShape())),
        dim(op.getDim()) {
    view.hi[dim] = b.getIndexAttr(type.getDimSize(dim));
  }

  LogicalResult emit();

private:
  LogicalResult emitRow(Indices at);
  LogicalResult emitElement(const Indices &at, const Indices &to, Value mask);
  LogicalResult emitLanes(Indices at, Indices to, Value mask);
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  FunctionEmitter &fe;
  linalg_ext::ScatterRowsOp op;
  OpBuilder &b;
  Location loc;
  RankedTensorType type;
  View view;
  /// That of the rows, and the one that lanes are along.
  unsigned dim, laneDim = 0;
  int64_t lanes = 1;
  Frame own;
};
} // namespace tilebridge::cpu

LogicalResult ScatterRows::emit() {
  ArrayRef<int64_t> shape = type.getShape();
  // Rows outermost; lanes where memory is contiguous.
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, shape.size()));
  llvm::stable_sort(order, [&](unsigned x, unsigned y) {
    auto rank = [&](unsigned d) {
      return d == dim ? 0 : constantOf(view.strides[d]) == 1 ? 2 : 1;
    };
    return rank(x) < rank(y);
  });
  laneDim = order.back();
  if (laneDim != dim)
    lanes = scatteredLanes(type, shape[laneDim], fe.target().vectorBits);
  if (lanes > 1)
    order.pop_back();
  own.open(b);
  Frame *outer = std::exchange(fe.frame, &own);
  LogicalResult result = fe.inOrder(shape, order, loc, [&](ArrayRef<Index> at) {
    return emitRow(Indices(at));
  });
  fe.frame = outer;
  return result;
}

LogicalResult ScatterRows::emitRow(Indices at) {
  Index row = at[dim];
  Value number = fe.evaluate(op.getRows(), row), mask;
  if (op.getRowmask())
    mask = fe.evaluate(op.getRowmask(), row);
  if (!number || (op.getRowmask() && !mask))
    return failure();
  Indices to = at;
  to[dim].dim = -1;
  to[dim].base = arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
  to[dim].level = own.levels.size() - 1;
  return lanes > 1 ? emitLanes(at, to, mask) : emitElement(at, to, mask);
}

LogicalResult ScatterRows::emitElement(const Indices &at, const Indices &to,
                                       Value mask) {
  Value element = fe.evaluate(op.getValue(), at);
  if (!element)
    return failure();
  if (!mask)
    return fe.write(view, to, element, loc);
  // What the branch needs is remembered before it opens.
  fe.address(view, to, -1, loc);
  auto branch = scf::IfOp::create(b, loc, mask, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  return fe.write(view, to, element, loc);
}

/// The row's elements, by vectors. A row that is masked off ends where it
/// begins.
LogicalResult ScatterRows::emitLanes(Indices at, Indices to, Value mask) {
  own.lanes = lanes;
  auto store = [&](const View &view, const Index &index) -> LogicalResult {
    at[laneDim] = to[laneDim] = index;
    Value elements = fe.evaluate(op.getValue(), at);
    return elements ? fe.write(view, to, elements, loc) : failure();
  };
  Value end = fe.rowLimit(view, to, laneDim, loc);
  bool isWhole = constantOf(end) == type.getDimSize(laneDim) && !mask;
  if (mask)
    end = arith::SelectOp::create(b, loc, mask, end, constant(0));
  Value whole =
      isWhole ? end : arith::AndIOp::create(b, loc, end, constant(-lanes));
  View inside = view;
  for (auto [low, high, size] :
       llvm::zip_equal(inside.lo, inside.hi, inside.shape)) {
    low = b.getIndexAttr(0);
    high = b.getIndexAttr(size);
  }
  unsigned levels = own.levels.size();
  {
    OpBuilder::InsertionGuard guard(b);
    Index index = own.openLoop(b, loc, laneDim, constant(0), whole, lanes,
                               /*hasLanes=*/true);
    if (failed(store(inside, index)))
      return failure();
  }
  own.levels.truncate(levels);
  if (isWhole)
    return success();
  Value isMore =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, whole, end);
  auto branch = scf::IfOp::create(b, loc, isMore, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  own.open(b);
  LogicalResult result =
      store(view, {whole, 1, levels, static_cast<int>(laneDim)});
  own.levels.truncate(levels);
  return result;
}

LogicalResult FunctionEmitter::emitScatterRows(Operation *op) {
  return ScatterRows(*this, cast<linalg_ext::ScatterRowsOp>(op)).emit();
}
