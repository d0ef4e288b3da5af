//===- AtomicPieces.cpp - atomics of rows that end within a block ---------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A kernel that numbers all elements by one index takes a row and a column from
// it, and adds to `table + ids[i // n] * n + i % n`: up to the end of each row
// the places are neighbours. How far the computed part grows evenly is found
// from scalars, and how far what is read is one number by comparing vectors of
// it, whichever way it is read. Where each such piece begins is kept in a table
// before the first one is changed, as what is read may be what is changed. Then
// the pieces are changed one after the other (AtomicRuns.cpp). Where they are
// short, places of all lanes are put into memory instead.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Atomics.h"
#include "cpu-backend/emit/LinearPieces.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;
using arith::CmpIPredicate;

/// Shorter ones, on the average, are not worth being asked for.
static constexpr int64_t leastPiece = 16;
/// How many may be short before the average counts.
static constexpr int64_t morePieces = 4;

namespace {
/// What is kept of a piece: numbers of 64 bits, one behind the other.
struct PieceEntry {
  enum { Begin, Place, Length, Size };
};
} // namespace

static Value fieldOf(OpBuilder &b, Location loc, Value piece, int64_t field) {
  Value size = arith::ConstantIndexOp::create(b, loc, PieceEntry::Size);
  Value first = arith::MulIOp::create(b, loc, piece, size);
  return arith::AddIOp::create(b, loc, first,
                               arith::ConstantIndexOp::create(b, loc, field));
}

/// Of what is read along a block of one dimension: whether neighbours may well
/// be one number. They are not where it is read as it lies in memory.
bool AtomicEmitter::mayBeSame(Value read) const {
  auto type = cast<RankedTensorType>(read.getType());
  if (!type.getElementType().isInteger() || type.getElementTypeBitWidth() < 8)
    return false;
  auto divides = [&](Value tensor) {
    bool any = false;
    emitter.walkCone(tensor, Index{Value(), 0, 0, 0}, nullptr,
                     [&](Value value, ArrayRef<Index>) {
                       Operation *op = value.getDefiningOp();
                       any |= op && dividesIntegers(op);
                       return !any;
                     });
    return any;
  };
  // One of two ways to read it.
  if (auto branch = read.getDefiningOp<scf::IfOp>()) {
    unsigned number = cast<OpResult>(read).getResultNumber();
    return mayBeSame(branch.thenYield().getOperand(number)) ||
           mayBeSame(branch.elseYield().getOperand(number));
  }
  if (auto gather = read.getDefiningOp<linalg_ext::GatherOp>())
    return divides(gather.getOffsets());
  Value view;
  if (auto load = matchLoad(read))
    view = load->read.getBuffer();
  else if (auto masked = read.getDefiningOp<linalg_ext::MaskedLoadOp>())
    view = masked.getView();
  if (view)
    return cast<MemRefType>(view.getType())
               .getStridesAndOffset()
               .first.back() == 0;
  return read.getDefiningOp<tensor::CollapseShapeOp>() != nullptr;
}

