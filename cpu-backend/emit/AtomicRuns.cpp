//===- AtomicRuns.cpp - atomics of lanes that are known to be neighbours --===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A row that is added to a row of a table has places that are its own number
// and what counts along the row. Then neither the places nor the mask need be
// in memory, and no vector is asked whether its lanes follow one another: how
// far they do is found once, from scalars, and all of that is read and written
// by vectors, in a launch that nobody disturbs (AtomicGuards.cpp).
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Atomics.h"
#include "cpu-backend/emit/LinearPieces.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/RowPieces.h"
#include "runtime/executable_abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// Whether places and mask may be computed row by row. Finds what they read,
/// none of which differs along a row; or, where rows may end within a block of
/// one dimension, what is read of each.
bool AtomicEmitter::findReadsOfRows() {
  if (!mayBeGuarded() || target || !areVectors() || !followsRows(access.offset))
    return false;
  auto last = static_cast<int>(shaped.getRank()) - 1;
  Indices block;
  for (int d = 0; d <= last; ++d)
    block.push_back({Value(), 0, 0, d});
  bool isPossible = true;
  auto visit = [&](Value value, ArrayRef<Index> at) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return isPossible = false;
    isInPieces |= dividesIntegers(op);
    bool isRead = emitter.viewIfInMemory(value) ||
                  FunctionEmitter::isIrregularLoad(op) || isPick(op);
    if (!isRead)
      return isPossible;
    bool isSame = llvm::none_of(
        at, [&](const Index &index) { return index.dim == last; });
    if (isSame) {
      readsOfRows.insert(value);
      return false;
    }
    isInPieces = true;
    isPossible &= last == 0 && mayBeSame(value);
    readsOfRows.insert(value);
    readsOfPieces.push_back(value);
    return false;
  };
  emitter.walkCone(access.offset, block, nullptr, visit);
  if (access.mask)
    emitter.walkCone(access.mask, block, nullptr, visit);
  return isPossible &&
         (!isInPieces || (last == 0 && shaped.getNumElements() >= leastRow));
}

/// All rows; false where it turns out that lanes are not known to follow one
/// another. What is read was put into memory before: it may be what is changed.
FailureOr<bool> AtomicEmitter::emitRuns() {
  findGuardMask();
  bool isKnown = true;
  LogicalResult done = forEachElement(
      emitter, loc, shaped.getShape().drop_back(), [&](Position row) {
        OpBuilder::InsertionGuard outside(b);
        FailureOr<bool> known = changeRuns(row);
        if (succeeded(known))
          isKnown &= *known;
        return LogicalResult(known);
      });
  if (failed(done))
    return failure();
  return isKnown;
}

FailureOr<bool> AtomicEmitter::changeRuns(Position row) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  int64_t size = shaped.getShape().back();
  SmallVector<Value> at(row);
  at.push_back(number(0));
  Value place = emitter.scalarAt(access.offset, at);
  if (!place)
    return failure();
  Value guard = guardOf(addressOf(place));
  takeGuard(guard);
  Type index = b.getIndexType(), i64 = b.getI64Type();
  auto loop = scf::WhileOp::create(b, loc, TypeRange{index, i64},
                                   ValueRange{at.back(), guard});
  giveGuard(loop.getResult(1));
  Block *before =
      b.createBlock(&loop.getBefore(), {}, {index, i64}, {loc, loc});
  Value isLeft = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                       before->getArgument(0), number(size));
  scf::ConditionOp::create(b, loc, isLeft, before->getArguments());
  Block *body = b.createBlock(&loop.getAfter(), {}, {index, i64}, {loc, loc});
  at.back() = body->getArgument(0);
  Value held = body->getArgument(1), exists;
  place = emitter.scalarAt(access.offset, at);
  if (access.mask)
    exists = emitter.scalarAt(access.mask, at);
  if (!place || (access.mask && !exists))
    return failure();

  ImplicitLocOpBuilder inside(loc, b);
  Value left = arith::SubIOp::create(b, loc, number(size), at.back());
  inside.setInsertionPointToEnd(body);
  LinearPieces pieces(inside, at.back(),
                      arith::IndexCastOp::create(inside, i64, left));
  auto growth = pieces.growthOf(place);
  if (!growth || getConstantIntValue(*growth) != 1 ||
      (exists && !pieces.isSame(exists)))
    return false;
  b.setInsertionPointToEnd(body);
  Value length =
      arith::IndexCastOp::create(b, loc, index, pieces.pieceLength());
  Value next = arith::AddIOp::create(b, loc, at.back(), length);
  if (exists) {
    auto branch = scf::IfOp::create(b, loc, TypeRange{i64}, exists, true);
    scf::YieldOp::create(b, loc, ValueRange{next, branch.getResult(0)});
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, held);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loc, changeRun(at, place, length, held));
  } else {
    scf::YieldOp::create(b, loc,
                         ValueRange{next, changeRun(at, place, length, held)});
  }
  return true;
}

