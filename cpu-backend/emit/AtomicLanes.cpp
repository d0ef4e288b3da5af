//===- AtomicLanes.cpp - several lanes by one exchange --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// An atomic operation on an element takes as long as a compare-and-exchange of
// as many bytes as the CPU exchanges at once (16 with x86's cmpxchg16b). So
// lanes along the last dimension whose elements follow one another, from a
// multiple of so many bytes on, are changed by one. Whether they do is asked
// when the kernel runs. Where they do not, one element is changed, and the next
// ones are looked at: so rows that begin anywhere are together behind their
// first elements.
//
// Each element is still changed as by an operation of its own. What a mask
// leaves out is written as it was found, in one step with the comparison: a
// store to it that comes in between makes the exchange fail. It is in a page
// that is written anyway.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Atomics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;
using linalg_ext::AtomicKind;

/// Of what is changed: some twenty exchanges.
static constexpr int64_t bytesAhead = 512;

bool AtomicEmitter::areVectors() const {
  if (!access.kind || access.kind == AtomicKind::Inc ||
      access.kind == AtomicKind::Dec || shaped.getRank() == 0)
    return false;
  // LLVM has no vectors of smaller floats.
  return !isa<FloatType>(element) || element.isF16() || element.isBF16() ||
         element.isF32() || element.isF64();
}

/// How many lanes one exchange may take; 1 where each takes its own.
int64_t AtomicEmitter::lanesTogether() const {
  if (!areVectors())
    return 1;
  int64_t lanes =
      emitter.target().exchangeBytes * 8 / element.getIntOrFloatBitWidth();
  return shaped.getShape().back() >= lanes ? lanes : 1;
}

LogicalResult AtomicEmitter::emitLanes(int64_t lanes) {
  auto rows = shaped.getShape().drop_back();
  return forEachElement(emitter, loc, rows, [&](Position row) {
    OpBuilder::InsertionGuard outside(b);
    if (Value any = isAnyOfRow(row))
      b.setInsertionPointToStart(
          scf::IfOp::create(b, loc, any, /*withElseRegion=*/false).thenBlock());
    Value end =
        arith::ConstantIndexOp::create(b, loc, shaped.getShape().back());
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Type index = b.getIndexType();
    auto loop =
        scf::WhileOp::create(b, loc, TypeRange{index}, ValueRange{zero});
    OpBuilder::InsertionGuard guard(b);
    Value now =
        b.createBlock(&loop.getBefore(), {}, index, loc)->getArgument(0);
    Value isInside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, now, end);
    scf::ConditionOp::create(b, loc, isInside, now);
    now = b.createBlock(&loop.getAfter(), {}, index, loc)->getArgument(0);

    SmallVector<Value> at(row);
    at.push_back(now);
    prefetchLater(at);
    auto step = [&](int64_t by) {
      scf::YieldOp::create(
          b, loc,
          arith::AddIOp::create(b, loc, now,
                                arith::ConstantIndexOp::create(b, loc, by))
              .getResult());
    };
    auto branch = scf::IfOp::create(b, loc, TypeRange{index},
                                    areTogether(at, lanes), true);
    scf::YieldOp::create(b, loc, branch.getResult(0));
    b.setInsertionPointToStart(branch.thenBlock());
    emitTogether(at, lanes);
    step(lanes);
    b.setInsertionPointToStart(branch.elseBlock());
    emitAt(at);
    step(1);
    return success();
  });
}

/// Whether the mask is true anywhere in a row, which asks once for all of its
/// lanes: of the rows of a block that is padded hardly any are there. Null
/// where that is not asked.
Value AtomicEmitter::isAnyOfRow(Position row) {
  constexpr int64_t lanes = 64, mostLanes = 1024;
  int64_t size = shaped.getShape().back();
  if (row.empty() || !access.mask || target || size > mostLanes ||
      !llvm::isPowerOf2_64(size))
    return {};
  Value any;
  for (int64_t first = 0; first < size; first += lanes) {
    SmallVector<Value> at(row);
    at.push_back(arith::ConstantIndexOp::create(b, loc, first));
    Value some =
        load(access.mask, at, b.getI1Type(), std::min(lanes, size - first));
    any = any ? arith::OrIOp::create(b, loc, any, some).getResult() : some;
  }
  return vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, any);
}

/// Atomics wait for one another, and for memory: what is changed later is asked
/// for.
void AtomicEmitter::prefetchLater(Position at) {
  auto type = cast<MemRefType>(access.offset.getType());
  int64_t ahead = bytesAhead * 8 / element.getIntOrFloatBitWidth();
  int64_t last = type.getNumElements() - 1;
  if (ahead > last)
    return;
  Value place = at.front();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  for (auto [size, index] :
       llvm::zip_equal(type.getShape().drop_front(), at.drop_front()))
    place = arith::AddIOp::create(
        b, loc, arith::MulIOp::create(b, loc, place, number(size)), index);
  place = arith::AddIOp::create(b, loc, place, number(ahead));
  place = arith::MinSIOp::create(b, loc, place, number(last));
  Value all = access.offset;
  if (type.getRank() > 1) {
    ReassociationIndices dims = llvm::to_vector(llvm::seq(type.getRank()));
    all = memref::CollapseShapeOp::create(b, loc, all,
                                          ArrayRef<ReassociationIndices>(dims));
  }
  Value offset = load(all, place, shaped.getElementType());
  LLVM::Prefetch::create(b, loc, pointerTo(addressOf(offset)), /*rw=*/1,
                         /*hint=*/3, /*cache=*/1);
}

