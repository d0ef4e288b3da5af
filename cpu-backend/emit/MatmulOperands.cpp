//===- MatmulOperands.cpp - what the micro-kernel multiplies --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Which instruction adds products up, in tiles of which size, and the form that
// it wants its operands in.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Matmul.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Loads for each product; too few chains of sums cannot hide the latency of a
/// multiply-add.
static double costOfTile(int64_t rows, int64_t vectors) {
  double products = double(rows * vectors);
  double cost = double(rows + vectors) / products;
  return products < 8 ? cost + 8 / products - 1 : cost;
}

/// The cost of a whole block by the tiles that it is cut into, for 16
/// registers: with 4 x 2 or 5 x 2 at the edges, what is left over costs hardly
/// more than the rest. A tile that is code of its own costs a little.
static double costOfBlock(int64_t m, int64_t vectorsOfRow, int64_t rows,
                          int64_t vectors) {
  auto costOfPanel = [&](int64_t width) {
    int64_t left = m % rows;
    double whole = double(m - left) * costOfTile(rows, width);
    return left == 0 ? whole : whole + double(left) * costOfTile(left, width);
  };
  int64_t left = vectorsOfRow % vectors;
  double sum = double(vectorsOfRow - left) * costOfPanel(vectors);
  if (left)
    sum += double(left) * costOfPanel(left);
  return sum / double(m * vectorsOfRow) + 0.02 * (m % rows != 0) +
         0.02 * (left != 0);
}

MatmulTile MatmulTile::choose(int64_t m, int64_t n, int64_t nativeLanes,
                              int64_t vectorBits, bool isLarge) {
  MatmulTile best{1, 1, nativeLanes};
  while (best.lanes > n)
    best.lanes /= 2;
  int64_t vectorsOfRow = std::max<int64_t>(1, n / best.lanes);
  bool hasMany = vectorBits == 512;
  // One of 16 stays free: with all of them in use sums are spilled.
  int64_t registers = hasMany ? 32 : 15;
  double lowest = 1e9;
  // Blocks of few rows often are not full (a few tokens for each expert): the
  // lower tile computes fewer rows that nobody wants.
  bool prefersLow = hasMany || m < 32;
  int64_t mostRows = std::min<int64_t>(m, hasMany || !prefersLow ? 14 : 4);
  for (int64_t rows = 1; rows <= mostRows; ++rows)
    for (int64_t vectors = 1; vectors <= std::min<int64_t>(vectorsOfRow, 8);
         ++vectors) {
      // Accumulators, one row of b, and one element of a.
      if (rows * vectors + vectors + 1 > registers)
        continue;
      double cost = 0;
      if (hasMany) {
        // A few more where edges are cut into other tiles. Fewer rows in the
        // last tile of a large block cost next to nothing.
        double left = 0.1 * (m % rows != 0) + double(m % rows) / double(m);
        bool isSmallRest = isLarge && rows <= 8 && 8 * (m % rows) <= m;
        cost = costOfTile(rows, vectors) +
               (isSmallRest ? 0.5 * double(m % rows) / double(m) : left) +
               0.1 * (vectorsOfRow % vectors != 0) +
               double(vectorsOfRow % vectors) / double(vectorsOfRow);
      } else {
        cost = costOfBlock(m, vectorsOfRow, rows, vectors);
      }
      if (cost < lowest || (!prefersLow && cost == lowest)) {
        lowest = cost;
        best.rows = rows;
        best.vectors = vectors;
      }
    }
  return best;
}

/// Every value of these types is a normal number, or zero, of bf16.
static bool fitsBf16(Type type) {
  return type.isBF16() || type.isInteger(8) ||
         isa<Float8E5M2Type, Float8E4M3FNType, Float8E5M2FNUZType,
             Float8E4M3FNUZType>(type);
}

