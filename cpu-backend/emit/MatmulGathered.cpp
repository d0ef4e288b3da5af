//===- MatmulGathered.cpp - operands of gathered rows ---------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The pixels that a convolution multiplies are rows of `a`, at places that are
// computed by divisions: most of them follow one another in memory, and the
// channels of a pixel lie far apart. A micro-kernel that reads single elements
// of `a` reads them in any order: what lies side by side in memory, pixels of a
// channel, stays side by side when it is packed, as a column of `a`. For each
// vector of rows it is asked once where they lie; all columns lie alike.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/DeepMatmul.h"
#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/RowRun.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

namespace tilebridge::cpu {
class GatheredColumns {
public:
  GatheredColumns(FunctionEmitter &fe, const DeepMatmul &product,
                  const View &view, Value pad)
      : fe(fe), product(product), b(product.op->getLoc(), fe.builder()),
        kernel(product.kernel(b)), view(view),
        lanes(kernel.lanesOfColumn(view.shape[0])),
        type(VectorType::get({lanes}, view.elementType())), pad(pad) {}

  /// Rows that `view` numbers.
  LogicalResult emitRows();
  /// Rows that follow one another, with a mask by element: a tensor of the old
  /// function.
  LogicalResult emitMasked(Value mask);

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value at(OpFoldResult value) { return toValue(b, b.getLoc(), value); }
  Value plus(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value placeOf(Value first, Value column) {
    return plus(first, arith::MulIOp::create(b, column, at(view.strides[1])));
  }

  LogicalResult emit(llvm::function_ref<LogicalResult(Index)> body);
  void store(Value value, Value column);
  void fill(OpFoldResult from, OpFoldResult to);
  void forColumns(OpFoldResult from, OpFoldResult to,
                  llvm::function_ref<void(Value)> body);
  void copy(Value start, Value mask);
  void copyEveryOther(Value start, Value mask);
  void copyOrGather(const RowRun &run, Value numbers, Value mask);
  void gather(Value numbers, Value mask);

  FunctionEmitter &fe;
  const DeepMatmul &product;
  ImplicitLocOpBuilder b;
  MatmulKernel kernel;
  const View &view;
  int64_t lanes;
  VectorType type;
  /// What elements are that are not there: a scalar of the old function (null:
  /// 0), and a vector; the first row.
  Value pad, others, row;
};
} // namespace tilebridge::cpu

void GatheredColumns::store(Value value, Value column) {
  SmallVector<Value> at = {plus(product.filled, column), row};
  if (product.isSwapped) {
    // In the panel of these rows.
    Value columns =
        constant(cast<MemRefType>(product.lhs.getType()).getDimSize(2));
    at[1] = arith::RemUIOp::create(b, row, columns);
    at.insert(at.begin(), arith::DivUIOp::create(b, row, columns));
  }
  vector::StoreOp::create(b, kernel.asLeft(value), product.lhs, at);
}

void GatheredColumns::forColumns(OpFoldResult from, OpFoldResult to,
                                 llvm::function_ref<void(Value)> body) {
  if (from == to)
    return;
  auto loop = scf::ForOp::create(b, at(from), at(to), constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void GatheredColumns::fill(OpFoldResult from, OpFoldResult to) {
  forColumns(from, to, [&](Value column) { store(others, column); });
}

/// Most likely the next rows, or those of the next program, are there: columns
/// are so far apart that the CPU's prefetchers follow none.
void tilebridge::cpu::askForNextLine(ImplicitLocOpBuilder &b, const View &view,
                                     Value place, bool isWrite) {
  int64_t bits = view.elementType().getIntOrFloatBitWidth();
  memref::PrefetchOp::create(
      b, view.base, ValueRange{offsetBy(b, place, 8 * lineBytes / bits)},
      isWrite, /*localityHint=*/3, /*isDataCache=*/true);
}

/// Rows that follow one another from `start` on.
void GatheredColumns::copy(Value start, Value mask) {
  Value first = plus(at(view.offset), start);
  forColumns(view.lo[1], view.hi[1], [&](Value column) {
    Value place = placeOf(first, column), value;
    if (mask)
      value =
          vector::MaskedLoadOp::create(b, type, view.base, place, mask, others);
    else
      value = vector::LoadOp::create(b, type, view.base, place);
    if (!mask)
      askForNextLine(b, view, place, /*isWrite=*/false);
    store(value, column);
  });
}

/// Every other one of such rows, as a stride of 2 has them: the second load
/// ends with the last one.
void GatheredColumns::copyEveryOther(Value start, Value mask) {
  Value first = plus(at(view.offset), start);
  SmallVector<int64_t> order, lower, upper;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    bool isUpper = lane >= lanes / 2;
    order.push_back(2 * lane + (isUpper ? 1 : 0));
    // Those between are not needed: the first lane of what is off.
    lower.push_back(lane % 2 ? lanes : lane / 2);
    upper.push_back(lane % 2 ? (lanes + lane) / 2 : lanes);
  }
  Value masks[2];
  if (mask) {
    Value off = arith::ConstantOp::create(b, b.getZeroAttr(mask.getType()));
    masks[0] = vector::ShuffleOp::create(b, mask, off, lower);
    masks[1] = vector::ShuffleOp::create(b, mask, off, upper);
  }
  forColumns(view.lo[1], view.hi[1], [&](Value column) {
    Value place = placeOf(first, column), parts[2];
    for (unsigned i : {0, 1}) {
      Value from = i == 0 ? place : plus(place, constant(lanes - 1));
      if (mask)
        parts[i] = vector::MaskedLoadOp::create(b, type, view.base, from,
                                                masks[i], others);
      else
        parts[i] = vector::LoadOp::create(b, type, view.base, from);
    }
    store(vector::ShuffleOp::create(b, parts[0], parts[1], order), column);
  });
}

void GatheredColumns::gather(Value numbers, Value mask) {
  Value first = at(view.offset);
  if (!mask)
    mask = allLanes(b, b.getLoc(), lanes);
  forColumns(view.lo[1], view.hi[1], [&](Value column) {
    store(vector::GatherOp::create(b, type, view.base, placeOf(first, column),
                                   numbers, mask, others),
          column);
  });
}

void GatheredColumns::copyOrGather(const RowRun &run, Value numbers,
                                   Value mask) {
  auto any = [&] {
    RowRun everyOther(b, numbers, mask, 2);
    emitChoice(
        b, everyOther.isRun, [&] { copyEveryOther(everyOther.start, mask); },
        [&] { gather(numbers, mask); });
  };
  if (!mask)
    return emitChoice(b, run.isRun, [&] { copy(run.start, {}); }, any);
  // Rows above and below a picture are all missing.
  auto some = [&] {
    emitChoice(b, run.isRun, [&] { copy(run.start, mask); }, any);
  };
  auto notAll = [&] {
    emitChoice(b, run.isNone, [&] { fill(view.lo[1], view.hi[1]); }, some);
  };
  Value isPlain = arith::AndIOp::create(b, run.isRun, run.isWhole);
  emitChoice(b, isPlain, [&] { copy(run.start, {}); }, notAll);
}

/// `body` for each vector of rows that are wanted.
LogicalResult
GatheredColumns::emit(llvm::function_ref<LogicalResult(Index)> body) {
  OpBuilder &builder = fe.builder();
  OpBuilder::InsertionGuard guard(builder);
  Location loc = b.getLoc();
  others = pad ? fe.mapScalar(pad) : fe.zeroOf(view.elementType(), loc);
  if (!others)
    return failure();
  others = fe.toLanes(others, lanes);
  Frame own;
  own.open(builder);
  own.lanes = lanes;
  Value end = arith::ConstantIndexOp::create(builder, loc, view.shape[0]);
  if (product.wanted)
    end = arith::MinSIOp::create(builder, loc, end, product.wanted);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Index index = own.openLoop(builder, loc, 0, zero, end, lanes, true);
  row = index.base;
  Frame *outer = std::exchange(fe.frame, &own);
  LogicalResult result = body(index);
  fe.frame = outer;
  return result;
}

LogicalResult GatheredColumns::emitRows() {
  return emit([&](Index index) {
    FailureOr<RowLanes> rows = RowLanes::of(fe, view, index, lanes);
    if (failed(rows))
      return failure();
    b.setInsertionPoint(fe.builder().getInsertionBlock(),
                        fe.builder().getInsertionPoint());
    if (!view.isFull(1)) {
      fill(b.getIndexAttr(0), view.lo[1]);
      fill(view.hi[1], product.ownEnd(b));
    }
    copyOrGather(RowRun(b, rows->numbers, rows->mask), rows->numbers,
                 rows->mask);
    return success();
  });
}

LogicalResult GatheredColumns::emitMasked(Value mask) {
  return emit([&](Index index) {
    OpBuilder &builder = fe.builder();
    Index column = fe.frame->openLoop(
        builder, b.getLoc(), 1, toValue(builder, b.getLoc(), view.lo[1]),
        at(product.ownSteps ? product.ownEnd(b) : view.hi[1]), 1, false);
    Value exists = fe.evaluate(mask, {index, column});
    if (!exists)
      return failure();
    b.setInsertionPoint(builder.getInsertionBlock(),
                        builder.getInsertionPoint());
    store(vector::MaskedLoadOp::create(
              b, type, view.base,
              placeOf(plus(at(view.offset), row), column.base),
              fe.toLanes(exists, lanes), others),
          column.base);
    return success();
  });
}

bool tilebridge::cpu::givesGatheredColumns(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (auto branch = dyn_cast_or_null<scf::IfOp>(op)) {
    unsigned i = cast<OpResult>(tensor).getResultNumber();
    return givesGatheredColumns(branch.thenYield()->getOperand(i)) ||
           givesGatheredColumns(branch.elseYield()->getOperand(i));
  }
  auto rows = dyn_cast_or_null<linalg_ext::GatherRowsOp>(op);
  if (!rows || rows.getDim() != 0)
    return false;
  auto strides = rows.getView().getType().getStridesAndOffset().first;
  return strides.size() == 2 && strides[0] == 1 && strides[1] != 1;
}

bool tilebridge::cpu::hasGatheredColumns(const DeepMatmul &product,
                                         const MatmulKernel &kernel) {
  linalg::MatmulOp op = product.op;
  constexpr int64_t leastLanes = 4;
  auto type = cast<RankedTensorType>(op.getInputs()[0].getType());
  return !product.form.swapsLhs && kernel.readsElements() &&
         kernel.lanesOfColumn(type.getDimSize(0)) >= leastLanes &&
         givesGatheredColumns(op.getInputs()[0]);
}

LogicalResult FunctionEmitter::packByColumns(const DeepMatmul &product,
                                             Value tensor) {
  auto known = irregular.find(tensor);
  if (known != irregular.end() && !buffers.count(tensor)) {
    const View &view = *known->second;
    auto load = tensor.getDefiningOp<linalg_ext::MaskedLoadOp>();
    Value pad = load ? load.getOther() : view.pad;
    bool isScalar = !pad || !isa<RankedTensorType>(pad.getType());
    GatheredColumns columns(*this, product, view, pad);
    if (constantOf(view.strides[0]) == 1 && isScalar)
      return load ? columns.emitMasked(load.getMask()) : columns.emitRows();
  }
  // Anything else, by squares that are transposed where its rows are
  // contiguous.
  ImplicitLocOpBuilder b(product.op->getLoc(), rewriter);
  Value from = viewOf(tensor, product.endsOfCopy(b, /*isLhs=*/true));
  if (!from)
    return failure();
  b.setInsertionPoint(rewriter.getInsertionBlock(),
                      rewriter.getInsertionPoint());
  product.packSteps(b, swapDims(b, from), 0, [&](Value part, Value at) {
    if (product.isSwapped)
      return product.swappedKernel(b).packRhs(part, product.lhs, at);
    ArrayRef<int64_t> shape = cast<MemRefType>(part.getType()).getShape();
    SmallVector<OpFoldResult> offsets = {at, b.getIndexAttr(0)},
                              strides(2, b.getIndexAttr(1));
    product.kernel(b).packLhs(
        part, memref::SubViewOp::create(
                  b, product.lhs, offsets,
                  getAsIndexOpFoldResult(b.getContext(), shape), strides));
  });
  return success();
}