/// Whether the offsets of so many lanes do.
Value AtomicEmitter::followOneAnother(Position at, int64_t lanes) {
  Type integer = shaped.getElementType();
  auto type = VectorType::get({lanes}, integer);
  Value first = load(access.offset, at, integer);
  SmallVector<Attribute> numbers;
  for (int64_t lane = 0; lane < lanes; ++lane)
    numbers.push_back(b.getIntegerAttr(integer, lane));
  Value wanted = arith::AddIOp::create(
      b, loc, vector::BroadcastOp::create(b, loc, type, first),
      arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, numbers)));
  return vector::ReductionOp::create(
      b, loc, vector::CombiningKind::AND,
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                            load(access.offset, at, integer, lanes), wanted));
}

/// Whether so many lanes are left, and one exchange reaches them. That these
/// are one condition, without a jump in between, is for scattered lanes.
Value AtomicEmitter::areTogether(Position at, int64_t lanes) {
  int64_t size = shaped.getShape().back();
  Value last = arith::ConstantIndexOp::create(b, loc, size - lanes);
  Value areLeft =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, at.back(), last);
  auto branch =
      scf::IfOp::create(b, loc, TypeRange{b.getI1Type()}, areLeft, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(
      b, loc,
      arith::ConstantIntOp::create(b, loc, b.getI1Type(), 0).getResult());

  b.setInsertionPointToStart(branch.thenBlock());
  Value follow = followOneAnother(at, lanes);
  Value first = load(access.offset, at, shaped.getElementType());
  Type i64 = b.getI64Type();
  Value rest = arith::AndIOp::create(
      b, loc, addressOf(first),
      arith::ConstantIntOp::create(b, loc, i64,
                                   emitter.target().exchangeBytes - 1));
  Value isAligned =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest,
                            arith::ConstantIntOp::create(b, loc, i64, 0));
  scf::YieldOp::create(
      b, loc, arith::AndIOp::create(b, loc, follow, isAligned).getResult());
  return branch.getResult(0);
}

void AtomicEmitter::emitTogether(Position at, int64_t lanes) {
  Value address = addressOf(load(access.offset, at, shaped.getElementType()));
  Value value = load(access.value, at, element, lanes);
  Value mask = load(access.mask, at, b.getI1Type(), lanes);
  auto keep = [&](Value old) {
    if (target)
      storeElements(b, loc, old, target, at);
  };
  if (!mask)
    return keep(exchangeLanes(address, value, mask));
  Value any =
      vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, mask);
  Value none =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType()));
  auto branch = scf::IfOp::create(b, loc, any, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value old = exchangeLanes(address, value, mask);
  keep(arith::SelectOp::create(b, loc, mask, old, none));
  b.setInsertionPointToStart(branch.elseBlock());
  keep(none);
}

/// What was in the lanes. Memory is read as words, as it is exchanged: loads
/// of 16 bytes at once need not be atomic, and this one need not be right.
Value AtomicEmitter::exchangeLanes(Value address, Value value, Value mask) {
  int64_t bytes = emitter.target().exchangeBytes;
  Type i64 = b.getI64Type(), all = b.getIntegerType(bytes * 8);
  SmallVector<Value> words;
  for (int64_t from = 0; from < bytes; from += 8)
    words.push_back(loadBits(
        pointerTo(arith::AddIOp::create(
            b, loc, address, arith::ConstantIntOp::create(b, loc, i64, from))),
        i64));
  Value read = vector::FromElementsOp::create(
      b, loc, VectorType::get({bytes / 8}, i64), words);
  Value found =
      change(pointerTo(address), LLVM::BitcastOp::create(b, loc, all, read),
             [&](Value guess) -> Value {
               Value old =
                   LLVM::BitcastOp::create(b, loc, value.getType(), guess);
               Value changed = combine(old, value);
               if (mask)
                 changed = arith::SelectOp::create(b, loc, mask, changed, old);
               return LLVM::BitcastOp::create(b, loc, all, changed);
             });
  return LLVM::BitcastOp::create(b, loc, value.getType(), found);
}

Value AtomicEmitter::combine(Value old, Value value) {
  switch (*access.kind) {
  case AtomicKind::And:
    return arith::AndIOp::create(b, loc, old, value);
  case AtomicKind::Or:
    return arith::OrIOp::create(b, loc, old, value);
  case AtomicKind::Xor:
    return arith::XOrIOp::create(b, loc, old, value);
  case AtomicKind::Add:
    return arith::AddIOp::create(b, loc, old, value);
  case AtomicKind::FAdd:
    return arith::AddFOp::create(b, loc, old, value);
  case AtomicKind::Max:
    return arith::MaxSIOp::create(b, loc, old, value);
  case AtomicKind::Min:
    return arith::MinSIOp::create(b, loc, old, value);
  case AtomicKind::UMax:
    return arith::MaxUIOp::create(b, loc, old, value);
  case AtomicKind::UMin:
    return arith::MinUIOp::create(b, loc, old, value);
  case AtomicKind::Xchg:
    return value;
  case AtomicKind::Inc:
  case AtomicKind::Dec:
    break;
  }
  llvm_unreachable("these take a lane each");
}