/// How many elements of `buffer` from `at` on are that at `at`, if not more
/// than `most`: an i64. As many vectors as there are end with the buffer.
Value AtomicEmitter::equalFrom(Value buffer, Value at, Value most) {
  Type integer = cast<MemRefType>(buffer.getType()).getElementType();
  int64_t lanes =
      lanesAlong(shaped.getNumElements(),
                 emitter.target().vectorBits / integer.getIntOrFloatBitWidth());
  Type index = b.getIndexType(), mask = b.getIntegerType(lanes);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto toIndex = [&](Value value) -> Value {
    return arith::IndexCastOp::create(b, loc, index, value);
  };
  Value first = load(buffer, at, integer);
  Value all = vector::BroadcastOp::create(
      b, loc, VectorType::get({lanes}, integer), first);
  Value end = arith::AddIOp::create(b, loc, at, toIndex(most));
  // Lanes before the first one are not asked.
  Value begin = arith::AndIOp::create(b, loc, at, number(-lanes));
  Value before = arith::SubIOp::create(b, loc, at, begin);
  Value wanted = arith::ShLIOp::create(
      b, loc, arith::ConstantIntOp::create(b, loc, mask, -1),
      arith::IndexCastOp::create(b, loc, mask, before));
  auto loop = scf::WhileOp::create(b, loc, TypeRange{index, mask},
                                   ValueRange{begin, wanted});
  OpBuilder::InsertionGuard outside(b);
  Block *asks = b.createBlock(&loop.getBefore(), {}, {index, mask}, {loc, loc});
  Value from = asks->getArgument(0);
  Value differ = arith::CmpIOp::create(b, loc, CmpIPredicate::ne,
                                       load(buffer, from, integer, lanes), all);
  differ =
      vector::BitCastOp::create(b, loc, VectorType::get({1}, mask), differ);
  differ = vector::ExtractOp::create(b, loc, differ, 0);
  differ = arith::AndIOp::create(b, loc, differ, asks->getArgument(1));
  Value next = arith::AddIOp::create(b, loc, from, number(lanes));
  Value goesOn = arith::AndIOp::create(
      b, loc,
      arith::CmpIOp::create(b, loc, CmpIPredicate::eq, differ,
                            arith::ConstantIntOp::create(b, loc, mask, 0)),
      arith::CmpIOp::create(b, loc, CmpIPredicate::slt, next, end));
  scf::ConditionOp::create(b, loc, goesOn, ValueRange{from, differ});
  Block *again = b.createBlock(&loop.getAfter(), {}, {index, mask}, {loc, loc});
  scf::YieldOp::create(
      b, loc,
      ValueRange{
          arith::AddIOp::create(b, loc, again->getArgument(0), number(lanes)),
          arith::ConstantIntOp::create(b, loc, mask, -1)});
  b.setInsertionPointAfter(loop);
  // Where none differs all of them are before the first one that does.
  Value same = math::CountTrailingZerosOp::create(b, loc, loop.getResult(1));
  same =
      arith::AddIOp::create(b, loc, loop.getResult(0),
                            arith::IndexCastUIOp::create(b, loc, index, same));
  Value count = arith::SubIOp::create(b, loc, same, at);
  return arith::MinSIOp::create(b, loc, toI64(b, loc, count), most);
}

/// Fills the table with the pieces that exist. How many there are; a number
/// below 0 where pieces are short, and nothing where lanes turn out not to
/// follow one another.
FailureOr<Value> AtomicEmitter::findPieces(Value table) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  SmallVector<Value> buffers;
  for (Value read : readsOfPieces)
    if (!buffers.emplace_back(emitter.bufferOf(read)))
      return failure();
  int64_t size = shaped.getNumElements();
  Type index = b.getIndexType();
  auto loop = scf::WhileOp::create(b, loc, TypeRange{index, index},
                                   ValueRange{number(0), number(0)});
  OpBuilder::InsertionGuard outside(b);
  Block *before =
      b.createBlock(&loop.getBefore(), {}, {index, index}, {loc, loc});
  auto isLess = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, CmpIPredicate::slt, x, y);
  };
  Value at = before->getArgument(0), count = before->getArgument(1);
  Value usual = arith::AddIOp::create(
      b, loc, arith::DivUIOp::create(b, loc, at, number(leastPiece)),
      number(morePieces));
  scf::ConditionOp::create(b, loc,
                           arith::AndIOp::create(b, loc,
                                                 isLess(at, number(size)),
                                                 isLess(count, usual)),
                           before->getArguments());
  Block *body = b.createBlock(&loop.getAfter(), {}, {index, index}, {loc, loc});
  at = body->getArgument(0);
  count = body->getArgument(1);
  Value left = toI64(b, loc, arith::SubIOp::create(b, loc, number(size), at));
  Frame own;
  own.open(b);
  Frame *outer = std::exchange(emitter.frame, &own);
  auto restore = llvm::scope_exit([&] { emitter.frame = outer; });
  auto valueOf = [&](Value tensor) {
    return emitter.evaluate(tensor, Index{at, 0, 0, -1});
  };
  ImplicitLocOpBuilder inside(loc, b);
  inside.setInsertionPointToEnd(body);
  LinearPieces pieces(inside, at, left, /*asksForOne=*/false);
  for (Value read : readsOfPieces) {
    Value element = valueOf(read);
    if (!element)
      return failure();
    pieces.setSame(element);
  }
  Value place = valueOf(access.offset),
        exists = access.mask ? valueOf(access.mask) : Value();
  if (!place || (access.mask && !exists))
    return failure();
  auto growth = pieces.growthOf(place);
  if (!growth || getConstantIntValue(*growth) != 1 ||
      (exists && !pieces.isSame(exists)))
    return Value();
  b.setInsertionPointToEnd(body);
  Value length = pieces.pieceLength();
  for (Value buffer : buffers)
    length = equalFrom(buffer, at, length);
  auto keep = [&](int64_t field, Value value) {
    memref::StoreOp::create(b, loc, toI64(b, loc, value), table,
                            ValueRange{fieldOf(b, loc, count, field)});
  };
  keep(PieceEntry::Begin, at);
  keep(PieceEntry::Place, place);
  keep(PieceEntry::Length, length);
  Value next = arith::AddIOp::create(
      b, loc, at, arith::IndexCastOp::create(b, loc, index, length));
  Value one = number(1);
  if (exists)
    one = arith::SelectOp::create(b, loc, exists, one, number(0));
  scf::YieldOp::create(
      b, loc, ValueRange{next, arith::AddIOp::create(b, loc, count, one)});
  b.setInsertionPointAfter(loop);
  return arith::SelectOp::create(b, loc,
                                 isLess(loop.getResult(0), number(size)),
                                 number(-1), loop.getResult(1))
      .getResult();
}

