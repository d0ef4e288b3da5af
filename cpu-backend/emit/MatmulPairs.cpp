//===- MatmulPairs.cpp - products by instructions that add pairs ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// AVX-512 has instructions that multiply two 16-bit numbers a lane with two
// others and add both products to a 32-bit sum: vdpbf16ps (AVX512_BF16), and
// vpdpwssd (AVX512_VNNI), into which 8-bit integers are widened. b is packed so
// that two elements below each other are neighbours; a has them as neighbours
// already. All else is as in Matmul.cpp.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Matmul.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

namespace {

/// Sums in a 512-bit register.
constexpr int64_t sumLanes = 16;

class PairsEmitter {
public:
  PairsEmitter(ImplicitLocOpBuilder &builder, Value lhs, Value rhs, Value acc,
               const MatmulSettings &settings)
      : b(builder), lhs(lhs), rhs(rhs), acc(acc), settings(settings) {
    auto type = cast<MemRefType>(acc.getType());
    m = type.getDimSize(0);
    n = type.getDimSize(1);
    k = cast<MemRefType>(lhs.getType()).getDimSize(1);
    sum = type.getElementType();
    from = cast<MemRefType>(rhs.getType()).getElementType();
    half = from.isBF16() ? from : Type(b.getIntegerType(16));
    tile = MatmulTile::choose(m, n, sumLanes, settings.vectorBits);
  }

  bool fits() const {
    if (settings.vectorBits != 512 ||
        cast<MemRefType>(lhs.getType()).getElementType() != from)
      return false;
    bool known =
        (settings.hasBf16Pairs && from.isBF16() && sum.isF32()) ||
        (settings.hasI16Pairs && from.isInteger(8) && sum.isInteger(32));
    return known && k % 2 == 0 && tile.lanes == sumLanes &&
           n % tile.columns() == 0;
  }

  void emit(Allocate allocate) {
    packLhs(allocate);
    packRhs(allocate);
    emitLoop(b, n / tile.columns(), 1, [&](Value panel) {
      Value column = arith::MulIOp::create(b, panel, constant(tile.columns()));
      int64_t whole = m / tile.rows * tile.rows;
      emitLoop(b, whole, tile.rows,
               [&](Value row) { emitTile(panel, column, row, tile.rows); });
      if (whole < m)
        emitTile(panel, column, constant(whole), m - whole);
    });
  }

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }

  /// Rows that are contiguous, at a distance that is known.
  void packLhs(Allocate allocate) {
    auto type = cast<MemRefType>(lhs.getType());
    auto [strides, offset] = type.getStridesAndOffset();
    if (type.getElementType() == half && strides[1] == 1 &&
        !ShapedType::isDynamic(strides[0]))
      return;
    Value packed = allocate(MemRefType::get({m, k}, half));
    // Columns are transposed in squares of registers, which are not to be many.
    int64_t lanes = strides[1] == 1 ? 2 * sumLanes : sumLanes;
    emitPack(b, lhs, packed, lanes, settings.isUnsigned);
    lhs = packed;
  }

  /// Panels of a tile's columns, two rows in one: the elements of a column
  /// beside each other.
  void packRhs(Allocate allocate) {
    auto type = cast<MemRefType>(rhs.getType());
    auto [strides, offset] = type.getStridesAndOffset();
    if (strides[1] != 1) {
      Value straight = allocate(MemRefType::get({k, n}, half));
      emitPack(b, rhs, straight, sumLanes, settings.isUnsigned);
      rhs = straight;
    }
    Type stored = b.getIntegerType(16);
    Value packed = allocate(MemRefType::get(
        {n / tile.columns(), k / 2, 2 * tile.columns()}, stored));
    emitLoop(b, n / tile.columns(), 1, [&](Value panel) {
      Value column = arith::MulIOp::create(b, panel, constant(tile.columns()));
      emitLoop(b, k / 2, 1, [&](Value pair) {
        Value row = arith::MulIOp::create(b, pair, constant(2));
        for (int64_t v = 0; v < tile.vectors; ++v) {
          Value at = offsetBy(b, column, v * sumLanes);
          Value upper = loadHalves(row, at),
                lower = loadHalves(offsetBy(b, row, 1), at);
          vector::StoreOp::create(
              b, vector::InterleaveOp::create(b, upper, lower), packed,
              ValueRange{panel, pair, constant(2 * v * sumLanes)});
        }
      });
    });
    rhs = packed;
  }

