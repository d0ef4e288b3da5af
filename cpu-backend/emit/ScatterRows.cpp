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
#include "cpu-backend/emit/RowRun.h"
#include "cpu-backend/emit/TransposeSquare.h"
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
  bool canTranspose() const;
  LogicalResult emitRuns();
  LogicalResult emitRun(const RowRun &run, const Index &rows, Value mask);
  bool liesAlongRows();
  LogicalResult emitColumns(const RowRun &run, const Index &rows, Value mask);
  void storeColumns(ArrayRef<Value> square, Value start, const Index &columns,
                    Value mask);
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
  /// Of the squares that are transposed, and where their rows are put before.
  int64_t side = 1;
  Value square;
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
  int64_t bits = type.getElementTypeBitWidth();
  if (bits % 8 == 0 && shape.size() == 2)
    side = std::min({lanesAlong(shape[0], 16), lanesAlong(shape[1], 16),
                     fe.target().vectorBits / bits});
  if (laneDim != dim)
    lanes = scatteredLanes(type, shape[laneDim], fe.target().vectorBits);
  if (lanes > 1)
    order.pop_back();
  own.open(b);
  Frame *outer = std::exchange(fe.frame, &own);
  LogicalResult result =
      canTranspose() ? emitRuns()
                     : fe.inOrder(shape, order, loc, [&](ArrayRef<Index> at) {
                         return emitRow(Indices(at));
                       });
  fe.frame = outer;
  return result;
}

