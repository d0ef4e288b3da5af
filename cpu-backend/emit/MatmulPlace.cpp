//===- MatmulPlace.cpp - where a product's loop finds `a` -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Rows of `a` that go on from iteration to iteration stay where they are; those
// of the last one often do not go on, as K ends in their block: they are packed
// and multiplied apart. If only some rows of a block exist, and more are not
// wanted, those stay as well, or are packed alone where the micro-kernel reads
// tiles of all rows, or another type: a block of 16 rows for a single one would
// be copied, for the most part zeros.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/DeepMatmul.h"
#include "cpu-backend/emit/FunctionEmitter.h"

using namespace mlir;
using namespace tilebridge::cpu;

void tilebridge::cpu::placeRows(ImplicitLocOpBuilder &b,
                                const DeepMatmul &product, Value view,
                                Value isWhole, function_ref<void()> pack) {
  MatmulKernel kernel = product.kernel(b);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  auto isEqual = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
  };
  auto both = [&](Value x, Value y) -> Value {
    return arith::AndIOp::create(b, x, y);
  };
  auto inBytes = [&](Value elements) -> Value {
    return arith::MulIOp::create(b, elements, index(kernel.packedBytes()));
  };
  auto put = [&](int64_t field, ValueRange values) {
    for (auto [i, value] : llvm::enumerate(values))
      memref::StoreOp::create(
          b, arith::IndexCastOp::create(b, b.getI64Type(), value),
          product.place, ValueRange{index(field + static_cast<int64_t>(i))});
  };
  auto get = [&](int64_t field) { return product.fieldOfPlace(b, field); };
  Value isFirst = isEqual(product.filled, index(0)),
        wasInPlace = product.isInPlace(b), start = get(0), oldBytes = get(1),
        fits = isWhole;
  constexpr int64_t stepsBefore = DeepMatmul::stepsBefore;
  bool staysBefore = product.staysBeforeJump(b);
  if (staysBefore)
    put(stepsBefore,
        {arith::SelectOp::create(b, isFirst, index(0), get(stepsBefore))});
  if (isWhole) {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, view);
    auto known = cast<MemRefType>(view.getType()).getStridesAndOffset().first;
    if (known[1] != 1)
      fits = both(fits, isEqual(metadata.getStrides()[1], index(1)));
    Value address = addressOf(b, view, kernel.packedBytes()),
          rowBytes = inBytes(metadata.getStrides()[0]);
    Value goesOn = both(
        wasInPlace,
        both(isEqual(address,
                     arith::AddIOp::create(b, start, inBytes(product.filled))),
             isEqual(rowBytes, oldBytes)));
    fits = both(fits, arith::OrIOp::create(b, isFirst, goesOn));
    auto branch = scf::IfOp::create(b, fits, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    put(0, {arith::SelectOp::create(b, isFirst, address, start), rowBytes,
            index(1)});
    b.setInsertionPointToStart(branch.elseBlock());
  }
  Value isBehind = arith::AndIOp::create(
      b, wasInPlace,
      arith::XOrIOp::create(b, isFirst, arith::ConstantIntOp::create(b, 1, 1)));
  auto ifTrue = [&](Value condition, function_ref<void()> body) {
    auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    body();
  };
  auto packBefore = [&] {
    kernel.packRows(
        {start, oldBytes}, cast<MemRefType>(view.getType()).getElementType(),
        product.lhs, index(0), product.filled, product.depth, product.wanted);
  };
  ifTrue(isBehind, [&] {
    if (!staysBefore)
      return packBefore();
    put(stepsBefore, {product.filled, start, oldBytes});
    // What is multiplied with b where it lies is not multiplied in parts.
    if (product.isAlone)
      ifTrue(product.isAlone, [&] {
        packBefore();
        put(stepsBefore, index(0));
      });
  });
  pack();
  auto metadata = memref::ExtractStridedMetadataOp::create(b, product.lhs);
  put(0, {addressOf(b, product.lhs, kernel.packedBytes()),
          inBytes(metadata.getStrides()[0]), index(0)});
}

