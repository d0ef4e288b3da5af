//===- MatmulColumns.cpp - few rows with contiguous columns of b ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Weights are often the transpose of what is multiplied, and so are the keys of
// an attention: what is contiguous runs along K. To transpose a block of b
// takes several instructions for each vector, which only many rows are worth.
// Few rows are multiplied with the columns where they lie: lanes run along K,
// and the lanes of several columns are added up in one tree. A loop that adds
// such products up leaves both operands where they are for many iterations,
// after which one tree does for all of them.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Matmul.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Columns whose addresses are in registers at once.
static constexpr int64_t mostColumns = 8;

int64_t MatmulKernel::lanesOfSums() const {
  return settings.target.vectorBits / sumElement.getIntOrFloatBitWidth();
}

int64_t MatmulKernel::columnsAtOnce() const {
  return std::min(mostColumns, lanesOfSums());
}

/// What is converted is that for each row again, and packed only once.
static constexpr int64_t fewRows = 4, fewWithColumns = 8;
/// The same of columns that go on, whose lanes are added up once for many
/// vectors.
static constexpr int64_t manyWithColumns = 64;
/// Rows for which a column is read once, of few ones and of more. Four rows and
/// four columns, often at distances of a power of two, have places in the
/// nearest cache, whose sets hold 8 lines.
static constexpr int64_t rowsTogether = 2, moreTogether = 4,
                         columnsTogether = 4;
/// Of larger blocks there are hardly ever few rows; but those of a mixture of
/// experts, which loops add up, are padded, and so are a linear layer's.
static constexpr int64_t mostRows = 16, mostInLoop = 256;

bool MatmulKernel::isCheap(Type element) const {
  if (unit == MatmulUnit::Bf16Pairs)
    return element.isBF16() ||
           (isHalvedAtOnce(element) && unitDepth % lanesOfLookup == 0);
  if (unit == MatmulUnit::I8Quads)
    return true;
  return unit == MatmulUnit::MultiplyAdd &&
         (element == packedElement ||
          (packedElement.isF32() &&
           (element.isBF16() || element.isF16() || element.isInteger(8))));
}

int64_t MatmulKernel::rowsWithRows() const {
  bool isPossible = group == 1 && m <= mostRows && isCheap(rhsElement);
  return isPossible ? std::min(m - 1, fewRows) : 0;
}

bool MatmulKernel::convertsColumns() const {
  return unit == MatmulUnit::I8Quads || isHalvedAtOnce(rhsElement) ||
         (group == 1 && rhsElement != packedElement);
}

int64_t MatmulKernel::rowsWithColumns(bool waits, bool isInPlace) const {
  if (m > (settings.isInLoop ? mostInLoop : mostRows))
    return 0;
  if (usesTiles())
    return rowsBesideTiles(waits, isInPlace);
  if (!isCheap(rhsElement) || lanesOfSums() < 2 || n % columnsAtOnce() != 0 ||
      unitDepth % (group * lanesOfSums()) != 0)
    return 0;
  if (isHalvedAtOnce(rhsElement))
    return std::min(m, waits ? fewWithColumns : rowsTogether);
  if (waits)
    return std::min(m, manyWithColumns);
  if (convertsColumns())
    return std::min(m - 1, fewRows);
  // Lanes are added up for each product of a row and a column. Of columns of
  // one vector that is most of the work, and they are sooner transposed.
  bool isShort = group == 1 && unitDepth == lanesOfSums();
  return std::min(m - 1, isShort ? rowsTogether : fewWithColumns);
}

int64_t MatmulKernel::depthWithColumns() const {
  constexpr int64_t bytes = 4096;
  return std::max(bytes / packedBytes() / unitDepth, int64_t(1)) * unitDepth;
}