/// All pieces of the table, of which there is one at least.
void AtomicEmitter::changePieces(Value table, Value count) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto read = [&](Value piece, int64_t field) -> Value {
    return memref::LoadOp::create(b, loc, table,
                                  ValueRange{fieldOf(b, loc, piece, field)});
  };
  auto asIndex = [&](Value value) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
  };
  Value guard = guardOf(addressOf(read(number(0), PieceEntry::Place)));
  takeGuard(guard);
  auto loop = scf::ForOp::create(b, loc, number(0), count, number(1),
                                 ValueRange{guard});
  {
    OpBuilder::InsertionGuard outside(b);
    b.setInsertionPointToStart(loop.getBody());
    Value piece = loop.getInductionVar();
    Value held = changeRun({asIndex(read(piece, PieceEntry::Begin))},
                           read(piece, PieceEntry::Place),
                           asIndex(read(piece, PieceEntry::Length)),
                           loop.getRegionIterArg(0));
    scf::YieldOp::create(b, loc, held);
  }
  giveGuard(loop.getResult(0));
}

/// In a launch that is guarded; false where lanes turn out not to follow one
/// another: then nothing is left of what was tried. `otherwise`: as it is done
/// where pieces are short.
FailureOr<bool>
AtomicEmitter::emitPieces(function_ref<LogicalResult()> otherwise) {
  findGuardMask();
  int64_t most = shaped.getNumElements() / leastPiece + morePieces;
  Value table = emitter.allocate(
      MemRefType::get({most * PieceEntry::Size}, b.getI64Type()));
  FailureOr<Value> count = findPieces(table);
  if (failed(count))
    return failure();
  if (!*count)
    return false;
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  auto is = [&](CmpIPredicate predicate) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, *count, zero);
  };
  auto branch = scf::IfOp::create(b, loc, is(CmpIPredicate::slt),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard outside(b);
  b.setInsertionPointToStart(branch.elseBlock());
  auto isAny = scf::IfOp::create(b, loc, is(CmpIPredicate::sgt),
                                 /*withElseRegion=*/false);
  b.setInsertionPointToStart(isAny.thenBlock());
  changePieces(table, *count);
  b.setInsertionPointToStart(branch.thenBlock());
  if (failed(otherwise()))
    return failure();
  return true;
}