void tilebridge::cpu::multiplyPanels(ImplicitLocOpBuilder &b,
                                     const DeepMatmul &product, Value acc,
                                     RowsInMemory rows, Value steps,
                                     Value isFirst, Allocate allocate) {
  MatmulKernel kernel = product.kernel(b);
  Value isEnd = arith::ConstantIntOp::create(b, 1, 1), begin;
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  auto choose = [&](Value x, Value y) -> Value {
    return arith::SelectOp::create(b, isEnd, x, y);
  };
  OpBuilder::InsertionGuard guard(b);
  if (product.staysBeforeJump(b)) {
    constexpr int64_t stepsBefore = DeepMatmul::stepsBefore;
    Value before = product.fieldOfPlace(b, stepsBefore),
          goesOn = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, before,
                                         index(0)),
          first = arith::SelectOp::create(b, goesOn, index(1), index(0));
    auto parts = scf::ForOp::create(b, first, index(2), index(1));
    b.setInsertionPointToStart(parts.getBody());
    isEnd = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                  parts.getInductionVar(), index(1));
    begin = choose(before, index(0));
    steps = choose(steps, before);
    rows.address =
        choose(rows.address, product.fieldOfPlace(b, stepsBefore + 1));
    rows.rowBytes =
        choose(rows.rowBytes, product.fieldOfPlace(b, stepsBefore + 2));
    if (isFirst)
      isFirst = arith::AndIOp::create(
          b, isFirst,
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, begin, index(0)));
  }
  if (product.stored)
    kernel.storeSums(product.memoryOfSums(b, acc, rows, steps, isEnd),
                     product.stored->loc);
  if (product.shared)
    kernel.askForPanels(product.shared->nextPanels);
  if (product.rowTiles)
    kernel.findRowTiles(product.rowTiles);
  Value lhs = product.isByColumns ? swapDims(b, product.lhs) : product.lhs;
  kernel.multiply(lhs, product.rhs, acc, steps, allocate, rows, product.wanted,
                  isFirst, {}, begin);
}

/// Rows that are wanted may be there where others are not. False where that is
/// not known, and nothing is emitted.
bool FunctionEmitter::placeWanted(const DeepMatmul &product, Value tensor,
                                  bool &hasFailed) {
  auto it = loads.find(tensor);
  if (it == loads.end() || buffers.count(tensor) || !matchLoad(tensor))
    return false;
  const View &view = *it->second;
  ImplicitLocOpBuilder b(product.op->getLoc(), rewriter);
  if (view.shape.size() != 2 || view.rowDim >= 0 || view.isFull(0))
    return false;
  SmallVector<int64_t> strides;
  for (OpFoldResult stride : view.strides)
    strides.push_back(constantOf(stride).value_or(ShapedType::kDynamic));
  Value first = toValue(rewriter, b.getLoc(), view.lo[0]),
        end = toValue(rewriter, b.getLoc(), view.hi[0]);
  Value isWhole = arith::AndIOp::create(
      b,
      arith::CmpIOp::create(b, arith::CmpIPredicate::sge, end, product.wanted),
      arith::CmpIOp::create(b, arith::CmpIPredicate::sle, first,
                            arith::ConstantIndexOp::create(b, 0)));
  if (!view.isFull(1)) {
    Value size =
        toValue(rewriter, b.getLoc(),
                subIndex(rewriter, b.getLoc(), view.hi[1], view.lo[1]));
    Value isDeep =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sge, size,
                              arith::ConstantIndexOp::create(b, view.shape[1]));
    isWhole = arith::AndIOp::create(b, isWhole, isDeep);
  }
  Value rows = memrefOf(view, strides, b.getLoc());
  MatmulKernel kernel = product.kernel(b);
  Value one = arith::ConstantIndexOp::create(b, 1);
  auto packAll = [&] {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
    if (Value all = viewOf(tensor))
      kernel.packLhs(all, product.lhs, product.filled);
    else
      hasFailed = true;
  };
  auto packWanted = [&] {
    Type element = cast<MemRefType>(rows.getType()).getElementType();
    auto metadata = memref::ExtractStridedMetadataOp::create(b, rows);
    Value isContiguous = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                               metadata.getStrides()[1], one);
    auto branch =
        scf::IfOp::create(b, arith::AndIOp::create(b, isWhole, isContiguous),
                          /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    kernel.packRows(rowsOf(b, rows), element, product.lhs, product.filled,
                    arith::ConstantIndexOp::create(b, product.depth),
                    product.depth, product.wanted);
    b.setInsertionPointToStart(branch.elseBlock());
    packAll();
  };
  if (!product.place) {
    packWanted();
    return true;
  }
  if (!kernel.readsTiles()) {
    placeRows(b, product, rows, isWhole, packAll);
    return true;
  }
  // Of a single row all rows of a tile may be that one.
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value isOne =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, product.wanted, one);
  View again = view;
  again.strides[0] =
      arith::SelectOp::create(b, isOne, zero,
                              toValue(rewriter, b.getLoc(), view.strides[0]))
          .getResult();
  strides[0] = ShapedType::kDynamic;
  Value hasAll =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sge, end,
                            arith::ConstantIndexOp::create(b, view.shape[0]));
  Value mayStay = arith::OrIOp::create(b, hasAll, isOne);
  // Columns are multiplied with wanted rows only.
  if (product.hasColumns)
    mayStay = arith::OrIOp::create(b, mayStay, product.isAlone);
  Value isInPlace = arith::AndIOp::create(b, isWhole, mayStay);
  placeRows(b, product, memrefOf(again, strides, b.getLoc()), isInPlace,
            packWanted);
  return true;
}
