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

/// Before the loop.
void FunctionEmitter::openWideRows(DeepMatmul &product) {
  ImplicitLocOpBuilder b(product.op.getLoc(), rewriter);
  auto sums = cast<RankedTensorType>(product.op->getResult(0).getType());
  product.rightPlace = allocate(MemRefType::get({3}, b.getI64Type()));
  product.isAlone =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, product.wanted,
                            index(b, sums.getDimSize(0)));
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
  if (isWhole && type.getStridesAndOffset().first[1] == 1) {
    Value fits = arith::AndIOp::create(b, product.isAlone, isWhole);
    auto branch = scf::IfOp::create(b, fits, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    auto metadata = memref::ExtractStridedMetadataOp::create(b, view);
    put({addressOf(b, view, kernel.packedBytes()),
         times(b, metadata.getStrides()[0], kernel.packedBytes()),
         index(b, 1)});
    b.setInsertionPointToStart(branch.elseBlock());
  }
  put({index(b, 0), index(b, 0), index(b, 0)});
  // What is multiplied alone has the panels for itself.
  at = arith::SelectOp::create(b, product.isAlone, index(b, 0), at);
  kernel.packRhs(view, product.rhs, at);
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
  RowsInMemory left{
      arith::AddIOp::create(b, product.fieldOfPlace(b, 0),
                            times(b, first, kernel.packedBytes())),
      product.fieldOfPlace(b, 1)};
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
  // While these rows are read, memory has time to give the next ones.
  Value ahead = arith::SelectOp::create(b, product.isLast, index(b, 0),
                                        index(b, product.depth));
  RowsInMemory right{field(0), field(1),
                     arith::MulIOp::create(b, ahead, field(1))};
  // Few rows of b at once are followed best; many of a want their sums to stay
  // in registers.
  constexpr int64_t rowsAtOnce = 8, fewRows = 4;
  if (product.depth % rowsAtOnce || product.depth == rowsAtOnce) {
    kernel.multiply({}, {}, acc, depth, allocate, left, product.wanted, isFirst,
                    right);
  } else {
    Value isFew = arith::CmpIOp::create(b, arith::CmpIPredicate::sle,
                                        product.wanted, index(b, fewRows));
    Value steps =
        arith::SelectOp::create(b, isFew, index(b, rowsAtOnce), depth);
    auto parts = scf::ForOp::create(b, index(b, 0), depth, steps);
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToStart(parts.getBody());
    Value at = parts.getInductionVar();
    left.address = arith::AddIOp::create(b, left.address,
                                         times(b, at, kernel.packedBytes()));
    right.address = arith::AddIOp::create(
        b, right.address, arith::MulIOp::create(b, at, right.rowBytes));
    Value begins = isFirst;
    if (begins)
      begins = arith::AndIOp::create(
          b, begins,
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, at, index(b, 0)));
    kernel.multiply({}, {}, acc, steps, allocate, left, product.wanted, begins,
                    right);
  }
  b.setInsertionPointToStart(branch.elseBlock());
  kernel.multiply({}, product.rhs, acc, depth, allocate, whole, product.wanted,
                  isFirst);
}