/// Rows of one element each, the places of which most likely follow one
/// another, such as the pixels of a picture; what is stored is known along the
/// other dimension.
bool ScatterRows::canTranspose() const {
  if (type.getRank() != 2 || dim != 0 || laneDim != 1 || side < 4)
    return false;
  return constantOf(view.strides[0]) == 1 && constantOf(view.strides[1]) != 1;
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

/// Squares of rows that follow one another are transposed; others are stored
/// row by row.
LogicalResult ScatterRows::emitRuns() {
  OpBuilder::InsertionGuard guard(b);
  bool isAlongRows = liesAlongRows();
  if (!isAlongRows)
    square = fe.allocate(MemRefType::get({side, side}, view.elementType()));
  own.lanes = side;
  Index rows = own.openLoop(b, loc, 0, constant(0),
                            constant(type.getDimSize(0)), side, true);
  Value numbers = fe.evaluate(op.getRows(), rows), mask;
  if (op.getRowmask())
    mask = fe.evaluate(op.getRowmask(), rows);
  if (!numbers || (op.getRowmask() && !mask))
    return failure();
  numbers = fe.toLanes(numbers, side);
  mask = fe.toLanes(mask, side);
  ImplicitLocOpBuilder at(loc, b);
  RowRun run(at, numbers, mask);
  auto branch = scf::IfOp::create(b, loc, run.isRun, /*withElseRegion=*/true);
  unsigned levels = own.levels.size();
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  own.open(b);
  if (failed(isAlongRows ? emitColumns(run, rows, mask)
                         : emitRun(run, rows, mask)))
    return failure();
  own.levels.truncate(levels);
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  own.open(b);
  Value end = arith::AddIOp::create(b, loc, rows.base, constant(side));
  own.lanes = 1;
  Index row = own.openLoop(b, loc, 0, rows.base, end, 1, false);
  Indices all = {row, Index()};
  if (lanes == 1)
    all[1] = own.openLoop(b, loc, 1, constant(0), constant(type.getDimSize(1)),
                          1, false);
  return emitRow(all);
}

/// What is stored lies in memory along the rows, as the sums of a transposed
/// product do.
bool ScatterRows::liesAlongRows() {
  bool isAlong = false, isAcross = false;
  fe.walkCone(op.getValue(), ownIndices(2), nullptr,
              [&](Value value, ArrayRef<Index> at) {
                const View *view = fe.viewIfInMemory(value);
                if (!view || at.size() != 2)
                  return true;
                for (auto [d, index] : llvm::enumerate(at))
                  if (constantOf(view->strides[d]) == 1)
                    (index.dim == 0 ? isAlong : isAcross) = true;
                return true;
              });
  return isAlong && !isAcross;
}

/// Vectors along the rows, column by column.
LogicalResult ScatterRows::emitColumns(const RowRun &run, const Index &rows,
                                       Value mask) {
  auto emitAll = [&](Value exists) -> LogicalResult {
    unsigned levels = own.levels.size();
    own.open(b);
    Index at = rows;
    at.level = levels;
    Index column = own.openLoop(b, loc, 1, constant(0),
                                toValue(b, loc, view.hi[1]), 1, false);
    Value value = fe.evaluate(op.getValue(), {at, column});
    if (value)
      storeColumns({fe.toLanes(value, side)}, run.start, column, exists);
    own.levels.truncate(levels);
    return success(value != nullptr);
  };
  if (!mask)
    return emitAll({});
  auto branch = scf::IfOp::create(b, loc, run.isWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  if (failed(emitAll({})))
    return failure();
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  return emitAll(mask);
}

LogicalResult ScatterRows::emitRun(const RowRun &run, const Index &rows,
                                   Value mask) {
  Index columns =
      own.openLoop(b, loc, 1, constant(0), toValue(b, loc, view.hi[1]), side,
                   /*hasLanes=*/true);
  unsigned levels = own.levels.size();
  Index row = own.openLoop(b, loc, 0, constant(0), constant(side), 1, false);
  Index at = row;
  at.base = arith::AddIOp::create(b, loc, rows.base, row.base);
  Value value = fe.evaluate(op.getValue(), {at, columns});
  if (!value)
    return failure();
  vector::StoreOp::create(b, loc, fe.toLanes(value, side), square,
                          ValueRange{row.base, constant(0)});
  Operation *loop = row.base.getParentBlock()->getParentOp();
  own.levels.truncate(levels);
  b.setInsertionPointAfter(loop);
  SmallVector<Value> vectors;
  auto vector = VectorType::get(side, view.elementType());
  for (int64_t i = 0; i < side; ++i)
    vectors.push_back(vector::LoadOp::create(
        b, loc, vector, square, ValueRange{constant(i), constant(0)}));
  vectors = transposeSquare(b, loc, vectors);
  Value isPlain = mask ? run.isWhole : Value();
  if (!view.isFull(1)) {
    Value left = arith::SubIOp::create(b, loc, toValue(b, loc, view.hi[1]),
                                       columns.base),
          isInside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                           left, constant(side));
    isPlain = isPlain
                  ? arith::AndIOp::create(b, loc, isPlain, isInside).getResult()
                  : isInside;
  }
  if (!isPlain)
    return storeColumns(vectors, run.start, columns, {}), success();
  auto branch = scf::IfOp::create(b, loc, isPlain, /*withElseRegion=*/true);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  storeColumns(vectors, run.start, columns, {});
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  storeColumns(vectors, run.start, columns,
               mask ? mask : allLanes(b, loc, side));
  return success();
}

/// Columns of the square, those of the box alone if there is a mask.
void ScatterRows::storeColumns(ArrayRef<Value> square, Value start,
                               const Index &columns, Value mask) {
  Value first =
      arith::AddIOp::create(b, loc, toValue(b, loc, view.offset), start);
  for (auto [i, vector] : llvm::enumerate(square)) {
    Value column = arith::AddIOp::create(b, loc, columns.base, constant(i));
    Value place = arith::AddIOp::create(
        b, loc, first,
        arith::MulIOp::create(b, loc, column,
                              toValue(b, loc, view.strides[1])));
    if (!mask) {
      // Of a square as many columns come next.
      ImplicitLocOpBuilder at(loc, b);
      if (square.size() == 1)
        askForNextLine(at, view, place, /*isWrite=*/true);
      vector::StoreOp::create(b, loc, vector, view.base, place);
      continue;
    }
    Value exists = mask;
    if (!view.isFull(1)) {
      Value isInside =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, column,
                                toValue(b, loc, view.hi[1]));
      exists = arith::AndIOp::create(
          b, loc, mask,
          vector::BroadcastOp::create(b, loc, mask.getType(), isInside));
      place = arith::SelectOp::create(b, loc, isInside, place, constant(0));
    }
    vector::MaskedStoreOp::create(b, loc, view.base, place, exists, vector);
  }
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
