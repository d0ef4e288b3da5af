//===- MatmulWideRows.cpp - few rows with long rows of b ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A product of few rows takes as long as memory takes to give b. What memory
// gives fastest is long pieces of few rows at once, read in their order: the
// CPU's prefetchers follow those, and have more lines under way than a core can
// ask for itself. So where a block of b has long rows, and few of them, each
// iteration multiplies with them where they lie. Whether few rows are wanted is
// known before the loop only; b is packed where it is not in memory as it
// should be, or where the program before had the same, so that the next ones
// find its panels.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/DeepMatmul.h"
#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilebridge::cpu;

static Value index(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

static Value times(ImplicitLocOpBuilder &b, Value value, int64_t factor) {
  return arith::MulIOp::create(b, value, index(b, factor));
}

static Value inverse(ImplicitLocOpBuilder &b, Value condition) {
  return arith::XOrIOp::create(b, condition,
                               arith::ConstantIntOp::create(b, 1, 1));
}

Value tilebridge::cpu::addressOf(ImplicitLocOpBuilder &b, Value memref,
                                 int64_t bytes) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  return arith::AddIOp::create(
      b, memref::ExtractAlignedPointerAsIndexOp::create(b, memref),
      times(b, metadata.getOffset(), bytes));
}

RowsInMemory DeepMatmul::leftRows(ImplicitLocOpBuilder &b) const {
  if (place)
    return {fieldOfPlace(b, 0), fieldOfPlace(b, 1)};
  return rowsOf(b, lhs);
}

/// `tensor` is a load whose elements along dimension `d` are contiguous.
static bool isContiguousAlong(Value tensor, unsigned d) {
  Operation *op = tensor.getDefiningOp();
  if (auto transpose = dyn_cast_or_null<linalg::TransposeOp>(op))
    return isContiguousAlong(transpose.getInput(),
                             transpose.getPermutation()[d]);
  // What is packed unless the program before has done it.
  if (auto branch = dyn_cast_or_null<scf::IfOp>(op))
    return isContiguousAlong(branch.thenYield()->getOperand(0), d);
  auto load = matchLoad(tensor);
  return load &&
         hasUnitStride(cast<MemRefType>(load->read.getBuffer().getType()), d);
}

/// Before the loop: where long rows of b, or its columns, may stay where they
/// are.
void FunctionEmitter::openWideRows(DeepMatmul &product) {
  ImplicitLocOpBuilder b(product.op.getLoc(), rewriter);
  MatmulKernel kernel = product.kernel(b);
  Value right = product.op.getInputs()[1];
  int64_t most = 0;
  if (isContiguousAlong(right, product.form.swapsRhs ? 1 : 0))
    most = kernel.rowsWithColumns();
  product.hasColumns = most > 0;
  if (most == 0 && !product.form.swapsRhs)
    most = kernel.rowsWithWideRows();
  if (most == 0)
    return;
  product.rightPlace = allocate(MemRefType::get({3}, b.getI64Type()));
  product.isAlone = arith::CmpIOp::create(b, arith::CmpIPredicate::sle,
                                          product.wanted, index(b, most));
  if (!product.shared)
    return;
  SharedPanels &shared = *product.shared;
  product.isAlone =
      arith::AndIOp::create(b, product.isAlone, inverse(b, shared.isSame));
  shared.isKept =
      arith::AndIOp::create(b, shared.isKept, inverse(b, product.isAlone));
}

