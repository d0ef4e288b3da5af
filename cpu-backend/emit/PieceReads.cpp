//===- PieceReads.cpp - gathers of a nest, piece by piece -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/PieceReads.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

SmallVector<Value> PieceReads::values(ArrayRef<Operation *> ops, OpBuilder &b,
                                      Location loc) const {
  SmallVector<Value> values;
  for (Operation *op : ops) {
    const PieceRead &read = reads.find(op)->second;
    values.push_back(toValue(b, loc, read.view.offset));
    OpFoldResult stride = read.view.strides.front();
    if (!constantOf(stride))
      values.push_back(cast<Value>(stride));
    for (Value value : {read.exists, read.element, read.from, read.count})
      if (value)
        values.push_back(value);
  }
  return values;
}

PieceReads PieceReads::with(ValueRange values,
                            ArrayRef<Operation *> ops) const {
  PieceReads piece;
  auto take = [&] {
    Value value = values.front();
    values = values.drop_front();
    return value;
  };
  for (Operation *op : ops) {
    PieceRead read = reads.find(op)->second;
    read.view.offset = take();
    if (!constantOf(read.view.strides.front()))
      read.view.strides = {take()};
    for (Value *value : {&read.exists, &read.element, &read.from, &read.count})
      if (*value)
        *value = take();
    piece.reads[op] = std::move(read);
  }
  return piece;
}

Value PieceReads::haveUnitStrides(ArrayRef<Operation *> ops, OpBuilder &b,
                                  Location loc) const {
  llvm::SmallSetVector<Value, 4> strides;
  for (const auto *piece : {&reads, &next})
    for (Operation *op : ops)
      if (auto read = piece->find(op); read != piece->end())
        if (OpFoldResult stride = read->second.view.strides.front();
            !constantOf(stride))
          strides.insert(cast<Value>(stride));
  Value all;
  for (Value stride : strides) {
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value is =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, stride, one);
    all = all ? arith::AndIOp::create(b, loc, all, is).getResult() : is;
  }
  return all;
}

PieceReads PieceReads::withUnitStrides() const {
  PieceReads units = *this;
  for (auto *piece : {&units.reads, &units.next})
    for (auto &[op, read] : *piece)
      if (OpFoldResult &stride = read.view.strides.front(); !constantOf(stride))
        stride = IntegerAttr::get(
            IndexType::get(cast<Value>(stride).getContext()), 1);
  return units;
}

Value tilebridge::cpu::groupOf(OpBuilder &b, Location loc, Value index,
                               int64_t size) {
  if (size == 1)
    return index;
  return arith::ShRUIOp::create(
      b, loc, index,
      arith::ConstantIndexOp::create(b, loc, llvm::Log2_64(size)));
}

Value NestEmitter::readRepeated(FunctionEmitter &fe, const PieceRead &read,
                                const Index &index, Value first, bool isNext,
                                Location loc) {
  OpBuilder &b = fe.builder();
  int64_t lanes = fe.frame->lanes, few = lanes / read.repeats;
  auto add = [&](Value x, int64_t y) -> Value {
    return arith::AddIOp::create(b, loc, x,
                                 arith::ConstantIndexOp::create(b, loc, y));
  };
  auto maskType = VectorType::get({few}, b.getI1Type());
  Value mask;
  if (first) {
    Value count = isNext ? first : add(first, read.repeats - 1);
    mask = vector::CreateMaskOp::create(
        b, loc, maskType, ValueRange{groupOf(b, loc, count, read.repeats)});
    if (isNext)
      mask = arith::XOrIOp::create(b, loc, mask, allLanes(b, loc, few));
  }
  if (read.exists) {
    Value all = vector::BroadcastOp::create(b, loc, maskType, read.exists);
    mask = mask ? arith::AndIOp::create(b, loc, mask, all).getResult() : all;
  }
  Index group = index;
  group.base = groupOf(b, loc, index.base, read.repeats);
  fe.frame->lanes = few;
  Value elements = fe.loadLanes(read.view, group, 0, {mask}, {}, loc);
  fe.frame->lanes = lanes;
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < lanes; ++lane)
    order.push_back(lane / read.repeats);
  return vector::ShuffleOp::create(b, loc, elements, elements, order);
}

/// Which of so many lanes from `base` on are read.
static Value lanesInRange(OpBuilder &b, Location loc, const PieceRead &read,
                          Value base, int64_t lanes) {
  auto type = VectorType::get({lanes}, b.getI32Type());
  auto all = [&](Value value) -> Value {
    Value small = arith::IndexCastOp::create(b, loc, b.getI32Type(), value);
    return vector::BroadcastOp::create(b, loc, type, small);
  };
  // Those before the first one are large numbers.
  Value number = arith::AddIOp::create(
      b, loc, all(arith::SubIOp::create(b, loc, base, read.from)),
      numbersFrom0(b, loc, type));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, number,
                               all(read.count));
}

