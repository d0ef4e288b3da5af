//===- MatmulPlace.cpp - where a product's loop finds `a` -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Rows of `a` that go on from iteration to iteration stay where they are. If
// only some rows of a block exist, and more are not wanted, those stay as well,
// or are packed alone where the micro-kernel reads tiles of all rows, or
// another type: a block of 16 rows for a single one would be copied, for the
// most part zeros.
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
  auto put = [&](Value address, Value rowBytes, Value isInPlace) {
    Value fields[] = {address, rowBytes, isInPlace};
    for (auto [i, value] : llvm::enumerate(fields))
      memref::StoreOp::create(
          b, arith::IndexCastOp::create(b, b.getI64Type(), value),
          product.place, ValueRange{index(static_cast<int64_t>(i))});
  };
  auto get = [&](int64_t field) { return product.fieldOfPlace(b, field); };
  Value isFirst = isEqual(product.filled, index(0)),
        wasInPlace = product.isInPlace(b), start = get(0), oldBytes = get(1),
        fits = isWhole;
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
    put(arith::SelectOp::create(b, isFirst, address, start), rowBytes,
        index(1));
    b.setInsertionPointToStart(branch.elseBlock());
  }
  Value isBehind = arith::AndIOp::create(
      b, wasInPlace,
      arith::XOrIOp::create(b, isFirst, arith::ConstantIntOp::create(b, 1, 1)));
  auto branch = scf::IfOp::create(b, isBehind, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    kernel.packRows(
        {start, oldBytes}, cast<MemRefType>(view.getType()).getElementType(),
        product.lhs, index(0), product.filled, product.depth, product.wanted);
  }
  pack();
  auto metadata = memref::ExtractStridedMetadataOp::create(b, product.lhs);
  put(addressOf(b, product.lhs, kernel.packedBytes()),
      inBytes(metadata.getStrides()[0]), index(0));
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
