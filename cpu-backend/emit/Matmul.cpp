//===- Matmul.cpp - matrix products in tiles of registers -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// c += a * b. The accumulator is cut into tiles of rows x vectors that live in
// registers while the innermost loop runs over all of K: a step loads the
// vectors of one row of b, and multiplies them with elements of one column of
// a, each broadcast. Operands that the steps could not read with fixed strides
// and the type of the accumulator are packed first; that is where narrow types
// are widened. The size of the code does not depend on that of the block.

#include "cpu-backend/emit/Matmul.h"
#include "cpu-backend/emit/Roots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilebridge::cpu;

MatmulTile MatmulTile::choose(int64_t m, int64_t n, int64_t nativeLanes,
                              int64_t vectorBits) {
  MatmulTile best{1, 1, nativeLanes};
  while (best.lanes > n)
    best.lanes /= 2;
  int64_t vectorsOfRow = std::max<int64_t>(1, n / best.lanes);
  int64_t registers = vectorBits == 512 ? 32 : 16;
  double lowest = 1e9;
  for (int64_t rows = 1; rows <= std::min<int64_t>(m, 14); ++rows)
    for (int64_t vectors = 1; vectors <= std::min<int64_t>(vectorsOfRow, 8);
         ++vectors) {
      // Accumulators, one row of b, and one element of a.
      if (rows * vectors + vectors + 1 > registers)
        continue;
      // Loads for each product; a few more where edges are cut into other
      // tiles; too few chains of sums cannot hide the latency of a
      // multiply-add.
      double cost = double(rows + vectors) / double(rows * vectors);
      cost += 0.1 * (m % rows != 0) + double(m % rows) / double(m);
      cost += 0.1 * (vectorsOfRow % vectors != 0) +
              double(vectorsOfRow % vectors) / double(vectorsOfRow);
      if (rows * vectors < 8)
        cost += 8.0 / double(rows * vectors) - 1;
      if (cost < lowest) {
        lowest = cost;
        best.rows = rows;
        best.vectors = vectors;
      }
    }
  return best;
}

namespace {

/// Loops and the micro-kernel for one product.
class MatmulEmitter {
public:
  MatmulEmitter(ImplicitLocOpBuilder &builder, Value lhs, Value rhs, Value acc,
                const MatmulSettings &settings)
      : b(builder), lhs(lhs), rhs(rhs), acc(acc), settings(settings) {
    auto type = cast<MemRefType>(acc.getType());
    m = type.getDimSize(0);
    n = type.getDimSize(1);
    k = cast<MemRefType>(lhs.getType()).getDimSize(1);
    accElement = type.getElementType();
    // Sums of floats narrower than f32 are kept in f32 and rounded once.
    element =
        isa<FloatType>(accElement) && accElement.getIntOrFloatBitWidth() < 32
            ? b.getF32Type()
            : accElement;
    nativeLanes = std::max<int64_t>(1, settings.vectorBits /
                                           element.getIntOrFloatBitWidth());
    tile = MatmulTile::choose(m, n, nativeLanes, settings.vectorBits);
  }

  void emit(Allocate allocate) {
    prepareLhs(allocate);
    prepareRhs(allocate);
    int64_t panels = n / tile.columns();
    emitLoop(b, panels, 1, [&](Value panel) {
      Value column = arith::MulIOp::create(
          b, panel, arith::ConstantIndexOp::create(b, tile.columns()));
      emitRows(panel, column, SmallVector<int64_t>(tile.vectors, tile.lanes));
    });
    // The rest of the columns: whole vectors, then one that is narrower.
    int64_t rest = n % tile.columns();
    if (rest == 0)
      return;
    SmallVector<int64_t> vectors(rest / tile.lanes, tile.lanes);
    if (rest % tile.lanes)
      vectors.push_back(rest % tile.lanes);
    emitRows(arith::ConstantIndexOp::create(b, panels),
             arith::ConstantIndexOp::create(b, n - rest), vectors);
  }

private:
  static bool hasStaticStrides(Value memref) {
    auto [strides, offset] =
        cast<MemRefType>(memref.getType()).getStridesAndOffset();
    return llvm::none_of(strides, ShapedType::isDynamic);
  }

