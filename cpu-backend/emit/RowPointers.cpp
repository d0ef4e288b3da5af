//===- RowPointers.cpp - rows of memory that are read at once -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/RowPointers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilebridge::cpu;

RowPointers::RowPointers(OpBuilder &b, Location loc, const View &view,
                         OpFoldResult first, OpFoldResult stride)
    : b(b), loc(loc),
      elementBytes(view.elementType().getIntOrFloatBitWidth() / 8) {
  Value memory =
            memref::ExtractAlignedPointerAsIndexOp::create(b, loc, view.base),
        base = arith::IndexCastOp::create(b, loc, b.getI64Type(), memory),
        address = arith::AddIOp::create(b, loc, base, inBytes(first));
  begin = LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext()), address);
  distance = inBytes(stride);
}

Value RowPointers::inBytes(OpFoldResult elements) const {
  Value bytes =
      toValue(b, loc, mulIndex(b, loc, elements, b.getIndexAttr(elementBytes)));
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), bytes);
}

Value RowPointers::behind(Value pointer, Value bytes) const {
  return LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

SmallVector<Value> RowPointers::rowsFrom(Value pointer, int64_t count) const {
  constexpr int64_t together = 4;
  SmallVector<Value> distances, rows;
  for (int64_t k = 1; k <= together; ++k) {
    Value times = arith::ConstantIntOp::create(b, loc, b.getI64Type(), k);
    distances.push_back(arith::MulIOp::create(b, loc, distance, times));
  }
  for (int64_t row = 0; row < count; ++row) {
    int64_t inGroup = row % together;
    if (inGroup == 0 && row > 0)
      pointer = behind(pointer, distances.back());
    rows.push_back(inGroup == 0 ? pointer
                                : behind(pointer, distances[inGroup - 1]));
  }
  return rows;
}

SmallVector<Value> RowPointers::load(VectorType type, int64_t count) const {
  // LLVM has no floats of 8 bits.
  bool isByte = elementBytes == 1;
  Type loaded = isByte ? type.clone(b.getI8Type()) : type;
  return llvm::map_to_vector(rowsFrom(begin, count), [&](Value row) -> Value {
    Value value = LLVM::LoadOp::create(b, loc, loaded, row, elementBytes);
    return loaded == type ? value
                          : arith::BitcastOp::create(b, loc, type, value);
  });
}

void RowPointers::prefetch(const Later &later, int64_t count,
                           int64_t elements) const {
  OpBuilder::InsertionGuard guard(b);
  if (later.condition) {
    auto branch = scf::IfOp::create(b, loc, later.condition, false);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  Value block = behind(begin, inBytes(later.distance));
  for (int64_t at = 0; at < elements * elementBytes; at += lineBytes) {
    Value line =
        behind(block, arith::ConstantIntOp::create(b, loc, b.getI64Type(), at));
    for (Value row : rowsFrom(line, count))
      LLVM::Prefetch::create(b, loc, row, /*rw=*/0, hintOf(later.cache),
                             /*cache=*/1);
  }
}
