//===- MatmulPack.cpp - operands of a product into contiguous memory ------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Matmul.h"
#include "cpu-backend/emit/TransposeSquare.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilebridge::cpu;

Value tilebridge::cpu::loadOne(ImplicitLocOpBuilder &b, Value memref,
                               ValueRange at) {
  auto type =
      VectorType::get(1, cast<MemRefType>(memref.getType()).getElementType());
  Value one = vector::LoadOp::create(b, type, memref, at);
  return vector::ExtractOp::create(b, one, ArrayRef<int64_t>{0});
}

void tilebridge::cpu::emitChoice(ImplicitLocOpBuilder &b, Value condition,
                                 llvm::function_ref<void()> then,
                                 llvm::function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  then();
  b.setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

void tilebridge::cpu::emitLoop(ImplicitLocOpBuilder &b, int64_t count,
                               int64_t step,
                               llvm::function_ref<void(Value)> body) {
  if (count <= 0)
    return;
  Value zero = arith::ConstantIndexOp::create(b, 0);
  if (count <= step)
    return body(zero);
  Value end = arith::ConstantIndexOp::create(b, count),
        by = arith::ConstantIndexOp::create(b, step);
  auto loop = scf::ForOp::create(b, zero, end, by);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

Value tilebridge::cpu::offsetBy(ImplicitLocOpBuilder &b, Value value,
                                int64_t offset) {
  if (offset == 0)
    return value;
  return arith::AddIOp::create(b, value,
                               arith::ConstantIndexOp::create(b, offset));
}

Value tilebridge::cpu::widenTo(ImplicitLocOpBuilder &b, Value value,
                               Type element, bool isUnsigned) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element)
    return value;
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(element);
  if (isa<FloatType>(element) && !isa<FloatType>(from))
    return arith::SIToFPOp::create(b, type, value);
  // What was rounded and need not have been is not (DotScaled.cpp).
  if (isa<FloatType>(element))
    return arith::ExtFOp::create(
        b, type, value,
        arith::FastMathFlagsAttr::get(b.getContext(),
                                      arith::FastMathFlags::contract));
  if (isUnsigned)
    return arith::ExtUIOp::create(b, type, value);
  return arith::ExtSIOp::create(b, type, value);
}

Value tilebridge::cpu::swapDims(ImplicitLocOpBuilder &b, Value memref) {
  auto map = AffineMapAttr::get(
      AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0}, b.getContext()));
  return memref::TransposeOp::create(b, memref, map);
}

/// `then` with `src` as a view whose type says that stride `dim` is 1, if it
/// is; the type of `src` does not know.
static void ifUnitStride(ImplicitLocOpBuilder &b, Value src, unsigned dim,
                         llvm::function_ref<void(Value)> then,
                         llvm::function_ref<void()> otherwise) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, src);
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value isUnit = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                       metadata.getStrides()[dim], one);
  auto branch = scf::IfOp::create(b, isUnit, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  auto old = cast<MemRefType>(src.getType());
  SmallVector<int64_t> staticStrides = old.getStridesAndOffset().first;
  staticStrides[dim] = 1;
  SmallVector<OpFoldResult> strides;
  for (auto [known, stride] :
       llvm::zip_equal(staticStrides, metadata.getStrides()))
    strides.push_back(ShapedType::isDynamic(known)
                          ? OpFoldResult(stride)
                          : OpFoldResult(b.getIndexAttr(known)));
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic,
                                       staticStrides);
  auto type = MemRefType::get(old.getShape(), old.getElementType(), layout,
                              old.getMemorySpace());
  then(memref::ReinterpretCastOp::create(
      b, type, metadata.getBaseBuffer(), OpFoldResult(metadata.getOffset()),
      getAsIndexOpFoldResult(b.getContext(), old.getShape()), strides));
  b.setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

void tilebridge::cpu::byUnitStride(ImplicitLocOpBuilder &b, Value src,
                                   llvm::function_ref<void(Value)> rows,
                                   llvm::function_ref<void(Value)> columns,
                                   llvm::function_ref<void()> neither) {
  auto type = cast<MemRefType>(src.getType());
  SmallVector<int64_t> strides = type.getStridesAndOffset().first;
  if (strides[1] == 1 || type.getDimSize(1) == 1)
    return rows(src);
  if (strides[0] == 1 || type.getDimSize(0) == 1)
    return columns(src);
  auto maybeColumns = [&] {
    if (ShapedType::isDynamic(strides[0]))
      ifUnitStride(b, src, 0, columns, neither);
    else
      neither();
  };
  if (ShapedType::isDynamic(strides[1]))
    ifUnitStride(b, src, 1, rows, maybeColumns);
  else
    maybeColumns();
}