  Value swapDims(Value memref) {
    auto map = AffineMapAttr::get(
        AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0}, b.getContext()));
    return memref::TransposeOp::create(b, memref, map);
  }

  /// Elements of a are read one at a time, so they may lie in either order:
  /// only their strides must be constants, so that the rows of a tile need no
  /// registers for their addresses.
  void prepareLhs(Allocate allocate) {
    auto type = cast<MemRefType>(lhs.getType());
    if (type.getElementType() == element && hasStaticStrides(lhs))
      return;
    auto [strides, offset] = type.getStridesAndOffset();
    bool byColumns = strides[0] == 1 && strides[1] != 1;
    SmallVector<int64_t> shape =
        byColumns ? SmallVector<int64_t>{k, m} : SmallVector<int64_t>{m, k};
    Value packed = allocate(MemRefType::get(shape, element));
    emitPack(b, byColumns ? swapDims(lhs) : lhs, packed, nativeLanes,
             settings.isUnsigned);
    lhs = byColumns ? swapDims(packed) : packed;
  }

  /// Panels of as many columns as a tile has, each contiguous. Rows that are
  /// contiguous and near each other stay where they are.
  void prepareRhs(Allocate allocate) {
    auto type = cast<MemRefType>(rhs.getType());
    auto [strides, offset] = type.getStridesAndOffset();
    constexpr int64_t nearBytes = 512;
    bool isUnit = type.getElementType() == element && strides[1] == 1;
    bool isNear = !ShapedType::isDynamic(strides[0]) &&
                  strides[0] * static_cast<int64_t>(
                                   element.getIntOrFloatBitWidth() / 8) <=
                      nearBytes;
    // A panel that is used for one tile only is not worth copying.
    if (isUnit && (isNear || m <= tile.rows))
      return;
    int64_t columns = tile.columns(), panels = llvm::divideCeil(n, columns);
    Value packed = allocate(MemRefType::get({panels, k, columns}, element));
    auto pack = [&](Value panel, Value column, int64_t width) {
      Value dst = subview(packed, {panel, zero(), zero()}, {1, k, width},
                          /*dropFirst=*/true);
      Value src =
          subview(rhs, {zero(), column}, {k, width}, /*dropFirst=*/false);
      emitPack(b, src, dst, tile.lanes, settings.isUnsigned);
    };
    emitLoop(b, n / columns, 1, [&](Value panel) {
      pack(panel,
           arith::MulIOp::create(b, panel,
                                 arith::ConstantIndexOp::create(b, columns)),
           columns);
    });
    if (int64_t rest = n % columns)
      pack(arith::ConstantIndexOp::create(b, panels - 1),
           arith::ConstantIndexOp::create(b, n - rest), rest);
    rhs = packed;
    inPanels = true;
  }

  Value zero() { return arith::ConstantIndexOp::create(b, 0); }

  Value subview(Value memref, ArrayRef<Value> offsets, ArrayRef<int64_t> sizes,
                bool dropFirst) {
    SmallVector<OpFoldResult> at(offsets.begin(), offsets.end()), extent,
        strides;
    for (int64_t size : sizes) {
      extent.push_back(b.getIndexAttr(size));
      strides.push_back(b.getIndexAttr(1));
    }
    auto type = cast<MemRefType>(memref.getType());
    if (!dropFirst)
      return memref::SubViewOp::create(b, memref, at, extent, strides);
    auto reduced = memref::SubViewOp::inferRankReducedResultType(
        sizes.drop_front(), type, at, extent, strides);
    return memref::SubViewOp::create(b, cast<MemRefType>(reduced), memref, at,
                                     extent, strides);
  }

  void emitRows(Value panel, Value column, ArrayRef<int64_t> vectors) {
    int64_t whole = m / tile.rows * tile.rows;
    emitLoop(b, whole, tile.rows, [&](Value row) {
      emitTile(panel, column, row, vectors, tile.rows);
    });
    if (whole < m)
      emitTile(panel, column, arith::ConstantIndexOp::create(b, whole), vectors,
               m - whole);
  }

  /// The micro-kernel.
  void emitTile(Value panel, Value column, Value row, ArrayRef<int64_t> vectors,
                int64_t rows) {
    SmallVector<Value> rowAt, columnAt, sums;
    for (int64_t i = 0; i < rows; ++i)
      rowAt.push_back(offsetBy(b, row, i));
    int64_t offset = 0;
    for (int64_t lanes : vectors) {
      columnAt.push_back(offsetBy(b, column, offset));
      offset += lanes;
    }
    for (Value at : rowAt)
      for (auto [v, lanes] : llvm::enumerate(vectors)) {
        Value sum =
            vector::LoadOp::create(b, VectorType::get(lanes, accElement), acc,
                                   ValueRange{at, columnAt[v]});
        sums.push_back(widenTo(b, sum, element, settings.isUnsigned));
      }

    auto loop =
        scf::ForOp::create(b, zero(), arith::ConstantIndexOp::create(b, k),
                           arith::ConstantIndexOp::create(b, 1), sums);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      scf::YieldOp::create(b, emitStep(panel, loop.getInductionVar(), rowAt,
                                       columnAt, vectors,
                                       loop.getRegionIterArgs()));
    }
    auto result = loop.getResults().begin();
    for (Value at : rowAt)
      for (Value columnStart : columnAt)
        vector::StoreOp::create(b, narrow(*result++), acc,
                                ValueRange{at, columnStart});
  }

  SmallVector<Value> emitStep(Value panel, Value depth, ArrayRef<Value> rowAt,
                              ArrayRef<Value> columnAt,
                              ArrayRef<int64_t> vectors, ValueRange sums) {
    SmallVector<Value> right, results;
    int64_t offset = 0;
    for (auto [v, lanes] : llvm::enumerate(vectors)) {
      SmallVector<Value> at = {depth, columnAt[v]};
      if (inPanels)
        at = {panel, depth, arith::ConstantIndexOp::create(b, offset)};
      right.push_back(
          vector::LoadOp::create(b, VectorType::get(lanes, element), rhs, at));
      offset += lanes;
    }
    size_t i = 0;
    for (Value row : rowAt) {
      Value left = memref::LoadOp::create(b, lhs, ValueRange{row, depth});
      for (Value vector : right)
        results.push_back(
            multiplyAdd(vector::BroadcastOp::create(b, vector.getType(), left),
                        vector, sums[i++]));
    }
    return results;
  }

  /// May be contracted: with an instruction for it a fused multiply-add comes
  /// out, and no call without one.
  Value multiplyAdd(Value x, Value y, Value sum) {
    if (!isa<FloatType>(element))
      return arith::AddIOp::create(b, arith::MulIOp::create(b, x, y), sum);
    auto contract = arith::FastMathFlags::contract;
    return arith::AddFOp::create(b, arith::MulFOp::create(b, x, y, contract),
                                 sum, contract);
  }

  Value narrow(Value sum) {
    if (element == accElement)
      return sum;
    return arith::TruncFOp::create(
        b, cast<VectorType>(sum.getType()).clone(accElement), sum);
  }

  ImplicitLocOpBuilder &b;
  Value lhs, rhs, acc;
  const MatmulSettings &settings;
  int64_t m, n, k, nativeLanes;
  /// Type of the sums in registers, and of the accumulator in memory.
  Type element, accElement;
  MatmulTile tile;
  bool inPanels = false;
};

} // namespace