static MatmulUnit chooseUnit(Type lhs, Type rhs, Type sum, bool hasTiles,
                             const MatmulSettings &settings) {
  const EmitTarget &target = settings.target;
  if (sum.isF32() && fitsBf16(lhs) && fitsBf16(rhs)) {
    if (hasTiles && target.hasBf16Tiles)
      return MatmulUnit::Bf16Tiles;
    // Intel's CPUs with two multiply-adds a cycle do one vdpbf16ps in two.
    if (target.hasBf16Pairs && !target.hasTwoFmas)
      return MatmulUnit::Bf16Pairs;
  }
  if (!sum.isInteger(32) || !lhs.isInteger(8) || !rhs.isInteger(8))
    return MatmulUnit::MultiplyAdd;
  if (hasTiles && target.hasI8Tiles)
    return MatmulUnit::I8Tiles;
  if (target.hasI16Pairs)
    return settings.isUnsigned ? MatmulUnit::I16Pairs : MatmulUnit::I8Quads;
  return target.hasI16PairSums ? MatmulUnit::I16PairSums
                               : MatmulUnit::MultiplyAdd;
}

static int64_t groupOf(MatmulUnit unit) {
  switch (unit) {
  case MatmulUnit::MultiplyAdd:
    return 1;
  case MatmulUnit::Bf16Pairs:
  case MatmulUnit::I16Pairs:
  case MatmulUnit::I16PairSums:
  case MatmulUnit::Bf16Tiles:
    return 2;
  case MatmulUnit::I8Quads:
  case MatmulUnit::I8Tiles:
    return 4;
  }
  llvm_unreachable("all units have a group");
}

MatmulKernel::MatmulKernel(ImplicitLocOpBuilder &b, Type lhsElement,
                           Type rhsElement, MemRefType acc, int64_t depth,
                           const MatmulSettings &settings)
    : b(b), settings(settings), m(acc.getDimSize(0)), n(acc.getDimSize(1)),
      accElement(acc.getElementType()), sumElement(accElement),
      rhsElement(rhsElement), unitDepth(depth) {
  // Sums of floats narrower than f32 are kept in f32 and rounded once.
  if (isa<FloatType>(accElement) && accElement.getIntOrFloatBitWidth() < 32)
    sumElement = b.getF32Type();
  hasNarrowOperand = lhsElement != sumElement || rhsElement != sumElement;
  int64_t vectorBits = settings.target.vectorBits,
          lanes = std::max<int64_t>(1, vectorBits /
                                           sumElement.getIntOrFloatBitWidth());
  // Tiles are 16 rows of 64 bytes; less of K is possible.
  int64_t tileDepth = accElement.isF32() ? 32 : 64;
  bool hasTiles = m % 16 == 0 && n % 16 == 0 &&
                  (depth % tileDepth == 0 || depth == 16 || depth == 32);
  if (n % lanes == 0)
    unit = chooseUnit(lhsElement, rhsElement, accElement, hasTiles, settings);
  // The sums of rows of a are taken in vectors of 16 bytes at least.
  if (unit == MatmulUnit::I8Quads && depth % 16)
    unit = MatmulUnit::I16Pairs;
  if (depth % 2)
    unit = MatmulUnit::MultiplyAdd;
  group = step = groupOf(unit);
  packedElement = group == 1 ? sumElement : Type(b.getIntegerType(32 / group));
  if (usesTiles()) {
    step = std::min<int64_t>(16 * group, depth);
    tile = {m % 32 == 0 ? 32 : 16, n % 32 == 0 ? 2 : 1, 16};
    return;
  }
  tile = MatmulTile::choose(m, n, lanes, vectorBits, feedsTwoFmas());
}

Value MatmulKernel::constant(int64_t value) const {
  return arith::ConstantIndexOp::create(b, value);
}

Value MatmulKernel::isEqual(Value x, Value y) const {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
}

MemRefType MatmulKernel::packedLhs(int64_t depth, bool byColumns) const {
  if (byColumns)
    return MemRefType::get({depth, m}, packedElement);
  return MemRefType::get({m, depth}, keptElement ? keptElement : packedElement);
}

