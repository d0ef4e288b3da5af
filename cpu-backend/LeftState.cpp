//===- LeftState.cpp - what a program leaves to the next one --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/LeftState.h"

#include "cpu-backend/emit/ShareOperands.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

Value LeftState::idOf(int dim) {
  return kernel.getArgument(kernel.getNumArguments() -
                            linalg_ext::kProgramArguments + dim);
}

static Value constant64(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 64);
}

void LeftState::set(OpBuilder &b, int64_t at, Value value) {
  memref::StoreOp::create(
      b, loc(), value, memory,
      arith::ConstantIndexOp::create(b, loc(), first + at).getResult());
}

void LeftState::read(OpBuilder &b, ValueRange values, IRMapping &map) {
  Location loc = this->loc();
  auto stateAt = [&](int64_t at) -> Value {
    return memref::LoadOp::create(
        b, loc, memory,
        arith::ConstantIndexOp::create(b, loc, first + at).getResult());
  };
  isThere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, stateAt(0),
                                  constant64(b, loc, 0));
  for (int dim = 0; dim < 3; ++dim) {
    Value id =
        arith::TruncIOp::create(b, loc, b.getI32Type(), stateAt(dim + 1));
    map.map(idOf(dim), arith::SelectOp::create(b, loc, isThere, id, idOf(dim)));
  }
  for (Value value : values) {
    Type type = value.getType();
    bool isFloat = isa<FloatType>(type);
    auto place = memref::AllocOp::create(
        b, loc, MemRefType::get({1}, isFloat ? type : b.getI64Type()));
    place->setAttr(keptAttr, b.getUnitAttr());
    places.push_back(place);
    Value kept = memref::LoadOp::create(
        b, loc, place, arith::ConstantIndexOp::create(b, loc, 0).getResult());
    if (type.isIndex())
      kept = arith::IndexCastOp::create(b, loc, type, kept);
    else if (!isFloat && !type.isInteger(64))
      kept = arith::TruncIOp::create(b, loc, type, kept);
    map.map(value, kept);
  }
}

void LeftState::write(OpBuilder &b, ValueRange values) {
  Location loc = this->loc();
  for (auto [value, place] : llvm::zip_equal(values, places)) {
    Value kept = value;
    if (value.getType().isIndex())
      kept = arith::IndexCastOp::create(b, loc, b.getI64Type(), value);
    else if (value.getType().isInteger() && !value.getType().isInteger(64))
      kept = arith::ExtUIOp::create(b, loc, b.getI64Type(), value);
    memref::StoreOp::create(
        b, loc, kept, place,
        arith::ConstantIndexOp::create(b, loc, 0).getResult());
  }
  for (int dim = 0; dim < 3; ++dim)
    set(b, dim + 1, arith::ExtUIOp::create(b, loc, b.getI64Type(), idOf(dim)));
  set(b, 0, constant64(b, loc, 1));
}

void LeftState::clear(OpBuilder &b) { set(b, 0, constant64(b, loc(), 0)); }