void tilebridge::cpu::emitMatmulLoops(ImplicitLocOpBuilder &b, Value lhs,
                                      Value rhs, Value acc,
                                      const MatmulSettings &settings,
                                      Allocate allocate) {
  auto type = cast<MemRefType>(acc.getType());
  auto layout = type.getStridesAndOffset().first;
  if (type.getDimSize(1) == 1 && type.getDimSize(0) > 1 && layout[0] == 1) {
    // One column: its transpose is one row, along which there can be vectors.
    auto map = AffineMapAttr::get(
        AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0}, b.getContext()));
    auto swap = [&](Value memref) -> Value {
      return memref::TransposeOp::create(b, memref, map);
    };
    MatmulEmitter(b, swap(rhs), swap(lhs), swap(acc), settings).emit(allocate);
    return;
  }
  if (emitMatmulByPairs(b, lhs, rhs, acc, settings, allocate))
    return;
  MatmulEmitter(b, lhs, rhs, acc, settings).emit(allocate);
}

namespace {

/// Where the dimensions of a product stand in an operand: in order, or with the
/// last two exchanged.
enum class Order { Straight, Swapped, Other };

Order orderOf(AffineMap map, ArrayRef<unsigned> straight) {
  if (map.getNumResults() != straight.size() || !map.isProjectedPermutation())
    return Order::Other;
  SmallVector<unsigned> positions;
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    positions.push_back(map.getDimPosition(i));
  if (ArrayRef<unsigned>(positions) == straight)
    return Order::Straight;
  std::swap(positions[positions.size() - 1], positions[positions.size() - 2]);
  return ArrayRef<unsigned>(positions) == straight ? Order::Swapped
                                                   : Order::Other;
}

/// The matrix of one batch.
Value sliceOf(ImplicitLocOpBuilder &b, Value memref, Value batch) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<OpFoldResult> offsets = {batch, b.getIndexAttr(0),
                                       b.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes = {b.getIndexAttr(1),
                                     b.getIndexAttr(type.getDimSize(1)),
                                     b.getIndexAttr(type.getDimSize(2))};
  SmallVector<OpFoldResult> strides(3, b.getIndexAttr(1));
  auto reduced = memref::SubViewOp::inferRankReducedResultType(
      type.getShape().drop_front(), type, offsets, sizes, strides);
  return memref::SubViewOp::create(b, cast<MemRefType>(reduced), memref,
                                   offsets, sizes, strides);
}

} // namespace