std::optional<Value> NestEmitter::readPieces(FunctionEmitter &fe, Operation *op,
                                             ArrayRef<Index> indices) {
  Frame &frame = *fe.frame;
  const PieceReads &pieces = *frame.pieces;
  auto found = pieces.reads.find(op);
  const Index &index = indices.front();
  if (found == pieces.reads.end() || index.step != 1 || index.dim != 0)
    return std::nullopt;
  Location loc = op->getLoc();
  OpBuilder &b = fe.builder();
  auto gather = cast<linalg_ext::GatherOp>(op);
  const PieceRead &first = found->second;
  Type element = first.view.elementType();
  auto type = VectorType::get({frame.lanes}, element);
  auto lanesWhere = [&](Value each, Value exists) -> Value {
    if (!exists)
      return each;
    Value all = fe.toLanes(exists, frame.lanes);
    return each ? arith::AndIOp::create(b, loc, each, all).getResult() : all;
  };
  auto laneOrOther = [&](Value value, Value exists, Value other) -> Value {
    if (!exists)
      return value;
    return arith::SelectOp::create(b, loc, exists,
                                   fe.toLanes(value, frame.lanes), other);
  };
  Value other;
  if (gather.getMask()) {
    other = fe.otherOf(gather.getOther(), element, indices, loc);
    if (!other)
      return Value();
    other = fe.toLanes(other, frame.lanes);
  }
  if (first.count) {
    auto readRange = [&](const PieceRead &read, Value otherwise) -> Value {
      Value mask = lanesInRange(b, loc, read, index.base, frame.lanes);
      return fe.loadLanes(read.view, indices, 0, {mask}, otherwise, loc);
    };
    Value lanes = readRange(first, other);
    return pieces.isFirst ? readRange(pieces.next.find(op)->second, lanes)
                          : lanes;
  }
  if (!pieces.isFirst) {
    if (first.element)
      return laneOrOther(first.element, first.exists, other);
    if (first.repeats > 1)
      return laneOrOther(readRepeated(fe, first, index, {}, false, loc),
                         first.exists, other);
    return fe.loadLanes(first.view, indices, 0, {lanesWhere({}, first.exists)},
                        other, loc);
  }
  const PieceRead &second = pieces.next.find(op)->second;
  if (first.element && second.element) {
    Value x = laneOrOther(first.element, first.exists, other),
          y = laneOrOther(second.element, second.exists, other);
    return arith::SelectOp::create(b, loc, pieces.isFirst,
                                   fe.toLanes(x, frame.lanes),
                                   fe.toLanes(y, frame.lanes))
        .getResult();
  }
  if (!fe.masksAreJumps() && first.repeats > 1) {
    Value count = pieces.firstLanes;
    Value x = readRepeated(fe, first, index, count, /*isNext=*/false, loc),
          y = readRepeated(fe, second, index, count, /*isNext=*/true, loc);
    return arith::SelectOp::create(b, loc, pieces.isFirst,
                                   laneOrOther(x, first.exists, other),
                                   laneOrOther(y, second.exists, other))
        .getResult();
  }
  if (!fe.masksAreJumps()) {
    Value isNext = arith::XOrIOp::create(b, loc, pieces.isFirst,
                                         allLanes(b, loc, frame.lanes));
    Value lanes =
        fe.loadLanes(first.view, indices, 0,
                     {lanesWhere(pieces.isFirst, first.exists)}, other, loc);
    return fe.loadLanes(second.view, indices, 0,
                        {lanesWhere(isNext, second.exists)}, lanes, loc);
  }
  // Places of lanes, without divisions.
  auto placeType = VectorType::get({frame.lanes}, b.getIndexType());
  Value at = fe.laneIndices(index, b.getIndexType());
  auto placesOf = [&](const PieceRead &read) -> Value {
    auto all = [&](OpFoldResult value) -> Value {
      return vector::BroadcastOp::create(b, loc, placeType,
                                         toValue(b, loc, value));
    };
    Value element = at;
    if (read.repeats > 1)
      element = arith::ShRUIOp::create(
          b, loc, at, all(b.getIndexAttr(llvm::Log2_64(read.repeats))));
    return arith::AddIOp::create(
        b, loc, all(read.view.offset),
        arith::MulIOp::create(b, loc, element, all(read.view.strides.front())));
  };
  Value places = arith::SelectOp::create(b, loc, pieces.isFirst,
                                         placesOf(first), placesOf(second));
  Value exists = allLanes(b, loc, frame.lanes);
  if (first.exists)
    exists = arith::SelectOp::create(b, loc, pieces.isFirst,
                                     fe.toLanes(first.exists, frame.lanes),
                                     fe.toLanes(second.exists, frame.lanes));
  if (!other)
    other = fe.toLanes(fe.zeroOf(element, loc), frame.lanes);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return vector::GatherOp::create(b, loc, type, first.view.base, zero, places,
                                  exists, other)
      .getResult();
}
