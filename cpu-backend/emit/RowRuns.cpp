//===- RowRuns.cpp - gathered rows of one element ---------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The pixels of an image that a convolution reads are such rows: their places
// are computed by divisions, yet most follow one another in memory, and the
// channels of a pixel lie far apart. Lanes along the channels would gather each
// element. Instead rows that follow one another are read by vectors, a square
// of them is transposed in registers, and the nest reads the copy. Whether they
// do the program asks, for each vector of rows.
//===----------------------------------------------------------------------===//

#include "cpu-backend/DecisionRemark.h"
#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/Matmul.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/RowRun.h"
#include "cpu-backend/emit/TransposeSquare.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

FailureOr<RowLanes> RowLanes::of(FunctionEmitter &fe, const View &view,
                                 ArrayRef<Index> at, int64_t lanes) {
  Value numbers = fe.evaluate(view.rows, at), mask;
  if (view.rowMask)
    mask = fe.evaluate(view.rowMask, at);
  if (!numbers || (view.rowMask && !mask))
    return failure();
  return RowLanes{fe.toLanes(numbers, lanes), fe.toLanes(mask, lanes)};
}

RowRun::RowRun(ImplicitLocOpBuilder &b, Value numbers, Value mask,
               int64_t step) {
  auto steps = cast<VectorType>(numbers.getType());
  auto broadcast = [&](Value value) -> Value {
    return vector::BroadcastOp::create(b, steps, value);
  };
  auto all = [&](Value lanes) -> Value {
    return vector::ReductionOp::create(b, vector::CombiningKind::AND, lanes);
  };
  Value count = numbersFrom0(b, b.getLoc(), steps);
  if (step != 1)
    count = arith::MulIOp::create(
        b, count,
        broadcast(arith::ConstantIntOp::create(b, step, 64).getResult()));
  // Where the first row would lie, by each of them.
  Value starts = arith::SubIOp::create(b, numbers, count);
  if (mask) {
    Value none = arith::ConstantIntOp::create(
        b, std::numeric_limits<int64_t>::max(), 64);
    Value known = arith::SelectOp::create(b, mask, starts, broadcast(none));
    start = vector::ReductionOp::create(b, vector::CombiningKind::MINSI, known);
    // If there is none, the first row stands for them: loads of which all
    // lanes are off are slow where there is no memory.
    isNone = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, start, none);
    start = arith::SelectOp::create(
        b, isNone, arith::ConstantIntOp::create(b, 0, 64), start);
    Value isSame = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, starts,
                                         broadcast(start));
    Value isOpen = arith::XOrIOp::create(
        b, mask, allLanes(b, b.getLoc(), steps.getDimSize(0)));
    isRun = all(arith::OrIOp::create(b, isSame, isOpen));
    isWhole = all(mask);
  } else {
    start = vector::ExtractOp::create(b, starts, ArrayRef<int64_t>{0});
    isRun = all(arith::CmpIOp::create(b, arith::CmpIPredicate::eq, starts,
                                      broadcast(start)));
  }
  start = arith::IndexCastOp::create(b, b.getIndexType(), start);
}

namespace {
/// Copies some rows of a view, which has them along `rowDim`, to scratch memory
/// that is contiguous along the other dimension.
class RunCopy {
public:
  RunCopy(OpBuilder &builder, const View &from, const View &to, Value first,
          Value numbers, Value mask, Value pad, Location loc,
          ConvertRow convert = {})
      : b(loc, builder), from(from), to(to), first(first), numbers(numbers),
        mask(mask), pad(pad), rowDim(from.rowDim), columnDim(1 - rowDim),
        side(cast<VectorType>(numbers.getType()).getDimSize(0)),
        type(VectorType::get({side}, from.elementType())),
        maskType(VectorType::get({side}, b.getI1Type())),
        stride(toValue(b, loc, from.strides[columnDim])), convert(convert) {}