void tilebridge::cpu::emitPrefetch(ImplicitLocOpBuilder &b, Value memref,
                                   Value row, Value column) {
  memref::PrefetchOp::create(b, memref, ValueRange{row, column},
                             /*isWrite=*/false, /*localityHint=*/2,
                             /*isDataCache=*/true);
}

namespace {

/// One copy of a block with vectors.
class Packer {
public:
  Packer(ImplicitLocOpBuilder &builder, Value src, Value dst, int64_t lanes,
         int64_t side, int64_t ahead, Convert convert)
      : b(builder), src(src), dst(dst), lanes(lanes), side(side), ahead(ahead),
        convert(convert) {
    auto type = cast<MemRefType>(src.getType());
    rows = type.getDimSize(0);
    columns = type.getDimSize(1);
    from = type.getElementType();
  }

  void emit() {
    byUnitStride(
        b, src, [&](Value unit) { copyRows(unit); },
        [&](Value unit) { copyColumns(unit); }, [&] { copyElements(0, 0); });
  }

private:
  Value load(Value memref, Value row, Value column, int64_t count) {
    return convert(vector::LoadOp::create(b, VectorType::get(count, from),
                                          memref, ValueRange{row, column}));
  }

  void copyRows(Value unit) {
    int64_t step = std::min(lanes, columns), whole = columns / step * step;
    emitLoop(b, rows, 1, [&](Value row) {
      emitLoop(b, whole, step, [&](Value column) {
        if (ahead)
          emitPrefetch(b, unit, row, offsetBy(b, column, ahead));
        vector::StoreOp::create(b, load(unit, row, column, step), dst,
                                ValueRange{row, column});
      });
      if (whole < columns) {
        Value column = arith::ConstantIndexOp::create(b, whole);
        vector::StoreOp::create(b, load(unit, row, column, columns - whole),
                                dst, ValueRange{row, column});
      }
    });
  }

  /// Squares are read as columns, transposed in registers, and written as rows.
  void copyColumns(Value unit) {
    while (side > rows || side > columns)
      side /= 2;
    if (side < 4)
      return copyElements(0, 0);
    int64_t wholeRows = rows / side * side,
            wholeColumns = columns / side * side;
    Value columnsFirst = swapDims(b, unit);
    emitLoop(b, wholeColumns, side, [&](Value column) {
      emitLoop(b, wholeRows, side, [&](Value row) {
        SmallVector<Value> square;
        for (int64_t i = 0; i < side; ++i) {
          Value at = offsetBy(b, column, i);
          if (ahead)
            emitPrefetch(b, columnsFirst, offsetBy(b, at, ahead), row);
          square.push_back(load(columnsFirst, at, row, side));
        }
        square = transposeSquare(b, b.getLoc(), square);
        for (int64_t i = 0; i < side; ++i)
          vector::StoreOp::create(b, square[i], dst,
                                  ValueRange{offsetBy(b, row, i), column});
      });
    });
    copyElements(wholeRows, wholeColumns);
  }

  /// What lies outside of the upper left corner of so many rows and columns.
  void copyElements(int64_t doneRows, int64_t doneColumns) {
    auto copy = [&](int64_t firstRow, int64_t lastRow, int64_t firstColumn) {
      if (firstColumn == columns)
        return;
      emitLoop(b, lastRow - firstRow, 1, [&](Value r) {
        emitLoop(b, columns - firstColumn, 1, [&](Value c) {
          SmallVector<Value> at = {offsetBy(b, r, firstRow),
                                   offsetBy(b, c, firstColumn)};
          Value value = loadOne(b, src, at);
          memref::StoreOp::create(b, convert(value), dst, at);
        });
      });
    };
    copy(0, doneRows, doneColumns);
    copy(doneRows, rows, 0);
  }

  ImplicitLocOpBuilder &b;
  Value src, dst;
  int64_t lanes, side, ahead, rows, columns;
  Convert convert;
  Type from;
};

} // namespace

void tilebridge::cpu::emitPack(ImplicitLocOpBuilder &b, Value src, Value dst,
                               int64_t lanes, int64_t side, int64_t ahead,
                               Convert convert) {
  Packer(b, src, dst, lanes, side, ahead, convert).emit();
}

