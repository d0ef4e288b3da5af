//===- MatmulMaskedRows.cpp - products of rows that a mask chooses --------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Rows of the left operand from the first to the last one that a mask chooses
// are packed and multiplied; tokens that are sorted by their experts are
// nothing but these. The program asks the mask once for each loop that adds up
// such products. All other rows are zeros: so is what they add, unless the
// right operand has infinities or NaNs. Then no sum of these columns is finite,
// whatever it is multiplied with: one row of sums tells, and one row of zeros
// is multiplied for all that were left out.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/DeepMatmul.h"
#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/MaskedRows.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Rows of `memref` from `first` on; so many as before, of which not all exist.
static Value fromRow(ImplicitLocOpBuilder &b, Value memref, Value first) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides = type.getStridesAndOffset().first;
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  SmallVector<OpFoldResult> mixed;
  for (auto [known, stride] : llvm::zip_equal(strides, metadata.getStrides()))
    mixed.push_back(ShapedType::isDynamic(known)
                        ? OpFoldResult(stride)
                        : OpFoldResult(b.getIndexAttr(known)));
  Value before =
      arith::MulIOp::create(b, first, toValue(b, b.getLoc(), mixed[0]));
  auto layout =
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, strides);
  return memref::ReinterpretCastOp::create(
      b, MemRefType::get(type.getShape(), type.getElementType(), layout),
      metadata.getBaseBuffer(),
      OpFoldResult(arith::AddIOp::create(b, metadata.getOffset(), before)),
      getAsIndexOpFoldResult(b.getContext(), type.getShape()), mixed);
}

/// Of one row at least, as many as are computed.
int64_t MatmulKernel::rowsOfFirstTile() const {
  if (usesTiles() || splitRows(m).whole > 0)
    return tile.rows;
  return splitRows(m).rest;
}

MaskedRows MatmulKernel::cover(Value first, Value count) const {
  auto upTo = [&](Value value, int64_t step) -> Value {
    return arith::MulIOp::create(
        b,
        arith::DivUIOp::create(b, offsetBy(b, value, step - 1), constant(step)),
        constant(step));
  };
  auto isUpTo = [&](int64_t most) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sle, count,
                                 constant(most));
  };
  Value covered = upTo(count, tile.rows);
  if (RowSplit split = splitRows(m); !usesTiles() && split.rest > 0) {
    Value behind = arith::SubIOp::create(b, count, constant(split.whole)),
          all = offsetBy(b, upTo(behind, split.rest), split.whole);
    covered = arith::SelectOp::create(b, isUpTo(split.whole), covered, all);
  }
  if (hasTileOfOne())
    covered = arith::SelectOp::create(b, isUpTo(1), constant(1), covered);
  Value last = arith::SubIOp::create(b, constant(m), covered);
  first = arith::MinSIOp::create(b, first, last);
  return {first, covered, arith::AddIOp::create(b, first, covered)};
}

/// Whether no number of the first row is an infinity or NaN.
Value MatmulKernel::isFinite(Value sums) const {
  auto element = cast<FloatType>(accElement);
  unsigned bits = element.getWidth();
  int64_t lanes = lanesAlong(n, settings.target.vectorBits / bits);
  auto type = VectorType::get(lanes, b.getIntegerType(bits));
  // All ones in an exponent.
  Value infinity = arith::ConstantOp::create(
      b,
      DenseElementsAttr::get(
          type, APFloat::getInf(element.getFloatSemantics()).bitcastToAPInt()));
  Value none = arith::ConstantOp::create(b, b.getZeroAttr(type));
  auto loop = scf::ForOp::create(b, constant(0), constant(n), constant(lanes),
                                 ValueRange{none});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value some =
        vector::LoadOp::create(b, VectorType::get(lanes, accElement), sums,
                               ValueRange{constant(0), loop.getInductionVar()});
    Value exponents = arith::AndIOp::create(
        b, vector::BitCastOp::create(b, type, some), infinity);
    scf::YieldOp::create(
        b, arith::MaxUIOp::create(b, loop.getRegionIterArg(0), exponents)
               .getResult());
  }
  Value isBelow = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                        loop.getResult(0), infinity);
  return vector::ReductionOp::create(b, vector::CombiningKind::AND, isBelow);
}

/// Zeros in the first rows.
void MatmulKernel::clear(Value memref, int64_t rows) const {
  auto type = cast<MemRefType>(memref.getType());
  int64_t columns = type.getDimSize(1),
          lanes = lanesAlong(columns, settings.target.vectorBits /
                                          type.getElementTypeBitWidth());
  Value zero = arith::ConstantOp::create(
      b, b.getZeroAttr(VectorType::get(lanes, type.getElementType())));
  emitLoop(b, rows, 1, [&](Value row) {
    emitLoop(b, columns, lanes, [&](Value column) {
      vector::StoreOp::create(b, zero, memref, ValueRange{row, column});
    });
  });
}

