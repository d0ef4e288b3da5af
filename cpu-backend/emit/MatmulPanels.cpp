//===- MatmulPanels.cpp - the right operand of a product into panels ------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A panel has the columns of one tile of registers, so that the micro-kernel
// reads it from its beginning to its end. Instructions that add several
// products in a lane want that many elements of one column beside each other:
// rows are interleaved, and a matrix that is contiguous along its columns has
// them so already, as words that only have to be transposed.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Matmul.h"
#include "cpu-backend/emit/TransposeSquare.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Elements of rows in turn.
static Value interleave(ImplicitLocOpBuilder &b, ArrayRef<Value> rows) {
  if (rows.size() == 1)
    return rows[0];
  SmallVector<Value> even, odd;
  for (auto [i, row] : llvm::enumerate(rows))
    (i % 2 ? odd : even).push_back(row);
  return vector::InterleaveOp::create(b, interleave(b, even),
                                      interleave(b, odd));
}

/// Two rows of f32 that are rounded to bf16 for AVX512_BF16: its own conversion
/// loses denormals, as its products do.
static Value inPairs(ImplicitLocOpBuilder &b, ArrayRef<Value> rows) {
  SmallVector<Value> wide;
  for (Value row : rows) {
    auto bits = row.getDefiningOp<vector::BitCastOp>();
    auto narrow =
        bits ? bits.getSource().getDefiningOp<arith::TruncFOp>() : nullptr;
    wide.push_back(narrow ? narrow.getIn() : Value());
  }
  auto type = wide.size() == 2 && wide[0] && wide[1]
                  ? dyn_cast<VectorType>(wide[0].getType())
                  : VectorType();
  if (!type || type != VectorType::get(16, b.getF32Type()) ||
      wide[1].getType() != type)
    return {};
  Value both = LLVM::CallIntrinsicOp::create(
                   b, VectorType::get(32, b.getBF16Type()),
                   b.getStringAttr("llvm.x86.avx512bf16.cvtne2ps2bf16.512"),
                   ValueRange{wide[1], wide[0]})
                   ->getResult(0);
  both =
      vector::BitCastOp::create(b, VectorType::get(32, b.getI16Type()), both);
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < 16; ++lane)
    order.append({lane, lane + 16});
  return vector::ShuffleOp::create(b, both, both, order);
}

SmallVector<Value> tilebridge::cpu::interleaveRows(ImplicitLocOpBuilder &b,
                                                   ArrayRef<Value> rows,
                                                   int64_t lanes) {
  if (Value pairs = inPairs(b, rows))
    return {pairs};
  SmallVector<Value> result;
  int64_t all = cast<VectorType>(rows[0].getType()).getDimSize(0);
  for (int64_t part = 0; part < all; part += lanes) {
    SmallVector<Value> some(rows);
    if (lanes < all)
      for (Value &row : some)
        row = vector::ExtractStridedSliceOp::create(
            b, row, ArrayRef<int64_t>{part}, ArrayRef<int64_t>{lanes},
            ArrayRef<int64_t>{1});
    result.push_back(interleave(b, some));
  }
  return result;
}

namespace {

class PanelPacker {
public:
  PanelPacker(ImplicitLocOpBuilder &builder, Value src, Value dst,
              Value firstRow, int64_t group, int64_t ahead, int64_t together,
              const MatmulTile &tile, Value end, Convert convert)
      : b(builder), src(src), dst(dst), firstRow(firstRow), end(end),
        group(group), ahead(ahead), together(together), tile(tile),
        convert(convert) {
    auto type = cast<MemRefType>(src.getType());
    k = type.getDimSize(0);
    n = type.getDimSize(1);
    from = type.getElementType();
  }

  /// What is computed while it is packed.
  PanelPacker(ImplicitLocOpBuilder &builder, RankedTensorType type, Fetch fetch,
              Value dst, Value firstRow, int64_t group, int64_t together,
              const MatmulTile &tile, Value end, Convert convert)
      : b(builder), dst(dst), firstRow(firstRow), end(end), group(group),
        ahead(0), together(together), k(type.getDimSize(0)),
        n(type.getDimSize(1)), tile(tile), convert(convert), fetch(fetch),
        from(type.getElementType()) {}