/// One vector: lane i is the sum of all lanes of `vectors[i]`, as many as there
/// are.
Value MatmulKernel::sumsOfLanes(SmallVector<Value> vectors) const {
  auto count = static_cast<int64_t>(vectors.size());
  auto shuffled = [&](Value first, Value second, ArrayRef<int64_t> lanes) {
    return vector::ShuffleOp::create(b, first, second, lanes);
  };
  int64_t size = cast<VectorType>(vectors[0].getType()).getDimSize(0);
  // Bit s of the number of the vector becomes that of the lane.
  for (int64_t s = 1; s < count; s *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < size; ++lane) {
      low.push_back(lane & s ? size + lane - s : lane);
      high.push_back(lane & s ? size + lane : lane + s);
    }
    for (int64_t i = 0; i < count; i += 2 * s)
      vectors[i] = add(shuffled(vectors[i], vectors[i + s], low),
                       shuffled(vectors[i], vectors[i + s], high));
  }
  Value sums = vectors[0];
  for (; size > count; size /= 2) {
    auto half = [&](int64_t first) {
      auto lanes = llvm::to_vector(llvm::seq(first, first + size / 2));
      return shuffled(sums, sums, lanes);
    };
    sums = add(half(0), half(size / 2));
  }
  return sums;
}

Value MatmulKernel::add(Value left, Value right) const {
  if (isa<FloatType>(sumElement))
    return arith::AddFOp::create(b, left, right);
  return arith::AddIOp::create(b, left, right);
}

/// Asks for so many bytes of each column, from byte `at` on.
void MatmulKernel::prefetchLines(ArrayRef<Value> columns, Value at,
                                 int64_t bytes) const {
  for (Value column : columns)
    for (int64_t byte = 0; byte < bytes; byte += lineBytes)
      prefetchLine(column, b.getI8Type(), offsetBy(b, at, byte));
}

/// Asks for what lies `right.aheadBytes` behind the block's columns.
void MatmulKernel::prefetchColumns(ArrayRef<Value> columns,
                                   const RowsInMemory &right) const {
  int64_t bytes = rhsElement.getIntOrFloatBitWidth() / 8;
  Value end = constant(unitDepth * bytes);
  auto loop = scf::ForOp::create(b, constant(0), end, constant(lineBytes));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value ahead =
      arith::AddIOp::create(b, loop.getInductionVar(), right.aheadBytes);
  prefetchLines(columns, ahead, lineBytes);
}

/// So many elements of a column, as what is multiplied.
Value MatmulKernel::columnVector(Value address, Value at, int64_t lanes) const {
  // LLVM has no floats of 8 bits.
  bool isOfBytes = rhsElement.getIntOrFloatBitWidth() == 8;
  auto type = VectorType::get(lanes, isOfBytes ? b.getI8Type() : rhsElement);
  Value some = loadRow(address, at, type);
  if (isOfBytes)
    some = vector::BitCastOp::create(b, type.clone(rhsElement), some);
  return convert(some, /*isLhs=*/false);
}

/// Into how many sums products of each row and column are added in turn: two
/// for a single row, and as many as one line of a column of bytes has vectors,
/// where there are registers for them.
int64_t MatmulKernel::chainsOfDots(int64_t rows, int64_t columns) const {
  constexpr int64_t mostSums = 16;
  int64_t elements = group * lanesOfSums(), chains = rows == 1 ? 2 : 1;
  if (settings.target.vectorBits == 512 &&
      rhsElement.getIntOrFloatBitWidth() == 8 && group == 1)
    chains =
        std::max(std::min(lineBytes / elements, mostSums / (rows * columns)),
                 int64_t(1));
  while (unitDepth % (chains * elements))
    chains /= 2;
  return chains;
}

