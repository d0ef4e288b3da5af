//===- MatmulKernel.cpp - the micro-kernel of a product -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The accumulator is cut into tiles of rows x vectors that live in registers
// while the innermost loop runs along K: a step loads the vectors of one row of
// a panel of b, and multiplies them with elements of one column of a, each
// broadcast. Instructions that add up two or four products in a lane take that
// many steps at once. The size of the code does not depend on that of the
// block.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Matmul.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge::cpu;

void MatmulKernel::multiply(Value lhs, Value rhs, Value acc, Value depth,
                            Allocate allocate, RowsInMemory rows, Value wanted,
                            Value isFirst, RowsInMemory right,
                            Value begin) const {
  if (!begin)
    begin = constant(0);
  now = {lhs, rhs, acc, begin, depth, {}, rows, wanted, isFirst, right};
  correctSums(depth, allocate);
  if (step > 1) {
    now.begin = arith::DivUIOp::create(b, begin, constant(step));
    now.steps = arith::DivUIOp::create(b, depth, constant(step));
  }
  if (usesTiles())
    configureTiles(allocate);
  if (isTall())
    emitParts();
  else
    emitPanels();
  if (usesTiles())
    releaseTiles();
}

void MatmulKernel::emitPanels() const {
  forPanels(b, n, tile.columns(), columnsEnd,
            [&](Value panel, Value column, int64_t width) {
              emitPanel(panel, column, width);
            });
}