void tilebridge::cpu::placeWideRows(ImplicitLocOpBuilder &b,
                                    const DeepMatmul &product, Value view,
                                    Value isWhole) {
  MatmulKernel kernel = product.kernel(b);
  auto put = [&](ArrayRef<Value> fields) {
    for (auto [i, value] : llvm::enumerate(fields))
      memref::StoreOp::create(
          b, arith::IndexCastOp::create(b, b.getI64Type(), value),
          product.rightPlace, ValueRange{index(b, static_cast<int64_t>(i))});
  };
  OpBuilder::InsertionGuard guard(b);
  Value at = product.filled;
  auto type = cast<MemRefType>(view.getType());
  unsigned along = product.hasColumns ? 0 : 1;
  if (isWhole && type.getStridesAndOffset().first[along] == 1) {
    Value fits = arith::AndIOp::create(b, product.isAlone, isWhole);
    auto branch = scf::IfOp::create(b, fits, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    RowsInMemory rows = rowsOf(b, view, 1 - along);
    put({rows.address, rows.rowBytes, index(b, 1)});
    b.setInsertionPointToStart(branch.elseBlock());
  }
  put({index(b, 0), index(b, 0), index(b, 0)});
  // What is multiplied alone has the panels for itself.
  at = arith::SelectOp::create(b, product.isAlone, index(b, 0), at);
  kernel.packRhs(view, product.rhs, at);
}

/// Few rows of b at once are followed best; many of a want their sums to stay
/// in registers.
static void multiplyRowsOfB(ImplicitLocOpBuilder &b, const DeepMatmul &product,
                            Value acc, Value depth, RowsInMemory left,
                            RowsInMemory right, Value isFirst,
                            Allocate allocate) {
  constexpr int64_t rowsAtOnce = 8, fewRows = 4;
  MatmulKernel kernel = product.kernel(b);
  if (product.depth % rowsAtOnce || product.depth == rowsAtOnce)
    return kernel.multiply({}, {}, acc, depth, allocate, left, product.wanted,
                           isFirst, right);
  Value isFew = arith::CmpIOp::create(b, arith::CmpIPredicate::sle,
                                      product.wanted, index(b, fewRows));
  Value steps = arith::SelectOp::create(b, isFew, index(b, rowsAtOnce), depth);
  auto parts = scf::ForOp::create(b, index(b, 0), depth, steps);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(parts.getBody());
  Value at = parts.getInductionVar();
  left.address = arith::AddIOp::create(b, left.address,
                                       times(b, at, kernel.packedBytes()));
  right.address = arith::AddIOp::create(
      b, right.address, arith::MulIOp::create(b, at, right.rowBytes));
  if (isFirst)
    isFirst = arith::AndIOp::create(
        b, isFirst,
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, at, index(b, 0)));
  kernel.multiply({}, {}, acc, steps, allocate, left, product.wanted, isFirst,
                  right);
}

void tilebridge::cpu::multiplyWideRows(ImplicitLocOpBuilder &b,
                                       const DeepMatmul &product, Value acc,
                                       Value filled, Allocate allocate) {
  MatmulKernel kernel = product.kernel(b);
  auto choose = [&](Value alone, Value together) -> Value {
    return arith::SelectOp::create(b, product.isAlone, alone, together);
  };
  Value depth = choose(index(b, product.depth), filled),
        first = choose(product.filled, index(b, 0));
  RowsInMemory left = product.leftRows(b);
  left.address = arith::AddIOp::create(b, left.address,
                                       times(b, first, kernel.packedBytes()));
  const RowsInMemory whole = left;
  Value isFirst;
  if (product.beginsAtZero)
    isFirst = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ult, product.total,
        choose(index(b, product.depth), index(b, product.capacity)));
  auto field = [&](int64_t number) {
    return DeepMatmul::fieldOf(b, product.rightPlace, number);
  };
  Value isInPlace =
      arith::AndIOp::create(b, product.isAlone,
                            arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                                  field(2), index(b, 0)));
  auto branch = scf::IfOp::create(b, isInPlace, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  // While these are read, memory has time to give the next ones.
  Value ahead = arith::SelectOp::create(b, product.isLast, index(b, 0),
                                        index(b, product.depth));
  RowsInMemory right{field(0), field(1)};
  if (product.hasColumns) {
    Type element = getElementTypeOrSelf(product.op->getOperand(1).getType());
    right.aheadBytes = times(b, ahead, element.getIntOrFloatBitWidth() / 8);
    kernel.multiplyColumns(acc, left, right, product.wanted, isFirst, allocate);
  } else {
    right.aheadBytes = arith::MulIOp::create(b, ahead, right.rowBytes);
    multiplyRowsOfB(b, product, acc, depth, left, right, isFirst, allocate);
  }
  b.setInsertionPointToStart(branch.elseBlock());
  kernel.multiply({}, product.rhs, acc, depth, allocate, whole, product.wanted,
                  isFirst);
}