  /// Where all panels are wanted, as they are of most blocks, their number is
  /// known: the loop over those of a row is unrolled.
  void emit() {
    if (!end || n <= tile.columns())
      return emitPanels();
    int64_t rest = n % tile.columns();
    Value before = constant(n - (rest ? rest : tile.columns())), part = end;
    Value isAll =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, end, before);
    auto branch = scf::IfOp::create(b, isAll, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    end = {};
    emitPanels();
    b.setInsertionPointToStart(branch.elseBlock());
    end = part;
    emitPanels();
  }

private:
  void emitPanels() {
    if (!src)
      return packRows({});
    byUnitStride(
        b, src, [&](Value unit) { packRows(unit); },
        [&](Value unit) { packColumns(unit); }, [&] { packElements(); });
  }

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value times(Value value, int64_t factor) {
    return arith::MulIOp::create(b, value, constant(factor));
  }

  void forPanels(llvm::function_ref<void(Value, Value, int64_t)> body) {
    tilebridge::cpu::forPanels(b, n, tile.columns(), end, body);
  }

  Value load(Value memref, Value row, Value column, int64_t count) {
    return convert(vector::LoadOp::create(b, VectorType::get(count, from),
                                          memref, ValueRange{row, column}));
  }

  Value below(Value row) {
    return firstRow ? arith::AddIOp::create(b, firstRow, row).getResult() : row;
  }

  /// Rows are read from their beginning to their end, if that does not write
  /// more panels at once than a cache has places for.
  void packRows(Value unit) {
    constexpr int64_t mostPanels = 8;
    bool byRows = n <= mostPanels * tile.columns();
    auto forSteps = [&](llvm::function_ref<void(Value)> body) {
      emitLoop(b, k / group, 1, body);
    };
    if (byRows)
      return forSteps([&](Value step) {
        forPanels([&](Value panel, Value column, int64_t width) {
          packRow(unit, step, panel, column, width);
        });
      });
    forPanels([&](Value panel, Value column, int64_t width) {
      forSteps([&](Value step) { packRow(unit, step, panel, column, width); });
    });
  }

  /// `group` rows of a panel.
  void packRow(Value unit, Value step, Value panel, Value column,
               int64_t width) {
    int64_t bits = from.getIntOrFloatBitWidth();
    Value row = times(step, group), to = below(step);
    int64_t most = width % together ? tile.lanes : together;
    for (int64_t at = 0; at < width; at += most) {
      int64_t lanes = std::min(most, width - at);
      SmallVector<Value> rows;
      for (int64_t i = 0; i < group; ++i) {
        Value from = offsetBy(b, row, i), lane = offsetBy(b, column, at);
        if (ahead && at * bits % (8 * lineBytes) < lanes * bits)
          emitPrefetch(b, unit, offsetBy(b, from, ahead), lane);
        rows.push_back(unit ? load(unit, from, lane, lanes)
                            : convert(fetch(b, from, lane, lanes)));
      }
      for (auto [i, part] : llvm::enumerate(
               interleaveRows(b, rows, std::min(lanes, tile.lanes))))
        vector::StoreOp::create(
            b, part, dst,
            ValueRange{
                panel, to,
                constant((at + static_cast<int64_t>(i) * tile.lanes) * group)});
    }
  }