/// The sums of `count` rows from `first` on with some columns, from `column`
/// on; meanwhile these rows' share of `later` is asked for, so that each line
/// is asked for once: requests for what is on its way, or there, take the cache
/// from the rows, and half of the time with AVX2.
void MatmulKernel::emitDots(const RowsInMemory &left, Value first,
                            int64_t count, ArrayRef<Value> columns,
                            Value column, const LaterColumns &later) const {
  int64_t lanes = lanesOfSums(), elements = group * lanes;
  // Elements of a column that are converted at once.
  int64_t parts = isHalvedAtOnce(rhsElement) ? lanesOfLookup / elements : 1;
  int64_t chains = parts == 1 ? chainsOfDots(count, columns.size()) : 1;
  auto type = VectorType::get(lanes, sumElement),
       some =
           VectorType::get(elements, rowElement ? rowElement : packedElement),
       result = VectorType::get(columns.size(), accElement);
  SmallVector<Value> rows, from;
  for (int64_t i = 0; i < count; ++i) {
    rows.push_back(offsetBy(b, first, i));
    from.push_back(addressOfRow(
        left, count == moreTogether ? lastWanted(rows.back()) : rows.back()));
  }
  Value share, shareSteps;
  if (later.stepsOfRow) {
    share = arith::MulIOp::create(b, first, later.stepsOfRow);
    shareSteps = arith::MulIOp::create(b, later.stepsOfRow, constant(count));
  }
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
  int64_t sumsOfRow = chains * static_cast<int64_t>(columns.size());
  auto steps = scf::ForOp::create(b, constant(0), now.steps,
                                  constant(chains * parts * elements),
                                  SmallVector<Value>(count * sumsOfRow, zero));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(steps.getBody());
    if (later.stepsOfRow) {
      int64_t size = rhsElement.getIntOrFloatBitWidth() / 8;
      Value isShare = arith::CmpIOp::create(
          b, arith::CmpIPredicate::ult,
          arith::SubIOp::create(b, steps.getInductionVar(), share), shareSteps);
      auto branch = scf::IfOp::create(b, isShare, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard inner(b);
      b.setInsertionPointToStart(branch.thenBlock());
      prefetchLines(
          later.columns,
          arith::MulIOp::create(b, steps.getInductionVar(), constant(size)),
          chains * parts * elements * size);
    }
    SmallVector<Value> sums(steps.getRegionIterArgs());
    for (int64_t chain = 0; chain < chains; ++chain) {
      Value at = offsetBy(b, steps.getInductionVar(), chain * elements);
      SmallVector<SmallVector<Value>> factors;
      for (int64_t part = 0; part < parts; ++part)
        factors.push_back(llvm::map_to_vector(from, [&](Value row) {
          Value left = loadRow(row, offsetBy(b, at, part * elements), some);
          return rowElement ? widenTo(b, left, packedElement, false) : left;
        }));
      for (auto [c, address] : llvm::enumerate(columns)) {
        Value all = columnVector(address, at, parts * elements);
        for (int64_t part = 0; part < parts; ++part) {
          Value factor = all;
          if (parts > 1)
            factor = vector::ExtractStridedSliceOp::create(
                b, all, ArrayRef<int64_t>{part * elements},
                ArrayRef<int64_t>{elements}, ArrayRef<int64_t>{1});
          for (int64_t row = 0; row < count; ++row) {
            Value &sum = sums[row * sumsOfRow + chain * columns.size() + c];
            sum = addProducts(sum, factors[part][row], factor);
          }
        }
      }
    }
    scf::YieldOp::create(b, sums);
  }
  for (auto [number, row] : llvm::enumerate(rows)) {
    ValueRange all = steps.getResults().slice(number * sumsOfRow, sumsOfRow);
    SmallVector<Value> sums(all.take_front(columns.size()));
    for (int64_t chain = 1; chain < chains; ++chain)
      for (auto [sum, other] : llvm::zip_equal(
               sums, all.slice(chain * columns.size(), columns.size())))
        sum = add(sum, other);
    Value total = sumsOfLanes(sums);
    if (now.corrections)
      total = arith::SubIOp::create(
          b, total,
          vector::BroadcastOp::create(
              b, total.getType(),
              memref::LoadOp::create(b, now.corrections, row)));
    SmallVector<Value> place = {row, column};
    auto load = [&]() -> SmallVector<Value> {
      return {widenTo(b, vector::LoadOp::create(b, result, now.acc, place),
                      sumElement, settings.isUnsigned)};
    };
    Value before = zeroOr(now.isFirst, {total.getType()}, load).front();
    total = add(before, total);
    if (sumElement != accElement)
      total = arith::TruncFOp::create(b, result, total);
    vector::StoreOp::create(b, total, now.acc, place);
  }
}