/// Adds the first row of `sums` to rows of `acc`.
void MatmulKernel::addRow(Value sums, Value acc, Value begin, Value end) const {
  int64_t lanes = lanesAlong(n, settings.target.vectorBits /
                                    accElement.getIntOrFloatBitWidth());
  auto type = VectorType::get(lanes, accElement);
  auto loop = scf::ForOp::create(b, begin, end, constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  emitLoop(b, n, lanes, [&](Value column) {
    Value one = vector::LoadOp::create(b, type, sums,
                                       ValueRange{constant(0), column}),
          other = vector::LoadOp::create(
              b, type, acc, ValueRange{loop.getInductionVar(), column});
    vector::StoreOp::create(b, arith::AddFOp::create(b, other, one), acc,
                            ValueRange{loop.getInductionVar(), column});
  });
}

void MatmulKernel::multiplyMasked(Value lhs, Value rhs, Value acc, Value depth,
                                  const MaskedRows &rows,
                                  Allocate allocate) const {
  Value part = fromRow(b, acc, rows.first), left = fromRow(b, lhs, rows.first);
  if (!isa<FloatType>(accElement))
    return multiply(left, rhs, part, depth, allocate, {}, rows.count);
  int64_t few = rowsOfFirstTile();
  Value firstRows = fromRow(b, lhs, constant(0));
  Value memory = allocate(MemRefType::get({few, n}, accElement)),
        zeroSums = memref::ReinterpretCastOp::create(
            b, cast<MemRefType>(part.getType()), memory,
            OpFoldResult(constant(0)),
            ArrayRef<OpFoldResult>{b.getIndexAttr(m), b.getIndexAttr(n)},
            ArrayRef<OpFoldResult>{b.getIndexAttr(n), b.getIndexAttr(1)});
  // One more turn, with a row of zeros, where there is an infinity or NaN.
  Value no = arith::ConstantIntOp::create(b, 0, 1),
        yes = arith::ConstantIntOp::create(b, 1, 1);
  auto turns = scf::WhileOp::create(b, TypeRange{b.getI1Type()}, ValueRange{no},
                                    nullptr, nullptr);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(turns.getBeforeBody());
  Value isOfZeros = turns.getBeforeArguments()[0];
  auto choose = [&](Value ofZeros, Value other) -> Value {
    return arith::SelectOp::create(b, isOfZeros, ofZeros, other);
  };
  Value sums = choose(zeroSums, part);
  multiply(choose(firstRows, left), rhs, sums, depth, allocate, {},
           choose(constant(1), rows.count));
  Value isOpen = arith::XOrIOp::create(
      b, arith::OrIOp::create(b, isOfZeros, isFinite(sums)), yes);
  scf::ConditionOp::create(b, isOpen, ValueRange{isOfZeros});
  b.setInsertionPointToStart(turns.getAfterBody());
  clear(lhs, few);
  clear(memory, few);
  scf::YieldOp::create(b, yes);
  b.setInsertionPointAfter(turns);
  auto branch =
      scf::IfOp::create(b, turns.getResult(0), /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  addRow(memory, acc, constant(0), rows.first);
  addRow(memory, acc, rows.end, constant(m));
}

/// The rows that are multiplied, by the mask that is known here; nothing after
/// an error.
std::optional<MaskedRows> FunctionEmitter::maskedRowsOf(linalg::MatmulOp op) {
  if (auto it = maskedRows.find(op);
      it != maskedRows.end() && isHere(it->second.count))
    return it->second;
  Value mask = findMaskedRows(op);
  auto form = MatmulForm::of(cast<linalg::LinalgOp>(*op), emitTarget);
  if (!mask || failed(form))
    return std::nullopt;
  form->settings.isInLoop = true;
  int64_t size = cast<RankedTensorType>(mask.getType()).getDimSize(0);
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  SmallVector<Value> found = reduceIndices(
      size, {vector::CombiningKind::MINSI, vector::CombiningKind::MAXSI},
      {most, 0}, op.getLoc(),
      [&](const Index &row, ValueRange carried) -> SmallVector<Value> {
        Value isTrue = toLanes(evaluate(mask, row), frame->lanes);
        if (!isTrue)
          return {};
        ImplicitLocOpBuilder b(op.getLoc(), rewriter);
        auto type = cast<VectorType>(carried[0].getType());
        Value first = arith::IndexCastOp::create(b, b.getI64Type(), row.base),
              at = arith::AddIOp::create(
                  b, numbersFrom0(b, b.getLoc(), type),
                  vector::BroadcastOp::create(b, type, first)),
              one = arith::ConstantOp::create(
                  b, DenseElementsAttr::get(type, b.getI64IntegerAttr(1)));
        Value low = arith::MinSIOp::create(b, at, carried[0]),
              high = arith::MaxSIOp::create(
                  b, arith::AddIOp::create(b, at, one), carried[1]);
        return {arith::SelectOp::create(b, isTrue, low, carried[0]),
                arith::SelectOp::create(b, isTrue, high, carried[1])};
      });
  if (found.empty())
    return std::nullopt;
  // One row of zeros, if there is no other.
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value first = arith::MinSIOp::create(b, found[0], found[1]),
        count = arith::MaxSIOp::create(
            b, arith::SubIOp::create(b, found[1], first), index(1));
  DeepMatmul product;
  product.op = op;
  product.form = *form;
  auto lhs = cast<RankedTensorType>(op.getInputs()[0].getType());
  product.depth = lhs.getDimSize(1);
  return maskedRows[op] = product.kernel(b).cover(first, count);
}

void MatmulKernel::keepLhs(Type element) {
  bool isKept = false;
  switch (unit) {
  case MatmulUnit::MultiplyAdd:
    isKept = element == packedElement;
    break;
  case MatmulUnit::Bf16Pairs:
  case MatmulUnit::Bf16Tiles:
    isKept = element.isBF16();
    break;
  case MatmulUnit::I8Quads:
  case MatmulUnit::I8Tiles:
    isKept = true;
    break;
  case MatmulUnit::I16Pairs:
  case MatmulUnit::I16PairSums:
    break;
  }
  if (isKept)
    keptElement = element;
}

/// Packs the left operand, from the first row that is multiplied on: computes
/// it where it is packed, if it is in no memory before.
LogicalResult FunctionEmitter::packMaskedRows(const DeepMatmul &product) {
  Value tensor = product.op->getOperand(0), at = product.filled;
  const MaskedRows &rows = *product.masked;
  ImplicitLocOpBuilder b(product.op->getLoc(), rewriter);
  auto type = cast<MemRefType>(product.lhs.getType());
  Type element = getElementTypeOrSelf(tensor.getType());
  if (type.getElementType() != element || buffers.count(tensor)) {
    Value buffer = bufferOf(tensor);
    if (!buffer)
      return failure();
    product.kernel(b).packRows(rowsOf(b, fromRow(b, buffer, rows.first)),
                               element, fromRow(b, product.lhs, rows.first), at,
                               arith::ConstantIndexOp::create(b, product.depth),
                               product.depth, rows.count);
    return success();
  }
  // A nest may compute other rows as well.
  SmallVector<OpFoldResult> offsets = {b.getIndexAttr(0), at},
                            strides(2, b.getIndexAttr(1)), sizes;
  for (int64_t size : {type.getDimSize(0), product.depth})
    sizes.push_back(b.getIndexAttr(size));
  Value to = memref::SubViewOp::create(b, product.lhs, offsets, sizes, strides);
  return materialize(tensor, to);
}

void tilebridge::cpu::multiplyMaskedPanels(ImplicitLocOpBuilder &b,
                                           const DeepMatmul &product, Value acc,
                                           Value steps, Allocate allocate) {
  MatmulKernel kernel = product.kernel(b);
  if (product.shared)
    kernel.askForPanels(product.shared->nextPanels);
  kernel.multiplyMasked(product.lhs, product.rhs, acc, steps, *product.masked,
                        allocate);
}

/// A product that no loop gathers operands for.
LogicalResult FunctionEmitter::emitMaskedMatmul(linalg::MatmulOp op) {
  auto form = MatmulForm::of(cast<linalg::LinalgOp>(*op), emitTarget);
  DeepMatmul product;
  product.op = op;
  product.masked = maskedRowsOf(op);
  Value rhs = viewOf(op.getInputs()[1]),
        acc = accumulate(op.getDpsInits()[0], op->getResult(0));
  if (failed(form) || !product.masked || !rhs || !acc)
    return failure();
  product.form = *form;
  product.form.settings.isInLoop = true;
  product.columnsEnd = wantedEnd(op->getResult(0), 1);
  product.depth = product.capacity =
      cast<RankedTensorType>(op.getInputs()[0].getType()).getDimSize(1);
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  MatmulKernel kernel = product.kernel(b);
  auto allocate = allocateAt(*this, b);
  product.lhs = allocate(product.typeOfLhs(b));
  product.filled = arith::ConstantIndexOp::create(b, 0);
  if (failed(packMaskedRows(product)))
    return failure();
  if (form->swapsRhs)
    rhs = swapDims(b, rhs);
  bool packsRhs = !kernel.readsRhs(cast<MemRefType>(rhs.getType()));
  kernel.report(getElementTypeOrSelf(op.getInputs()[0].getType()),
                getElementTypeOrSelf(rhs.getType()),
                "packed, from the first to the last row of a mask",
                packsRhs ? "packed" : "where it lies");
  if (packsRhs) {
    Value panels = allocate(kernel.packedRhs(product.depth));
    kernel.packRhs(rhs, panels);
    rhs = panels;
  }
  Value end = form->endOfSteps(
      b, op, [&](Value value) { return recomputed(b, value); });
  end = end ? kernel.wholeSteps(end, product.depth)
            : arith::ConstantIndexOp::create(b, product.depth).getResult();
  kernel.multiplyMasked(product.lhs, rhs, acc, end, *product.masked, allocate);
  return success();
}