  /// Squares of words: read along columns, transposed in registers.
  void packColumns(Value unit) {
    int64_t side = std::min<int64_t>(16, tile.lanes);
    while (k % (side * group) || n % side || tile.columns() % side)
      side /= 2;
    if (side < 4)
      return packElements();
    // As many squares of a column as are converted at once.
    int64_t squares = std::max<int64_t>(1, together / (side * group));
    while (k % (squares * side * group))
      squares /= 2;
    Value columnsFirst = swapDims(b, unit);
    auto packed = cast<MemRefType>(dst.getType()).getElementType();
    Type word = packed;
    if (group > 1)
      word = b.getIntegerType(packed.getIntOrFloatBitWidth() * group);
    auto words = VectorType::get(side, word),
         elements = VectorType::get(side * group, packed);
    forPanels([&](Value panel, Value column, int64_t width) {
      emitLoop(b, width, side, [&](Value within) {
        Value first = arith::AddIOp::create(b, column, within),
              lane = times(within, group);
        emitLoop(b, k / group, squares * side, [&](Value step) {
          Value depth = times(step, group), to = below(step);
          SmallVector<Value> rows;
          for (int64_t i = 0; i < side; ++i)
            rows.push_back(load(columnsFirst, offsetBy(b, first, i), depth,
                                squares * side * group));
          for (int64_t part = 0; part < squares; ++part) {
            SmallVector<Value> square;
            for (Value row : rows) {
              if (squares > 1)
                row = vector::ExtractStridedSliceOp::create(
                    b, row, ArrayRef<int64_t>{part * side * group},
                    ArrayRef<int64_t>{side * group}, ArrayRef<int64_t>{1});
              square.push_back(
                  group > 1 ? vector::BitCastOp::create(b, words, row) : row);
            }
            square = transposeSquare(b, b.getLoc(), square);
            for (auto [i, value] : llvm::enumerate(square))
              vector::StoreOp::create(
                  b,
                  group > 1 ? vector::BitCastOp::create(b, elements, value)
                            : value,
                  dst,
                  ValueRange{panel, offsetBy(b, to, part * side + i), lane});
          }
        });
      });
    });
  }

  void packElements() {
    forPanels([&](Value panel, Value column, int64_t width) {
      emitLoop(b, k / group, 1, [&](Value step) {
        Value row = times(step, group), to = below(step);
        emitLoop(b, width, 1, [&](Value within) {
          Value at = arith::AddIOp::create(b, column, within),
                lane = times(within, group);
          for (int64_t i = 0; i < group; ++i) {
            Value value = loadOne(b, src, ValueRange{offsetBy(b, row, i), at});
            memref::StoreOp::create(
                b, convert(value), dst,
                ValueRange{panel, to, offsetBy(b, lane, i)});
          }
        });
      });
    });
  }

  ImplicitLocOpBuilder &b;
  Value src, dst, firstRow, end;
  int64_t group, ahead;
  /// How many elements of a row are read at once where a panel has a multiple.
  int64_t together;
  int64_t k, n;
  const MatmulTile &tile;
  Convert convert;
  Fetch fetch;
  Type from;
};

} // namespace

void tilebridge::cpu::emitPackPanels(ImplicitLocOpBuilder &b, Value src,
                                     Value dst, Value firstRow, int64_t group,
                                     int64_t ahead, int64_t together,
                                     const MatmulTile &tile, Value end,
                                     Convert convert) {
  PanelPacker(b, src, dst, firstRow, group, ahead, together, tile, end, convert)
      .emit();
}

void tilebridge::cpu::emitPackComputed(ImplicitLocOpBuilder &b,
                                       RankedTensorType type, Fetch fetch,
                                       Value dst, Value firstRow, int64_t group,
                                       int64_t together, const MatmulTile &tile,
                                       Value end, Convert convert) {
  PanelPacker(b, type, fetch, dst, firstRow, group, together, tile, end,
              convert)
      .emit();
}

void tilebridge::cpu::forPanels(
    ImplicitLocOpBuilder &b, int64_t n, int64_t columns, Value end,
    llvm::function_ref<void(Value, Value, int64_t)> body) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  int64_t whole = n / columns, rest = n % columns;
  auto bodyOf = [&](Value panel) {
    body(panel, arith::MulIOp::create(b, panel, index(columns)), columns);
  };
  if (!end || n <= columns) {
    emitLoop(b, whole, 1, bodyOf);
    if (rest)
      body(index(whole), index(n - rest), rest);
    return;
  }
  OpBuilder::InsertionGuard guard(b);
  Value seen =
      arith::DivUIOp::create(b, offsetBy(b, end, columns - 1), index(columns));
  auto loop = scf::ForOp::create(
      b, index(0), arith::MinUIOp::create(b, seen, index(whole)), index(1));
  if (rest) {
    Value isSeen = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, end,
                                         index(n - rest));
    auto branch = scf::IfOp::create(b, isSeen, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard inBranch(b);
    b.setInsertionPointToStart(branch.thenBlock());
    body(index(whole), index(n - rest), rest);
  }
  b.setInsertionPointToStart(loop.getBody());
  bodyOf(loop.getInductionVar());
}
