//===- MatmulGatheredPairs.cpp - pairs of channels of gathered pixels ------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Gathered rows of single elements of 16 bits as panels of a right operand:
// pixels of one channel are loaded side by side, and put beside those of the
// next channel by a shift. With a stride of 2 they are words in memory already,
// the lower halves of which are wanted.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/DeepMatmul.h"
#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/RowRun.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

namespace tilebridge::cpu {
class GatheredPairs {
public:
  GatheredPairs(FunctionEmitter &fe, const DeepMatmul &product,
                const View &view, Value pad, Value elementMask)
      : fe(fe), product(product), b(product.op->getLoc(), fe.builder()),
        view(view), pad(pad), elementMask(elementMask),
        panelColumns(columnsOf(product)),
        lanes(std::min(lanesAlong(view.shape[0], mostLanes),
                       lanesAlong(panelColumns, mostLanes))),
        type(VectorType::get({lanes}, view.elementType())),
        words(VectorType::get({lanes}, b.getI32Type())),
        halves(VectorType::get({2 * lanes}, b.getI16Type())) {}

  LogicalResult emit();

private:
  /// Those of a vector of words.
  static constexpr int64_t mostLanes = 16;

  static int64_t columnsOf(const DeepMatmul &product) {
    return cast<MemRefType>(product.lhs.getType()).getDimSize(2) / 2;
  }
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value at(OpFoldResult value) { return toValue(b, b.getLoc(), value); }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, predicate, x, y);
  }
  Value all(Value condition, VectorType type) {
    return vector::BroadcastOp::create(b, type.clone(b.getI1Type()), condition);
  }

  /// Elements of a column as the lower halves of words.
  Value asWords(Value value) {
    Value bits =
        vector::BitCastOp::create(b, type.clone(b.getI16Type()), value);
    return arith::ExtUIOp::create(b, words, bits);
  }
  void storePair(Value lower, Value upper, Value column);
  void forPairs(llvm::function_ref<Value(Value)> load);
  Value loadSome(VectorType type, Value first, Value column, Value mask,
                 Value others);
  void copy(Value start, Value mask);
  void copyEveryOther(Value start, Value mask);
  void gather(Value numbers, Value mask);
  LogicalResult emitRows(const Index &index);
  LogicalResult emitMasked(const Index &index);
  void choose(const RowRun &run, Value numbers, Value mask);

  FunctionEmitter &fe;
  const DeepMatmul &product;
  ImplicitLocOpBuilder b;
  const View &view;
  /// Of the old function: what elements are that are not there (null: 0), and a
  /// mask of rows that follow one another (null: `view` says where rows are).
  Value pad, elementMask;
  int64_t panelColumns, lanes;
  VectorType type, words, halves;
  /// What elements are that are not there; the first row; whether columns are
  /// asked whether they are there.
  Value others, row;
  bool asksColumns = false;
};
} // namespace tilebridge::cpu

/// A column and the next one, as words.
void GatheredPairs::storePair(Value lower, Value upper, Value column) {
  Value half = arith::ConstantOp::create(
      b, DenseElementsAttr::get(words, TypedAttr(b.getI32IntegerAttr(16))));
  Value pairs =
      arith::OrIOp::create(b, lower, arith::ShLIOp::create(b, upper, half));
  Value columns = constant(panelColumns), two = constant(2),
        panel = arith::DivUIOp::create(b, row, columns),
        lane = arith::RemUIOp::create(b, row, columns),
        depth = arith::AddIOp::create(b, product.filled, column);
  vector::StoreOp::create(
      b, vector::BitCastOp::create(b, halves, pairs), product.lhs,
      ValueRange{panel, arith::DivUIOp::create(b, depth, two),
                 arith::MulIOp::create(b, lane, two)});
}

/// `load` gives a column, as words.
void GatheredPairs::forPairs(llvm::function_ref<Value(Value)> load) {
  auto loop =
      scf::ForOp::create(b, constant(0), at(product.ownEnd(b)), constant(2));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value column = loop.getInductionVar(), lower = load(column),
        upper = load(offsetBy(b, column, 1));
  storePair(lower, upper, column);
}

/// Neighbours of a column; `mask`: null if all of them are there, and columns
/// need not be asked.
Value GatheredPairs::loadSome(VectorType type, Value first, Value column,
                              Value mask, Value others) {
  Value place = arith::AddIOp::create(
      b, first, arith::MulIOp::create(b, column, at(view.strides[1])));
  if (asksColumns) {
    Value exists =
        both(compare(arith::CmpIPredicate::sge, column, at(view.lo[1])),
             compare(arith::CmpIPredicate::slt, column, at(view.hi[1])));
    Value inside = all(exists, type);
    mask = mask ? both(mask, inside) : inside;
    place = arith::SelectOp::create(b, exists, place, constant(0));
  }
  if (mask)
    return vector::MaskedLoadOp::create(b, type, view.base, place, mask,
                                        others);
  askForNextLine(b, view, place, /*isWrite=*/false);
  return vector::LoadOp::create(b, type, view.base, place);
}

/// Rows that follow one another from `start` on.
void GatheredPairs::copy(Value start, Value mask) {
  Value first = arith::AddIOp::create(b, at(view.offset), start);
  forPairs([&](Value column) {
    return asWords(loadSome(type, first, column, mask, others));
  });
}