LogicalResult tilebridge::cpu::emitMatmul(Emitter &emitter,
                                          linalg::LinalgOp op) {
  bool isBatch = isa<linalg::BatchMatmulOp>(op);
  if (!isBatch && !isa<linalg::MatmulOp>(op))
    return op.emitError("is no matrix product that a CPU has loops for: "
                        "expected linalg.matmul or linalg.batch_matmul");
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned first = isBatch ? 1 : 0, rows = first, columns = first + 1,
           depth = first + 2;
  auto dims = [&](unsigned x, unsigned y) {
    return isBatch ? SmallVector<unsigned>{0, x, y}
                   : SmallVector<unsigned>{x, y};
  };
  Order lhsOrder = orderOf(maps[0], dims(rows, depth)),
        rhsOrder = orderOf(maps[1], dims(depth, columns));
  if (lhsOrder == Order::Other || rhsOrder == Order::Other ||
      orderOf(maps[2], dims(rows, columns)) != Order::Straight)
    return op.emitError("the operands of a matrix product may be transposed, "
                        "but not broadcast: expected an operand for "
                        "each element");

  Value lhs = emitter.viewOf(op.getDpsInputs()[0]),
        rhs = emitter.viewOf(op.getDpsInputs()[1]);
  Value acc = emitter.accumulate(op.getDpsInits()[0], op->getResult(0));
  if (!lhs || !rhs || !acc)
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), emitter.builder());
  MatmulSettings settings;
  settings.vectorBits = emitter.target().vectorBits;
  settings.hasBf16Pairs = emitter.target().hasBf16Pairs;
  settings.hasI16Pairs = emitter.target().hasI16Pairs;
  op->getRegion(0).walk([&](arith::ExtUIOp) { settings.isUnsigned = true; });
  auto allocate = [&](MemRefType type) {
    OpBuilder::InsertionGuard guard(emitter.builder());
    emitter.builder().setInsertionPoint(b.getInsertionBlock(),
                                        b.getInsertionPoint());
    return emitter.allocate(type);
  };
  auto emitOne = [&](Value left, Value right, Value sum) {
    auto map = AffineMapAttr::get(
        AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0}, b.getContext()));
    if (lhsOrder == Order::Swapped)
      left = memref::TransposeOp::create(b, left, map);
    if (rhsOrder == Order::Swapped)
      right = memref::TransposeOp::create(b, right, map);
    emitMatmulLoops(b, left, right, sum, settings, allocate);
  };
  if (!isBatch) {
    emitOne(lhs, rhs, acc);
    return success();
  }
  emitLoop(b, cast<MemRefType>(acc.getType()).getDimSize(0), 1,
           [&](Value batch) {
             emitOne(sliceOf(b, lhs, batch), sliceOf(b, rhs, batch),
                     sliceOf(b, acc, batch));
           });
  return success();
}
