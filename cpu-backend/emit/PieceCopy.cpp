//===- PieceCopy.cpp - copies of what grows evenly ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/PieceCopy.h"
#include "cpu-backend/emit/MatmulPack.h"
#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

PieceCopy::PieceCopy(OpBuilder &builder, Location loc, Value from, Value to,
                     int64_t lanes)
    : b(loc, builder), from(from), to(to), lanes(lanes),
      type(VectorType::get({lanes},
                           cast<MemRefType>(to.getType()).getElementType())) {}

void PieceCopy::run(Value mask, Value other, Value source, OpFoldResult growth,
                    Value target, Value length) {
  if (!mask)
    return copy(source, growth, target, length);
  emitChoice(
      b, mask, [&] { copy(source, growth, target, length); },
      [&] { fill(other, target, length); });
}

void PieceCopy::copy(Value source, OpFoldResult growth, Value target,
                     Value length) {
  auto known = getConstantIntValue(growth);
  if (known == 1)
    return contiguous(source, target, length);
  if (known == 0)
    return fill(element(source), target, length);
  if (known)
    return strided(source, constant(*known), target, length);
  Value step =
      arith::IndexCastOp::create(b, b.getIndexType(), cast<Value>(growth));
  auto repeat = [&] { fill(element(source), target, length); };
  auto stride = [&] { strided(source, step, target, length); };
  emitChoice(
      b, isEqual(step, 1), [&] { contiguous(source, target, length); },
      [&] { emitChoice(b, isEqual(step, 0), repeat, stride); });
}

void PieceCopy::fill(Value value, Value target, Value length) {
  Value vector = vector::BroadcastOp::create(b, type, value);
  steps(length, [&](Value at) { store(vector, plus(target, at)); });
}

void PieceCopy::contiguous(Value source, Value target, Value length) {
  steps(length, [&](Value at) {
    store(vector::LoadOp::create(b, type, from, plus(source, at)),
          plus(target, at));
  });
}

void PieceCopy::strided(Value source, Value step, Value target, Value length) {
  auto placeType = VectorType::get({lanes}, b.getIndexType());
  Value places =
      arith::MulIOp::create(b, vector::StepOp::create(b, placeType),
                            vector::BroadcastOp::create(b, placeType, step));
  Value zeros = arith::ConstantOp::create(b, b.getZeroAttr(type));
  steps(length, [&](Value at) {
    Value begin = plus(source, arith::MulIOp::create(b, at, step));
    store(vector::GatherOp::create(b, type, from, begin, places,
                                   allLanes(b, b.getLoc(), lanes), zeros),
          plus(target, at));
  });
}

/// The last vector ends with the piece.
void PieceCopy::steps(Value length, llvm::function_ref<void(Value)> body) {
  Value width = constant(lanes);
  Value last = arith::SubIOp::create(b, length, width);
  auto loop = scf::ForOp::create(b, constant(0), last, width);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    body(loop.getInductionVar());
  }
  body(last);
}

Value PieceCopy::isEqual(Value value, int64_t number) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, value,
                               constant(number));
}

Value PieceCopy::element(Value at) {
  Value one = vector::LoadOp::create(
      b, VectorType::get({1}, type.getElementType()), from, at);
  return vector::ExtractOp::create(b, one, ArrayRef<int64_t>{0});
}

void PieceCopy::store(Value value, Value at) {
  vector::StoreOp::create(b, value, to, at);
}

Value PieceCopy::plus(Value x, Value y) {
  return arith::AddIOp::create(b, x, y);
}

Value PieceCopy::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}