MemRefType MatmulKernel::packedRhs(int64_t depth) const {
  int64_t panels = (n + tile.columns() - 1) / tile.columns();
  return MemRefType::get({panels, depth / group, tile.columns() * group},
                         packedElement);
}

int64_t MatmulKernel::cachedDepth() const {
  // Tiles are quick, and the way of their sums to memory and back is long; sums
  // of bytes are corrected each time.
  int64_t bytes = (usesTiles() || group == 4 ? 32 : 16) * 1024;
  // Longer panels come from the second cache, for each tile again: with enough
  // rows a tile needs so few vectors that they come in time.
  if (feedsTwoFmas() && m >= 32)
    bytes = (m >= 64 ? 128 : 32) * 1024;
  return bytes / (tile.columns() * packedElement.getIntOrFloatBitWidth() / 8);
}

bool MatmulKernel::isHalvedAtOnce(Type element) const {
  return looksUp(element) ||
         (unit == MatmulUnit::Bf16Pairs && element.isInteger(8));
}

bool MatmulKernel::looksUp(Type element) const {
  return (unit == MatmulUnit::Bf16Pairs || unit == MatmulUnit::Bf16Tiles) &&
         settings.target.hasByteLookups &&
         isa<Float8E4M3FNType, Float8E5M2Type>(element);
}

static bool hasStaticStrides(MemRefType type) {
  return llvm::none_of(type.getStridesAndOffset().first, ShapedType::isDynamic);
}

/// Single elements are read in any order: only their strides must be constants,
/// so that the rows of a tile need no registers for their addresses.
bool MatmulKernel::readsLhs(MemRefType type) const {
  bool isContiguous = type.getStridesAndOffset().first[1] == 1;
  if (unit == MatmulUnit::I8Tiles)
    return isContiguous;
  if (unit == MatmulUnit::Bf16Tiles)
    return isContiguous && type.getElementType().isBF16();
  if (!hasStaticStrides(type))
    return false;
  if (group == 1)
    return type.getElementType() == packedElement;
  if (unit == MatmulUnit::I8Quads)
    return isContiguous;
  return unit == MatmulUnit::Bf16Pairs && type.getElementType().isBF16() &&
         isContiguous;
}

bool MatmulKernel::readsRowsOf(Type lhsElement) const {
  switch (unit) {
  case MatmulUnit::MultiplyAdd:
    return lhsElement == packedElement && tile.rows <= 8;
  case MatmulUnit::Bf16Pairs:
    return lhsElement.isBF16() && tile.rows <= 8;
  case MatmulUnit::Bf16Tiles:
    return lhsElement.isBF16();
  case MatmulUnit::I8Quads:
    return tile.rows <= 8;
  case MatmulUnit::I8Tiles:
    return true;
  case MatmulUnit::I16Pairs:
  case MatmulUnit::I16PairSums:
    return false;
  }
  llvm_unreachable("all units say how they read");
}

/// Two lines of a row and more, in few rows at once, are what prefetchers of a
/// CPU follow, helped by what asks for the next iteration's. More rows of `a`
/// are worth a copy.
int64_t MatmulKernel::rowsWithWideRows() const {
  constexpr int64_t leastBytes = 128;
  if (n * rhsElement.getIntOrFloatBitWidth() / 8 < leastBytes)
    return 0;
  int64_t rows = rowsWithRows();
  // Shorter vectors have low tiles, each of which reads all of b: with 5 to 15
  // rows of a packed b took 0.4 to 0.6 of the time (Zen 3).
  bool hasHighTiles = settings.target.vectorBits == 512;
  return hasHighTiles && rhsElement == packedElement && rows ? m - 1 : rows;
}

/// Rows that are contiguous and near each other stay where they are.
bool MatmulKernel::readsRhs(MemRefType type) const {
  auto [strides, offset] = type.getStridesAndOffset();
  if (group != 1 || type.getElementType() != packedElement || strides[1] != 1)
    return false;
  constexpr int64_t nearBytes = 512;
  bool isNear = !ShapedType::isDynamic(strides[0]) &&
                strides[0] * static_cast<int64_t>(
                                 packedElement.getIntOrFloatBitWidth() / 8) <=
                    nearBytes;
  // A panel that is used for one tile only is not worth copying.
  return isNear || m <= tile.rows;
}