/// So many lanes from `at` on, which are at `place` and behind it, by parts
/// that have one guard each. The one that the thread has in the end.
Value AtomicEmitter::changeRun(Position at, Value place, Value length,
                               Value held) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  Type index = b.getIndexType(), i64 = b.getI64Type();
  Value first = addressOf(place);
  auto loop = scf::WhileOp::create(b, loc, TypeRange{index, i64},
                                   ValueRange{number(0), held});
  OpBuilder::InsertionGuard outside(b);
  Block *before =
      b.createBlock(&loop.getBefore(), {}, {index, i64}, {loc, loc});
  scf::ConditionOp::create(
      b, loc,
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                            before->getArgument(0), length),
      before->getArguments());
  Block *body = b.createBlock(&loop.getAfter(), {}, {index, i64}, {loc, loc});
  Value done = body->getArgument(0);
  Value address = arith::AddIOp::create(
      b, loc, first,
      arith::IndexCastOp::create(
          b, loc, i64, arith::MulIOp::create(b, loc, done, number(bytes))));
  Value guard = changeGuard(body->getArgument(1), guardOf(address));

  // Up to the end of what the guard is of; all, where there is one guard.
  int64_t guarded = int64_t(1) << TB_GUARD_SHIFT;
  auto integer = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, i64, value);
  };
  Value within = arith::AndIOp::create(b, loc, address, integer(guarded - 1));
  Value room = arith::DivUIOp::create(
      b, loc,
      arith::SubIOp::create(b, loc, integer(guarded + bytes - 1), within),
      integer(bytes));
  Value rest = arith::SubIOp::create(b, loc, length, done);
  Value count = arith::MinSIOp::create(
      b, loc, rest, arith::IndexCastOp::create(b, loc, index, room));
  count = arith::SelectOp::create(b, loc, isShared(), count, rest);
  changeVectors(at, done, address, count);
  scf::YieldOp::create(
      b, loc, ValueRange{arith::AddIOp::create(b, loc, done, count), guard});
  return loop.getResult(1);
}

/// `count` lanes behind the first `done` from `at` on: those at `address`.
void AtomicEmitter::changeVectors(Position at, Value done, Value address,
                                  Value count) {
  int64_t bits = element.getIntOrFloatBitWidth();
  int64_t lanes =
      lanesAlong(shaped.getShape().back(), emitter.target().vectorBits / bits);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value from = arith::AddIOp::create(b, loc, at.back(), done);
  auto each = [&](Value begin, Value end, int64_t step, auto change) {
    auto loop = scf::ForOp::create(b, loc, begin, end, number(step));
    OpBuilder::InsertionGuard outside(b);
    b.setInsertionPointToStart(loop.getBody());
    Value i = loop.getInductionVar();
    SmallVector<Value> lane(at);
    lane.back() = arith::AddIOp::create(b, loc, from, i);
    Value offset = arith::IndexCastOp::create(
        b, loc, b.getI64Type(),
        arith::MulIOp::create(b, loc, i, number(bits / 8)));
    change(lane, arith::AddIOp::create(b, loc, address, offset), i);
  };
  auto plainly = [&](int64_t some) {
    return [&, some](Position lane, Value there, Value) {
      changePlainly(there, load(access.value, lane, element, some));
    };
  };
  Value whole = arith::AndIOp::create(b, loc, count, number(-lanes));
  each(number(0), whole, lanes, plainly(lanes));
  // Where the CPU has masks for them, the last lanes are one vector.
  bool isMasked = lanes > 1 && emitter.target().vectorBits >= 256 &&
                  (bits >= 32 || emitter.target().vectorBits >= 512);
  if (!isMasked) {
    each(whole, count, 1, plainly(0));
    return;
  }
  each(whole, count, lanes, [&](Position lane, Value there, Value i) {
    auto type = VectorType::get({lanes}, element);
    Value mask = vector::CreateMaskOp::create(
        b, loc, VectorType::get({lanes}, b.getI1Type()),
        ValueRange{arith::SubIOp::create(b, loc, count, i)});
    Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
    Value value = vector::MaskedLoadOp::create(b, loc, type, access.value, lane,
                                               mask, none);
    Value pointer = pointerTo(there);
    Value old =
        LLVM::MaskedLoadOp::create(b, loc, type, pointer, mask, none,
                                   b.getI32IntegerAttr(bits / 8), UnitAttr());
    LLVM::MaskedStoreOp::create(b, loc, combine(old, value), pointer, mask,
                                b.getI32IntegerAttr(bits / 8));
  });
}