  void emit() {
    RowRun run(b, numbers, mask);
    auto branch = scf::IfOp::create(b, run.isRun, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    forColumns(
        [&](Value column) { copySquare(run.start, run.isWhole, column); });
    b.setInsertionPointToStart(branch.elseBlock());
    emitLoop(b, side, 1, [&](Value row) { copyRow(row); });
  }

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value asIndex(Value value) {
    return arith::IndexCastOp::create(b, b.getIndexType(), value);
  }
  Value plus(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value times(Value x, Value y) { return arith::MulIOp::create(b, x, y); }
  Value broadcast(VectorType type, Value value) {
    return vector::BroadcastOp::create(b, type, value);
  }
  Value all(Value lanes) {
    return vector::ReductionOp::create(b, vector::CombiningKind::AND, lanes);
  }

  void forColumns(llvm::function_ref<void(Value)> body) {
    emitLoop(b, from.shape[columnDim], side, body);
  }

  /// Whether the columns from `column` on are in the box; null: all are.
  Value columnMask(Value column) {
    if (from.isFull(columnDim))
      return {};
    auto below = [&](OpFoldResult bound) -> Value {
      Value left =
          arith::SubIOp::create(b, toValue(b, b.getLoc(), bound), column);
      return vector::CreateMaskOp::create(b, maskType, ValueRange{left});
    };
    Value inside = below(from.hi[columnDim]);
    if (constantOf(from.lo[columnDim]) == 0)
      return inside;
    Value outside = arith::XOrIOp::create(b, below(from.lo[columnDim]),
                                          allLanes(b, b.getLoc(), side));
    return arith::AndIOp::create(b, inside, outside);
  }

  /// The element of row number `row` of memory and column `column`.
  Value placeOf(Value row, Value column) {
    Value offset = toValue(b, b.getLoc(), from.offset);
    return plus(plus(offset, row), times(column, stride));
  }

  void store(Value value, Value row, Value column) {
    Value at =
        times(plus(first, row), toValue(b, b.getLoc(), to.strides[rowDim]));
    at = plus(at, toValue(b, b.getLoc(), to.offset));
    if (convert)
      value = convert(b, value);
    vector::StoreOp::create(b, value, to.base, plus(at, column));
  }

  /// The vectors of `side` columns, each of `side` rows that follow one another
  /// from `start` on.
  void copySquare(Value start, Value isWhole, Value column) {
    SmallVector<Value> places;
    for (int64_t i = 0; i < side; ++i)
      places.push_back(placeOf(start, offsetBy(b, column, i)));
    auto loadAll = [&] {
      return llvm::map_to_vector(places, [&](Value place) -> Value {
        return vector::LoadOp::create(b, type, from.base, place);
      });
    };
    Value columns = columnMask(column);
    if (columns) {
      Value inside = all(columns);
      isWhole = isWhole ? arith::AndIOp::create(b, isWhole, inside) : inside;
    }
    SmallVector<Value> square;
    if (!isWhole) {
      square = loadAll();
    } else {
      SmallVector<Type> types(side, type);
      auto branch = scf::IfOp::create(b, types, isWhole, true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(branch.thenBlock());
      scf::YieldOp::create(b, loadAll());
      b.setInsertionPointToEnd(branch.elseBlock());
      for (auto [i, place] : llvm::enumerate(places)) {
        Value exists = mask;
        if (columns) {
          Value isColumn = vector::ExtractOp::create(
              b, columns, ArrayRef{static_cast<int64_t>(i)});
          Value inside = broadcast(maskType, isColumn);
          exists = mask ? arith::AndIOp::create(b, mask, inside) : inside;
          place = arith::SelectOp::create(b, isColumn, place, constant(0));
        }
        square.push_back(vector::MaskedLoadOp::create(b, type, from.base, place,
                                                      exists, pad));
      }
      scf::YieldOp::create(b, square);
      square = SmallVector<Value>(branch.getResults());
    }
    square = transposeSquare(b, b.getLoc(), square);
    for (auto [i, value] : llvm::enumerate(square))
      store(value, constant(static_cast<int64_t>(i)), column);
  }

  /// Element by element.
  void copyRow(Value row) {
    Value number = vector::ExtractOp::create(b, numbers, row), exists;
    if (mask)
      exists = vector::ExtractOp::create(b, mask, row);
    auto steps = cast<VectorType>(numbers.getType());
    Value count = numbersFrom0(b, b.getLoc(), steps);
    Value step = arith::IndexCastOp::create(b, b.getI64Type(), stride);
    Value offsets = times(count, broadcast(steps, step));
    number = asIndex(number);
    forColumns([&](Value column) {
      Value columns = columnMask(column);
      Value lanes = columns ? columns : allLanes(b, b.getLoc(), side);
      if (exists)
        lanes = arith::AndIOp::create(b, lanes, broadcast(maskType, exists));
      Value value = vector::GatherOp::create(
          b, type, from.base, ValueRange{placeOf(number, column)}, offsets,
          lanes, pad);
      store(value, row, column);
    });
  }

  ImplicitLocOpBuilder b;
  const View &from, &to;
  Value first, numbers, mask, pad;
  unsigned rowDim, columnDim;
  int64_t side;
  VectorType type, maskType;
  Value stride;
  ConvertRow convert;
};
} // namespace

void tilebridge::cpu::copyRun(OpBuilder &builder, const View &from,
                              const View &to, Value first, Value numbers,
                              Value mask, Value pad, Location loc,
                              ConvertRow convert) {
  RunCopy(builder, from, to, first, numbers, mask, pad, loc, convert).emit();
}

/// The side of the squares in which gathered rows of one element are copied, if
/// the nest has its lanes across them.
std::optional<int64_t> NestEmitter::findRowRuns(const View &view,
                                                ArrayRef<Index> at) {
  if (view.rowDim < 0 || at.size() != 2 || view.shape.size() != 2 ||
      view.other || view.isBool)
    return std::nullopt;
  unsigned columnDim = 1 - view.rowDim;
  auto stride = constantOf(view.strides[columnDim]);
  if (at[columnDim].dim != frame.vecDim || stride == 1 || stride == 0 ||
      constantOf(view.strides[view.rowDim]) != 1)
    return std::nullopt;
  for (auto [d, index] : llvm::enumerate(at))
    if (index.dim < 0 || view.shape[d] != nest.shape[index.dim])
      return std::nullopt;
  int64_t bits = view.elementType().getIntOrFloatBitWidth();
  int64_t most = fe.target().vectorBits >= 512 ? 16 : 8;
  int64_t side = std::min(
      {lanesAlong(view.shape[0], most), lanesAlong(view.shape[1], most),
       std::max<int64_t>(fe.target().vectorBits / bits, 1)});
  constexpr int64_t mostBytes = 1 << 20;
  if (side < 4 || bits % 8 != 0 || bytesOf(view) > mostBytes)
    return std::nullopt;
  return side;
}

/// A copy of gathered rows, contiguous along the nest's lanes.
LogicalResult NestEmitter::stageRowRuns(Value value, const View &view,
                                        int64_t side) {
  View model = view;
  for (unsigned d = 0; d < 2; ++d)
    model.strides[d] =
        b.getIndexAttr(static_cast<int>(d) == view.rowDim ? 2 : 1);
  View scratch = fe.scratchLike(model, loc);
  Value pad =
      view.pad ? fe.mapScalar(view.pad) : fe.zeroOf(view.elementType(), loc);
  if (!pad || failed(fe.copyRowRuns(view, scratch, side, pad, loc)))
    return failure();
  Decision(value.getLoc(), "transposed")
      .fact("side", side)
      .report("gathered rows of one element, used along " +
              Twine(1 - view.rowDim) +
              ": those that follow one another are copied first, in squares "
              "of " +
              Twine(side) + "x" + Twine(side) + " in registers");
  fe.staged[value] = std::make_unique<View>(std::move(scratch));
  return success();
}

LogicalResult FunctionEmitter::copyRowRuns(const View &view, const View &to,
                                           int64_t side, Value pad,
                                           Location loc) {
  Frame own;
  own.open(rewriter);
  own.lanes = side;
  pad = toLanes(pad, side);
  Frame *outer = std::exchange(frame, &own);
  LogicalResult result =
      inOrder({view.shape[view.rowDim]}, {0}, loc, [&](ArrayRef<Index> at) {
        FailureOr<RowLanes> rows = RowLanes::of(*this, view, at, side);
        if (failed(rows))
          return failure();
        RunCopy(rewriter, view, to, at[0].base, rows->numbers, rows->mask, pad,
                loc)
            .emit();
        return success();
      });
  frame = outer;
  return result;
}