void MatmulKernel::packLhs(Value src, Value packed, Value at) const {
  auto type = cast<MemRefType>(src.getType());
  Value dst = packed;
  if (at) {
    SmallVector<OpFoldResult> offsets = {b.getIndexAttr(0), at},
                              strides(2, b.getIndexAttr(1));
    dst = memref::SubViewOp::create(
        b, packed, offsets,
        getAsIndexOpFoldResult(b.getContext(), type.getShape()), strides);
  }
  // Whole registers; but few enough to transpose a square of them.
  int64_t bits = std::max(packedElement.getIntOrFloatBitWidth(),
                          type.getElementTypeBitWidth()),
          lanes = std::max<int64_t>(1, settings.target.vectorBits / bits);
  if (looksUp(type.getElementType()))
    lanes = lanesOfLookup;
  emitPack(b, src, dst, lanes, std::min(lanes, tile.lanes),
           at ? type.getDimSize(1) : 0,
           [&](Value value) { return convert(value, /*isLhs=*/true); });
}

/// How many rows further those are that are asked for: enough for memory to be
/// busy, and not so many that rows at a distance of a large power of two have
/// no places in the cache for all of them.
static int64_t rowsAhead(MemRefType block) {
  constexpr int64_t aheadBytes = 8 * 1024, leastRows = 8;
  int64_t rowBytes = std::max<int64_t>(
      64, block.getDimSize(1) * block.getElementTypeBitWidth() / 8);
  int64_t rows = std::max(leastRows, aheadBytes / rowBytes);
  return std::min(rows, block.getDimSize(0));
}

void MatmulKernel::packRhs(Value src, Value packed, Value at) const {
  int64_t ahead = at ? rowsAhead(cast<MemRefType>(src.getType())) : 0;
  if (at && group > 1)
    at = arith::DivUIOp::create(b, at, constant(group));
  emitPackPanels(b, src, packed, at, group, ahead, atOnce(rhsElement), tile,
                 columnsEnd,
                 [&](Value value) { return convert(value, /*isLhs=*/false); });
}

/// The widest vector that divides `step`.
static int64_t lanesFor(int64_t step, int64_t bytes, int64_t vectorBits) {
  int64_t lanes = 1;
  while (step % (2 * lanes) == 0 && 2 * lanes * 8 * bytes <= vectorBits)
    lanes *= 2;
  return lanes;
}

int64_t MatmulKernel::lanesOfColumn(int64_t rows) const {
  return lanesFor(rows, packedBytes(), settings.target.vectorBits);
}

int64_t MatmulKernel::lanesOfRow(int64_t columns, Type element) const {
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  return lanesFor(columns, std::max(bytes, packedBytes()),
                  settings.target.vectorBits);
}

void MatmulKernel::packRows(RowsInMemory rows, Type element, Value packed,
                            Value at, Value depth, int64_t step,
                            Value wanted) const {
  now.wanted = wanted;
  unsigned bits = element.getIntOrFloatBitWidth();
  bool isAsWide = bits == 8 * packedBytes();
  int64_t lanes = lanesFor(step, packedBytes(), settings.target.vectorBits);
  if (looksUp(element) && step % lanesOfLookup == 0)
    lanes = lanesOfLookup;
  // LLVM has no floats of 8 bits.
  auto type = VectorType::get(lanes, isAsWide    ? packedElement
                                     : bits == 8 ? b.getI8Type()
                                                 : element);
  forWantedRows(m, 1, [&](Value row) {
    Value from = addressOfRow(rows, row);
    auto loop = scf::ForOp::create(b, constant(0), depth, constant(lanes));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value column = loop.getInductionVar(), some = loadRow(from, column, type);
    if (!isAsWide && type.getElementType() != element)
      some = vector::BitCastOp::create(b, type.clone(element), some);
    if (!isAsWide)
      some = convert(some, /*isLhs=*/true);
    vector::StoreOp::create(
        b, some, packed, ValueRange{row, arith::AddIOp::create(b, column, at)});
  });
}

void MatmulKernel::packComputedRhs(RankedTensorType type, Fetch fetch,
                                   bool isOfBytes, Value packed,
                                   Value at) const {
  bool isLookedUp = isOfBytes && settings.target.hasByteLookups &&
                    type.getElementType().isBF16();
  if (group > 1)
    at = arith::DivUIOp::create(b, at, constant(group));
  emitPackComputed(
      b, type, fetch, packed, at, group, isLookedUp ? 64 : tile.lanes, tile,
      columnsEnd, [&](Value value) { return convert(value, /*isLhs=*/false); });
}