/// Where so many columns lie, from `first` on.
SmallVector<Value> MatmulKernel::addressesOfColumns(Value first,
                                                    int64_t count) const {
  return llvm::map_to_vector(llvm::seq<int64_t>(0, count), [&](int64_t i) {
    return addressOfRow(now.right, offsetBy(b, first, i));
  });
}

/// Some columns, from `column` on, with the first `wanted` rows, up to
/// `together` at once.
void MatmulKernel::emitColumns(Value column, int64_t count, int64_t together,
                               bool asksForNext) const {
  SmallVector<Value> columns = addressesOfColumns(column, count);
  LaterColumns later;
  if (asksForNext) {
    int64_t line = lineBytes * 8 / rhsElement.getIntOrFloatBitWidth();
    Value lines = arith::CeilDivUIOp::create(b, now.steps, constant(line));
    later.columns = addressesOfColumns(offsetBy(b, column, count), count);
    Value rows = arith::MaxUIOp::create(b, now.wanted, constant(1));
    later.stepsOfRow = arith::MulIOp::create(
        b, arith::CeilDivUIOp::create(b, lines, rows), constant(line));
  }
  if (now.right.aheadBytes)
    prefetchColumns(columns, now.right);
  SmallVector<int64_t> steps = {together};
  for (int64_t fewer : {rowsTogether, int64_t(1)})
    if (together > fewer)
      steps.push_back(fewer);
  Value done = constant(0);
  for (int64_t rows : steps) {
    Value left = arith::SubIOp::create(b, now.wanted, done),
          rest = arith::RemUIOp::create(b, left, constant(rows)),
          whole = arith::SubIOp::create(b, now.wanted, rest), end = whole;
    // Three rows take longer than four, of which one is nobody's.
    if (rows == moreTogether && m % moreTogether == 0) {
      Value isThree = isEqual(rest, constant(moreTogether - 1));
      whole = arith::SelectOp::create(b, isThree, now.wanted, whole);
      end =
          arith::SelectOp::create(b, isThree, offsetBy(b, now.wanted, 1), end);
    }
    auto loop = scf::ForOp::create(b, done, end, constant(rows));
    done = whole;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    emitDots(now.rows, loop.getInductionVar(), rows, columns, column, later);
  }
}

void MatmulKernel::multiplyColumns(Value acc, RowsInMemory left,
                                   RowsInMemory right, Value depth,
                                   Value wanted, Value isFirst,
                                   Allocate allocate,
                                   const KeptRows *kept) const {
  now = {{},   {},     acc,     constant(0), depth, {},
         left, wanted, isFirst, right,       kept};
  if (usesTiles())
    return multiplyColumnsBesideTiles(allocate);
  correctSums(depth, allocate);
  auto emitAll = [&](int64_t count, int64_t together) {
    auto some = [&](Value column) {
      emitColumns(column, count, together, settings.isInLoop);
    };
    if (!columnsEnd)
      return emitLoop(b, n, count, some);
    auto loop = scf::ForOp::create(b, constant(0), columnsEnd, constant(count));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    some(loop.getInductionVar());
  };
  if (!settings.isInLoop)
    return emitAll(columnsAtOnce(), rowsTogether);
  // Registers for the sums, a column, and each row.
  int64_t together =
      settings.target.vectorBits == 512 ? moreTogether : moreTogether - 1;
  emitAll(std::min(columnsAtOnce(), columnsTogether),
          std::min(together, mostTogether));
}