/// Integers of 8 bits, 32 or 64 of them, as bf16: all of them are numbers of
/// it. Null for others.
Value MatmulKernel::halvesOfBytes(Value value) const {
  constexpr int64_t most = 16;
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type || !type.getElementType().isInteger(8) ||
      type.getNumElements() % (2 * most) || !settings.target.hasBf16Pairs)
    return {};
  auto part = [&](int64_t first) -> Value {
    Value bytes = vector::ExtractStridedSliceOp::create(
        b, value, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{most},
        ArrayRef<int64_t>{1});
    return widenTo(b, bytes, sumElement, false);
  };
  auto words = VectorType::get(2 * most, b.getI16Type());
  SmallVector<Value> pieces;
  for (int64_t at = 0; at < type.getNumElements(); at += 2 * most) {
    Value halves = LLVM::CallIntrinsicOp::create(
                       b, words.clone(b.getBF16Type()),
                       b.getStringAttr("llvm.x86.avx512bf16.cvtne2ps2bf16.512"),
                       ValueRange{part(at + most), part(at)})
                       ->getResult(0);
    pieces.push_back(vector::BitCastOp::create(b, words, halves));
  }
  if (pieces.size() == 1)
    return pieces[0];
  Value both =
      arith::ConstantOp::create(b, b.getZeroAttr(type.clone(b.getI16Type())));
  for (auto [i, piece] : llvm::enumerate(pieces))
    both = vector::InsertStridedSliceOp::create(
        b, piece, both, ArrayRef<int64_t>{static_cast<int64_t>(i) * 2 * most},
        ArrayRef<int64_t>{1});
  return both;
}

/// What is multiplied, in packedElement.
Value MatmulKernel::convert(Value value, bool isLhs) const {
  auto as = [&](Type element) -> Type {
    auto vector = dyn_cast<VectorType>(value.getType());
    return vector ? Type(vector.clone(element)) : element;
  };
  auto bitsOf = [&](Value from, Type element) -> Value {
    if (isa<VectorType>(from.getType()))
      return vector::BitCastOp::create(b, as(element), from);
    return arith::BitcastOp::create(b, element, from);
  };
  auto splat = [&](Type element, int64_t number) -> Value {
    TypedAttr attr = b.getIntegerAttr(element, number);
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      attr = DenseElementsAttr::get(vector.clone(element), attr);
    return arith::ConstantOp::create(b, attr);
  };
  switch (unit) {
  case MatmulUnit::Bf16Tiles:
  case MatmulUnit::Bf16Pairs: {
    if (getElementTypeOrSelf(value.getType()).isBF16())
      return bitsOf(value, packedElement);
    if (auto vector = dyn_cast<VectorType>(value.getType());
        vector && looksUp(vector.getElementType()) &&
        vector.getNumElements() == lanesOfLookup)
      return bitsOf(widenTo(b, value, b.getBF16Type(), false), packedElement);
    if (Value halves = halvesOfBytes(value))
      return halves;
    // The upper half of an f32 is all of it.
    Value wide = bitsOf(widenTo(b, value, sumElement, false), b.getI32Type());
    Value upper = arith::ShRUIOp::create(b, wide, splat(b.getI32Type(), 16));
    return arith::TruncIOp::create(b, as(packedElement), upper);
  }
  case MatmulUnit::I8Quads:
    // Numbers without a sign, 128 too high.
    if (isLhs)
      return value;
    return arith::XOrIOp::create(b, value, splat(packedElement, -128));
  case MatmulUnit::I8Tiles:
    return value;
  case MatmulUnit::MultiplyAdd:
  case MatmulUnit::I16Pairs:
  case MatmulUnit::I16PairSums:
    break;
  }
  return widenTo(b, value, packedElement, settings.isUnsigned);
}