/// Every other one of such rows, as a stride of 2 has them: the lower halves of
/// words as they are in memory. The last one's upper half need not exist.
void GatheredPairs::copyEveryOther(Value start, Value mask) {
  Value first = arith::AddIOp::create(b, at(view.offset), start);
  auto wide = VectorType::get({2 * lanes}, view.elementType());
  Value wideOthers = vector::BitCastOp::create(b, wide, asWords(others));
  Value on = mask ? mask : allLanes(b, b.getLoc(), lanes);
  on = vector::BitCastOp::create(b, halves,
                                 arith::ExtUIOp::create(b, words, on));
  on = compare(arith::CmpIPredicate::ne, on,
               arith::ConstantOp::create(b, b.getZeroAttr(halves)));
  forPairs([&](Value column) -> Value {
    return vector::BitCastOp::create(
        b, words, loadSome(wide, first, column, on, wideOthers));
  });
}

void GatheredPairs::gather(Value numbers, Value mask) {
  Value first = at(view.offset);
  if (!mask)
    mask = allLanes(b, b.getLoc(), lanes);
  forPairs([&](Value column) {
    Value place = arith::AddIOp::create(
              b, first, arith::MulIOp::create(b, column, at(view.strides[1]))),
          on = mask;
    if (asksColumns)
      on = both(
          mask,
          all(both(compare(arith::CmpIPredicate::sge, column, at(view.lo[1])),
                   compare(arith::CmpIPredicate::slt, column, at(view.hi[1]))),
              type));
    return asWords(vector::GatherOp::create(b, type, view.base, place, numbers,
                                            on, others));
  });
}

void GatheredPairs::choose(const RowRun &run, Value numbers, Value mask) {
  bool hasAllColumns = view.isFull(1);
  auto withColumns = [&](llvm::function_ref<void()> body) {
    asksColumns = !hasAllColumns;
    body();
    asksColumns = false;
  };
  auto apart = [&] {
    RowRun everyOther(b, numbers, mask, 2);
    emitChoice(
        b, everyOther.isRun,
        [&] { withColumns([&] { copyEveryOther(everyOther.start, mask); }); },
        [&] { withColumns([&] { gather(numbers, mask); }); });
  };
  auto some = [&] {
    emitChoice(
        b, run.isRun, [&] { withColumns([&] { copy(run.start, mask); }); },
        apart);
  };
  // Rows above and below a picture are all missing.
  auto notAll = [&] {
    if (!mask)
      return some();
    emitChoice(
        b, run.isNone,
        [&] { forPairs([&](Value) { return asWords(others); }); }, some);
  };
  Value isPlain = run.isRun;
  if (mask)
    isPlain = both(isPlain, run.isWhole);
  if (!hasAllColumns)
    isPlain = both(
        isPlain,
        both(compare(arith::CmpIPredicate::sle, at(view.lo[1]), constant(0)),
             compare(arith::CmpIPredicate::sge, at(view.hi[1]),
                     constant(view.shape[1]))));
  bool isAlwaysThere = !mask && hasAllColumns;
  emitChoice(
      b, isPlain, [&] { copy(run.start, {}); },
      [&] { isAlwaysThere ? apart() : notAll(); });
}

LogicalResult GatheredPairs::emitRows(const Index &index) {
  FailureOr<RowLanes> rows = RowLanes::of(fe, view, index, lanes);
  if (failed(rows))
    return failure();
  b.setInsertionPoint(fe.builder().getInsertionBlock(),
                      fe.builder().getInsertionPoint());
  choose(RowRun(b, rows->numbers, rows->mask), rows->numbers, rows->mask);
  return success();
}

/// Rows that follow one another, with a mask by element.
LogicalResult GatheredPairs::emitMasked(const Index &index) {
  OpBuilder &builder = fe.builder();
  Index column = fe.frame->openLoop(builder, b.getLoc(), 1, constant(0),
                                    at(product.ownEnd(b)), 2, false);
  Value masks[2];
  for (int64_t i : {0, 1}) {
    Index at = column;
    b.setInsertionPoint(builder.getInsertionBlock(),
                        builder.getInsertionPoint());
    at.base = offsetBy(b, column.base, i);
    masks[i] = fe.evaluate(elementMask, {index, at});
    if (!masks[i])
      return failure();
  }
  b.setInsertionPoint(builder.getInsertionBlock(), builder.getInsertionPoint());
  Value first = arith::AddIOp::create(b, at(view.offset), row), parts[2];
  for (int64_t i : {0, 1})
    parts[i] = asWords(loadSome(type, first, offsetBy(b, column.base, i),
                                fe.toLanes(masks[i], lanes), others));
  storePair(parts[0], parts[1], column.base);
  return success();
}

LogicalResult GatheredPairs::emit() {
  OpBuilder &builder = fe.builder();
  OpBuilder::InsertionGuard guard(builder);
  others = pad ? fe.mapScalar(pad) : fe.zeroOf(view.elementType(), b.getLoc());
  if (!others)
    return failure();
  others = fe.toLanes(others, lanes);
  Frame own;
  own.open(builder);
  own.lanes = lanes;
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, b.getLoc(), value);
  };
  Index rows = own.openLoop(builder, b.getLoc(), 0, index(0),
                            index(view.shape[0]), lanes, true);
  row = rows.base;
  Frame *outer = std::exchange(fe.frame, &own);
  LogicalResult result = elementMask ? emitMasked(rows) : emitRows(rows);
  fe.frame = outer;
  return result;
}

LogicalResult tilebridge::cpu::packGatheredPairs(FunctionEmitter &fe,
                                                 const DeepMatmul &product,
                                                 const View &view, Value pad,
                                                 Value elementMask) {
  return GatheredPairs(fe, product, view, pad, elementMask).emit();
}