/// `body` for every `step`th row that is wanted, up to `count`.
void MatmulKernel::forWantedRows(int64_t count, int64_t step,
                                 llvm::function_ref<void(Value)> body) const {
  if (!now.wanted || count == 0)
    return emitLoop(b, count, step, body);
  Value end = arith::MinSIOp::create(b, constant(count), now.wanted);
  auto loop = scf::ForOp::create(b, constant(0), end, constant(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

/// A panel of `width` columns, of which often only few are wanted: in the last
/// panel of a tensor's last block, or where columns are those of tokens that
/// are multiplied with weights from the right. Then tiles are one vector wide,
/// of which there are as many as it takes.
void MatmulKernel::emitPanel(Value panel, Value column, int64_t width) const {
  bool isOnly = n <= tile.columns();
  if (!columnsEnd || usesTiles() || width <= tile.lanes)
    return emitRows(panel, column, width);
  if (auto known = getConstantIntValue(columnsEnd); known && isOnly)
    return emitRows(panel, column,
                    std::clamp<int64_t>(llvm::alignTo(*known, tile.lanes),
                                        tile.lanes, width));
  // Rows of b that come from memory come in whole lines, one after the other.
  bool isPacked = !now.right.address;
  if (isOnly ? !settings.isInLoop : !isPacked)
    return emitRows(panel, column, width);
  int64_t most = isPacked ? width - tile.lanes : tile.lanes;
  Value left = arith::SubIOp::create(b, columnsEnd, column);
  auto branch = scf::IfOp::create(
      b,
      arith::CmpIOp::create(b, arith::CmpIPredicate::sle, left, constant(most)),
      /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  if (most == tile.lanes) {
    emitRows(panel, column, tile.lanes);
  } else {
    auto loop = scf::ForOp::create(b, constant(0), left, constant(tile.lanes));
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(loop.getBody());
    now.within = loop.getInductionVar();
    emitRows(panel, arith::AddIOp::create(b, column, now.within), tile.lanes);
    now.within = {};
  }
  b.setInsertionPointToStart(branch.elseBlock());
  emitRows(panel, column, width);
}

MatmulKernel::RowSplit MatmulKernel::splitRows(int64_t count) const {
  int64_t whole = count / tile.rows * tile.rows, rest = count - whole;
  // Two rows load as much of b as six: of 32, with six others they are two
  // tiles of four.
  bool isHalved = feedsTwoFmas() && count < 64 && whole > 0 && rest > 0 &&
                  2 * rest < tile.rows && (tile.rows + rest) % 2 == 0;
  if (isHalved) {
    whole -= tile.rows;
    rest = (tile.rows + rest) / 2;
  }
  return {whole, rest, isHalved};
}

/// A single row, as a token that is decoded has, has a tile of its own, where
/// that is likely enough to be worth the code.
bool MatmulKernel::hasTileOfOne() const {
  constexpr int64_t mostRows = 16;
  return !usesTiles() && tile.rows > 1 && (settings.isInLoop || m <= mostRows);
}

/// The rows of one panel, which has `width` columns: whole vectors, then one
/// that is narrower.
void MatmulKernel::emitRows(Value panel, Value column, int64_t width) const {
  SmallVector<int64_t> vectors(width / tile.lanes, tile.lanes);
  if (width % tile.lanes)
    vectors.push_back(width % tile.lanes);
  if (usesTiles())
    return forWantedRows(
        m, tile.rows, [&](Value row) { emitTilesOfRow(panel, column, row); });
  // A number of rows that is known is that of a smaller block.
  std::optional<int64_t> known;
  if (now.wanted)
    known = getConstantIntValue(now.wanted);
  int64_t count = known ? std::clamp<int64_t>(*known, 0, m) : m;
  auto [whole, rest, isHalved] = splitRows(count);
  auto emitAll = [&, whole = whole, rest = rest, isHalved = isHalved] {
    forWantedRows(whole, tile.rows, [&](Value row) {
      emitTile(panel, column, row, tile.rows, vectors);
    });
    if (whole == count)
      return;
    OpBuilder::InsertionGuard guard(b);
    if (isHalved) {
      Value end = constant(count);
      if (now.wanted)
        end = arith::MinSIOp::create(b, end, now.wanted);
      auto halves = scf::ForOp::create(b, constant(whole), end, constant(rest));
      b.setInsertionPointToStart(halves.getBody());
      return emitTile(panel, column, halves.getInductionVar(), rest, vectors);
    }
    if (now.wanted && !known) {
      Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt,
                                        now.wanted, constant(whole));
      auto rest = scf::IfOp::create(b, any, /*withElseRegion=*/false);
      b.setInsertionPointToStart(rest.thenBlock());
    }
    emitTile(panel, column, constant(whole), rest, vectors);
  };
  if (!now.wanted || known || !hasTileOfOne())
    return emitAll();
  Value isOne = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, now.wanted,
                                      constant(1));
  auto branch = scf::IfOp::create(b, isOne, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  emitTile(panel, column, constant(0), 1, vectors);
  b.setInsertionPointToStart(branch.elseBlock());
  emitAll();
}

/// Where numbers of b are too high: what is to be taken off the sums.
void MatmulKernel::correctSums(Value depth, Allocate allocate) const {
  if (unit != MatmulUnit::I8Quads)
    return;
  now.corrections = allocate(MemRefType::get({m}, sumElement));
  emitCorrections(depth);
}

/// What the numbers of b are too high adds 128 times the sum of each row of a;
/// that is taken off before. Behind the last step a row may have any values.
void MatmulKernel::emitCorrections(Value depth) const {
  int64_t bytes = settings.target.vectorBits / 8;
  while (unitDepth % bytes)
    bytes /= 2;
  auto sums = VectorType::get(bytes / 4, sumElement);
  auto numbers = VectorType::get(bytes, packedElement);
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(sums));
  Value none = arith::ConstantOp::create(b, b.getZeroAttr(numbers));
  Value offset = arith::ConstantOp::create(
      b, DenseElementsAttr::get(
             numbers, TypedAttr(b.getIntegerAttr(packedElement, -128))));
  Value length = arith::SubIOp::create(b, depth, now.begin),
        rest = arith::RemUIOp::create(b, length, constant(bytes)),
        whole = arith::SubIOp::create(b, depth, rest);
  RowsInMemory left = now.rows.address ? now.rows : rowsOf(b, now.lhs);
  // Several rows at once: that hides the time that one sum takes.
  int64_t rows = m % 4 == 0 ? 4 : 1;
  forWantedRows(m, rows, [&](Value first) {
    SmallVector<Value> rowAt, from;
    for (int64_t i = 0; i < rows; ++i) {
      rowAt.push_back(offsetBy(b, first, i));
      from.push_back(addressOfRow(left, lastWanted(rowAt.back())));
    }
    auto addSteps = [&](Value begin, Value end, ValueRange before,
                        llvm::function_ref<Value()> maskOf) {
      auto loop = scf::ForOp::create(b, begin, end, constant(bytes), before);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value mask = maskOf();
      SmallVector<Value> results;
      for (auto [address, sum] :
           llvm::zip_equal(from, loop.getRegionIterArgs()))
        results.push_back(addProducts(
            sum, loadRow(address, loop.getInductionVar(), numbers, mask, none),
            offset));
      scf::YieldOp::create(b, results);
      return loop.getResults();
    };
    ValueRange most = addSteps(now.begin, whole, SmallVector<Value>(rows, zero),
                               [] { return Value(); });
    // Once or never.
    ValueRange all = addSteps(whole, depth, most, [&]() -> Value {
      auto type = VectorType::get(bytes, b.getI1Type());
      return vector::CreateMaskOp::create(b, type, rest);
    });
    for (auto [row, result] : llvm::zip_equal(rowAt, all)) {
      Value sum =
          vector::ReductionOp::create(b, vector::CombiningKind::ADD, result);
      memref::StoreOp::create(b, sum, now.corrections, row);
    }
  });
}

/// What is added here is summed by itself first: rounding errors grow with the
/// number of steps in a chain, so that short ones are better than a long one.
/// It costs one more addition, where that is little.
bool MatmulKernel::addsLast() const {
  return unit == MatmulUnit::MultiplyAdd && isa<FloatType>(sumElement) &&
         accElement == sumElement && unitDepth >= 32;
}

/// Among so many chains of 32 steps the steps are dealt out in turn; 0: one
/// chain takes all steps. Short chains take 4 % (f32, Zen 4) to 12 % longer,
/// and what an operand's bits have lost is more than what long ones lose.
int64_t MatmulKernel::chainsInTurn() const {
  if (!addsLast() || !hasNarrowOperand || !settings.wantsShortChains ||
      unitDepth % chainSteps)
    return 0;
  int64_t most = 4;
  while (unitDepth % (most * chainSteps))
    most /= 2;
  return most;
}

void MatmulKernel::emitTile(Value panel, Value column, Value row, int64_t rows,
                            ArrayRef<int64_t> vectors) const {
  TilePlace place;
  place.panel = panel;
  place.vectors = vectors;
  for (int64_t i = 0; i < rows; ++i)
    place.rows.push_back(offsetBy(b, row, i));
  int64_t offset = 0;
  for (int64_t lanes : vectors) {
    place.columns.push_back(offsetBy(b, column, offset));
    offset += lanes;
  }
  place.left = place.rows;
  if (now.rows.address)
    for (Value &left : place.left)
      left = addressOfRow(now.rows, lastWanted(left));
  else if (isa<FloatType>(sumElement))
    for (Value &left : place.left)
      left = lastWanted(left);
  int64_t turns = chainsInTurn();
  if (turns == 0)
    return emitChain(place, now.begin, now.steps, 1);
  int64_t part = turns * chainSteps;
  OpBuilder::InsertionGuard guard(b);
  auto parts = scf::ForOp::create(b, now.begin, now.steps, constant(part));
  b.setInsertionPointToStart(parts.getBody());
  Value first = parts.getInductionVar(), end = offsetBy(b, first, part);
  emitLoop(b, turns, 1, [&](Value turn) {
    emitChain(place, arith::AddIOp::create(b, first, turn), end, turns);
  });
}

/// What `load` reads of the accumulator, or zeros where `isFirst` says that
/// nothing is there.
SmallVector<Value>
MatmulKernel::zeroOr(Value isFirst, ArrayRef<Type> types,
                     llvm::function_ref<SmallVector<Value>()> load) const {
  auto zeros = [&] {
    return llvm::map_to_vector(types, [&](Type type) -> Value {
      return arith::ConstantOp::create(b, b.getZeroAttr(type));
    });
  };
  if (!isFirst)
    return load();
  if (matchPattern(isFirst, m_One()))
    return zeros();
  auto branch = scf::IfOp::create(b, types, isFirst, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, zeros());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, load());
  return SmallVector<Value>(branch.getResults());
}

/// Adds the products of every `stride`th step from `begin` to `end`.
void MatmulKernel::emitChain(const TilePlace &place, Value begin, Value end,
                             int64_t stride) const {
  auto accumulator = [&](Value at, size_t v) {
    Value sum =
        vector::LoadOp::create(b, VectorType::get(place.vectors[v], accElement),
                               now.acc, ValueRange{at, place.columns[v]});
    return widenTo(b, sum, sumElement, settings.isUnsigned);
  };
  SmallVector<Type> types;
  for (size_t i = 0; i < place.rows.size(); ++i)
    for (int64_t lanes : place.vectors)
      types.push_back(VectorType::get(lanes, sumElement));
  bool isAddedLast = addsLast();
  Value isFirst = now.isFirst;
  auto load = [&] {
    SmallVector<Value> loaded;
    for (Value at : place.rows)
      for (size_t v = 0; v < place.vectors.size(); ++v)
        loaded.push_back(accumulator(at, v));
    return loaded;
  };
  SmallVector<Value> sums;
  if (isAddedLast)
    for (Type type : types)
      sums.push_back(arith::ConstantOp::create(b, b.getZeroAttr(type)));
  else
    sums = zeroOr(isFirst, types, load);
  if (now.corrections)
    for (auto [i, sum] : llvm::enumerate(sums))
      sum = arith::SubIOp::create(
          b, sum,
          vector::BroadcastOp::create(
              b, sum.getType(),
              memref::LoadOp::create(b, now.corrections,
                                     place.rows[i / place.vectors.size()])));
  // Only rows of b that lie in memory are taken in parts of unitDepth.
  bool asksAhead = feedsTwoFmas() && now.rows.address && !now.right.address &&
                   stride == 1 && unitDepth % lineSteps() == 0;
  scf::ForOp loop = asksAhead ? emitLines(place, begin, end, sums)
                              : emitSteps(place, begin, end, stride, sums);
  auto store = [&](ValueRange added) {
    size_t number = 0;
    for (Value at : place.rows)
      for (Value column : place.columns) {
        Value sum = loop.getResult(number);
        if (!added.empty())
          sum = arith::AddFOp::create(b, added[number], sum);
        ++number;
        if (sumElement != accElement)
          sum = arith::TruncFOp::create(
              b, cast<VectorType>(sum.getType()).clone(accElement), sum);
        OpBuilder &builder = b;
        vector::StoreOp::create(
            builder, sumsGoTo ? Location(storeLoc) : b.getLoc(), sum,
            sumsGoTo ? sumsGoTo : now.acc, ValueRange{at, column});
      }
  };
  if (!isAddedLast || (isFirst && matchPattern(isFirst, m_One())))
    return store({});
  if (!isFirst)
    return store(load());
  auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  store({});
  b.setInsertionPointToStart(branch.elseBlock());
  store(load());
}
