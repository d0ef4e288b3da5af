//===- GatherLanes.cpp - lanes at places that are computed ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A gather takes about two cycles a lane, and of narrow elements more. Where it
// is likely that all lanes are at one place, or neighbours, that is tested
// first: then it is a load.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/FunctionEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge::cpu;

static Value zeros(OpBuilder &b, Location loc, VectorType type) {
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
}

/// 0, 1, 2 and so on.
static Value numbersFrom0(OpBuilder &b, Location loc, VectorType type) {
  unsigned bits =
      type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
  SmallVector<APInt> values;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    values.push_back(APInt(bits, i));
  return arith::ConstantOp::create(b, loc,
                                   DenseElementsAttr::get(type, values));
}

/// Whether all lanes of `numbers` are what `expected` says.
static Value allAre(OpBuilder &b, Location loc, Value numbers, Value expected) {
  Value each = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, numbers,
                                     expected);
  return vector::ReductionOp::create(b, loc, vector::CombiningKind::AND, each);
}

/// `then` where `condition` holds, else `otherwise`.
static Value choose(OpBuilder &b, Location loc, Value condition, Type type,
                    function_ref<Value()> then,
                    function_ref<Value()> otherwise) {
  auto branch = scf::IfOp::create(b, loc, TypeRange{type}, condition, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, loc, then());
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, loc, otherwise());
  return branch.getResult(0);
}

/// Where places come from divisions and remainders, as the number of a channel
/// or of a row, or are computed from indices alone, the lanes are mostly at one
/// place, or neighbours. Those that are read from memory are at any place.
static bool isMostlyRegular(Value places) {
  llvm::SmallSetVector<Operation *, 16> ops;
  auto add = [&](Value value) {
    if (Operation *op = value.getDefiningOp();
        op && isa<RankedTensorType>(value.getType()))
      ops.insert(op);
  };
  add(places);
  bool readsMemory = false;
  for (size_t i = 0; i < ops.size(); ++i) {
    Operation *op = ops[i];
    if (dividesIntegers(op))
      return true;
    readsMemory |= mayRead(op) || matchLoad(op->getResult(0));
    for (Value operand : op->getOperands())
      add(operand);
  }
  return !readsMemory;
}

Value FunctionEmitter::gatherLanes(Value memref, Value at, Value offsets,
                                   Value mask, Value other, Value places,
                                   Location loc) {
  auto element = cast<MemRefType>(memref.getType()).getElementType();
  auto type = VectorType::get({frame->lanes}, element);
  auto placeType = cast<VectorType>(offsets.getType());
  mask = mask ? toLanes(mask, frame->lanes) : Value();
  other = toLanes(other, frame->lanes);
  auto gather = [&]() -> Value {
    Value all = mask ? mask : allLanes(rewriter, loc, frame->lanes);
    return vector::GatherOp::create(rewriter, loc, type, memref, at, offsets,
                                    all, other);
  };
  if (frame->lanes < 4 || !isMostlyRegular(places))
    return gather();
  Value first =
      vector::ExtractOp::create(rewriter, loc, offsets, ArrayRef<int64_t>{0});
  Value step = first.getType().isIndex()
                   ? first
                   : arith::IndexCastOp::create(rewriter, loc,
                                                rewriter.getIndexType(), first);
  Value begin = arith::AddIOp::create(rewriter, loc, at, step);
  Value distances = arith::SubIOp::create(
      rewriter, loc, offsets,
      vector::BroadcastOp::create(rewriter, loc, placeType, first));
  Value isOne =
      allAre(rewriter, loc, distances, zeros(rewriter, loc, placeType));
  if (mask)
    isOne = arith::AndIOp::create(
        rewriter, loc, isOne,
        vector::ExtractOp::create(rewriter, loc, mask, ArrayRef<int64_t>{0}));
  // Elements of all sizes have masked loads where vectors are of 512 bits.
  bool hasMasks = !mask || target().vectorBits >= 512;
  return choose(
      rewriter, loc, isOne, type,
      [&]() -> Value {
        Value value = toLanes(loadElement(memref, begin, loc), frame->lanes);
        return mask ? arith::SelectOp::create(rewriter, loc, mask, value, other)
                    : value;
      },
      [&]() -> Value {
        if (!hasMasks)
          return gather();
        Value areNeighbours = allAre(rewriter, loc, distances,
                                     numbersFrom0(rewriter, loc, placeType));
        return choose(
            rewriter, loc, areNeighbours, type,
            [&]() -> Value {
              if (!mask)
                return vector::LoadOp::create(rewriter, loc, type, memref,
                                              begin);
              return vector::MaskedLoadOp::create(rewriter, loc, type, memref,
                                                  begin, mask, other);
            },
            gather);
      });
}