  /// The bits of 16 elements of b, which are bf16 or widened to i16.
  Value loadHalves(Value row, Value column) {
    Type element = cast<MemRefType>(rhs.getType()).getElementType();
    Value value = vector::LoadOp::create(b, VectorType::get(sumLanes, element),
                                         rhs, ValueRange{row, column});
    return vector::BitCastOp::create(
        b, VectorType::get(sumLanes, b.getIntegerType(16)),
        widenTo(b, value, half, settings.isUnsigned));
  }

  void emitTile(Value panel, Value column, Value row, int64_t rows) {
    auto type = VectorType::get(sumLanes, sum);
    SmallVector<Value> rowAt, columnAt, sums;
    for (int64_t i = 0; i < rows; ++i)
      rowAt.push_back(offsetBy(b, row, i));
    for (int64_t v = 0; v < tile.vectors; ++v)
      columnAt.push_back(offsetBy(b, column, v * sumLanes));
    for (Value r : rowAt)
      for (Value c : columnAt)
        sums.push_back(vector::LoadOp::create(b, type, acc, ValueRange{r, c}));
    auto loop =
        scf::ForOp::create(b, constant(0), constant(k / 2), constant(1), sums);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value pair = loop.getInductionVar();
      auto halves = VectorType::get(2 * sumLanes, half);
      SmallVector<Value> right, results;
      for (int64_t v = 0; v < tile.vectors; ++v) {
        Value bits = vector::LoadOp::create(
            b, VectorType::get(2 * sumLanes, b.getIntegerType(16)), rhs,
            ValueRange{panel, pair, constant(2 * v * sumLanes)});
        right.push_back(vector::BitCastOp::create(b, halves, bits));
      }
      Value depth = arith::MulIOp::create(b, pair, constant(2));
      size_t i = 0;
      for (Value r : rowAt) {
        Value left = broadcastPair(r, depth, halves);
        for (Value vector : right)
          results.push_back(
              addProducts(loop.getRegionIterArgs()[i++], left, vector));
      }
      scf::YieldOp::create(b, results);
    }
    auto result = loop.getResults().begin();
    for (Value r : rowAt)
      for (Value c : columnAt)
        vector::StoreOp::create(b, *result++, acc, ValueRange{r, c});
  }

  /// Two neighbours of a row of a, as 32 bits in every lane.
  Value broadcastPair(Value row, Value depth, VectorType halves) {
    Type word = b.getI32Type();
    Value two = vector::LoadOp::create(b, VectorType::get(2, half), lhs,
                                       ValueRange{row, depth});
    Value one = vector::ExtractOp::create(
        b, vector::BitCastOp::create(b, VectorType::get(1, word), two),
        ArrayRef<int64_t>{0});
    Value lanes =
        vector::BroadcastOp::create(b, VectorType::get(sumLanes, word), one);
    return vector::BitCastOp::create(b, halves, lanes);
  }

  Value addProducts(Value total, Value left, Value right) {
    StringRef name = half.isBF16() ? "llvm.x86.avx512bf16.dpbf16ps.512"
                                   : "llvm.x86.avx512.vpdpwssd.512";
    return LLVM::CallIntrinsicOp::create(b, total.getType(),
                                         b.getStringAttr(name),
                                         ValueRange{total, left, right})
        ->getResult(0);
  }

  ImplicitLocOpBuilder &b;
  Value lhs, rhs, acc;
  const MatmulSettings &settings;
  int64_t m, n, k;
  /// Types of the sums, of the operands in memory, and of what is multiplied.
  Type sum, from, half;
  MatmulTile tile;
};

} // namespace

bool tilebridge::cpu::emitMatmulByPairs(ImplicitLocOpBuilder &b, Value lhs,
                                        Value rhs, Value acc,
                                        const MatmulSettings &settings,
                                        Allocate allocate) {
  PairsEmitter emitter(b, lhs, rhs, acc, settings);
  if (!emitter.fits())
    return false;
  emitter.emit(allocate);
  return true;
}
