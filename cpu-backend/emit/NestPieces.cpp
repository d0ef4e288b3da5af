//===- NestPieces.cpp - nests that read pieces of rows --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Where a flat index is taken apart, what is read at the row's or the column's
// number lies evenly up to the end of a row. The loop along the lanes is cut
// there: whole vectors of a piece are loads. A vector in which one row ends and
// the next one begins is two loads with masks; if it has more than two pieces,
// its places are computed lane by lane. Vectors begin at multiples of their
// lanes, as in any other loop: only what is read from pieces differs.
//===----------------------------------------------------------------------===//

#include "cpu-backend/DecisionRemark.h"
#include "cpu-backend/emit/LinearPieces.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/PieceReads.h"
#include "cpu-backend/emit/ScalarSlice.h"
#include "cpu-backend/emit/TrialBranch.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// Where one piece after the other is short, this many times as many vectors as
/// before, and one, are gathered before the next piece is asked for.
static constexpr int64_t patience = 8;
/// Each is an address and a mask for each piece.
static constexpr size_t mostReads = 6;

void NestEmitter::findPieceReads() {
  if (nest.shape.size() != 1 || !nest.reduceDims.empty() || nest.isCold ||
      !nest.places.empty() || part || isVersion)
    return;
  auto visit = [&](Value value, ArrayRef<Index> at) {
    if (fe.viewIfInMemory(value))
      return false;
    Operation *op = value.getDefiningOp();
    if (!op || !fe.irregular.count(value) || !isReadInPieces(op))
      return true;
    if (at.front().dim == 0)
      pieceReads.insert(op);
    return false;
  };
  Indices own = ownIndices(1);
  for (const NestOutput &output : nest.outputs) {
    if (output.source || output.reduce)
      return pieceReads.clear();
    fe.walkCone(output.tensor, own, nullptr, visit);
    if (output.mask)
      fe.walkCone(output.mask, own, nullptr, visit);
  }
  if (pieceReads.size() > mostReads)
    pieceReads.clear();
}

/// Of the `left` elements from `at` on, those of the range are read.
static void takeRange(ImplicitLocOpBuilder &b, const LinearPieces::Range &range,
                      Value at, Value left, PieceRead &read) {
  auto toIndex = [&](Value value) -> Value {
    return arith::IndexCastOp::create(b, b.getIndexType(), value);
  };
  Value from = at, end = arith::AddIOp::create(b, at, left);
  if (range.from)
    from = arith::AddIOp::create(b, at, toIndex(range.from));
  if (range.to)
    end = arith::AddIOp::create(b, at, toIndex(range.to));
  Value none = arith::ConstantIndexOp::create(b, 0);
  Value count = arith::SubIOp::create(b, end, from);
  if (range.exists)
    count = arith::SelectOp::create(b, range.exists, count, none);
  read.from = from;
  read.count = arith::MaxSIOp::create(b, count, none);
}

/// What is read from index `at` on, before `end`, and for how many indices that
/// lies evenly: false where it does not.
bool NestEmitter::evaluatePiece(const Index &at, Value end, PieceReads &piece) {
  ImplicitLocOpBuilder builder(loc, b);
  Value left = arith::SubIOp::create(builder, end, at.base);
  LinearPieces pieces(
      builder, at.base,
      arith::IndexCastOp::create(builder, builder.getI64Type(), left),
      /*asksForOne=*/dividesByOne.value_or(false));
  // Whole steps in each vector.
  pieces.setMostRepeats(frame.lanes & -frame.lanes);
  for (Operation *op : pieceReads) {
    auto gather = cast<linalg_ext::GatherOp>(op);
    Value place = fe.evaluate(gather.getOffsets(), at), exists;
    if (!place)
      return false;
    // Where it is not so, no piece is asked for.
    pieces.setChecked(true);
    auto growth = pieces.growthOf(place);
    if (!growth)
      return false;
    pieces.setChecked(false);
    Index lanes = at;
    lanes.step = 1;
    PieceRead &read = piece.reads[op];
    read.view = *fe.irregular.find(op->getResult(0))->second;
    read.repeats = pieces.repeatsOf(place);
    LinearPieces::Range range;
    if (Value mask = gather.getMask(); mask && !fe.isTrueInside(mask, lanes)) {
      exists = fe.evaluate(mask, at);
      // Where masks are slow a piece ends with what exists of it.
      bool mayBeRange = !fe.masksAreJumps() && read.repeats == 1 &&
                        getConstantIntValue(*growth).value_or(0) != 0;
      if (!exists || !(mayBeRange ? pieces.takeRange(exists, range)
                                  : pieces.isSame(exists)))
        return false;
    }
    if (range.from || range.to) {
      takeRange(builder, range, at.base, left, read);
      exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt,
                                     read.count, constant(0));
    } else {
      read.exists = exists;
    }
    auto toIndex = [&](Value value) -> Value {
      if (value.getType().isIndex())
        return value;
      return arith::IndexCastOp::create(builder, builder.getIndexType(), value);
    };
    OpFoldResult step = *growth;
    if (auto known = getConstantIntValue(step))
      step = b.getIndexAttr(*known);
    else
      step = toIndex(cast<Value>(step));
    Value distance = toIndex(place);
    if (read.repeats > 1 && getConstantIntValue(step) != 1)
      return false;
    OpFoldResult before =
        mulIndex(b, loc, groupOf(builder, loc, at.base, read.repeats), step);
    // Memory that is not there takes long to be left alone.
    if (exists)
      distance = arith::SelectOp::create(builder, exists, distance,
                                         toValue(b, loc, before));
    OpFoldResult begin = addIndex(b, loc, read.view.offset, distance);
    read.view.offset = subIndex(b, loc, begin, before);
    read.view.strides = {step};
    read.view.shape = {nest.shape.front() / read.repeats};
    read.view.lo = {b.getIndexAttr(0)};
    read.view.hi = {b.getIndexAttr(read.view.shape.front())};
    if (getConstantIntValue(step) != 0)
      continue;
    Value from = toValue(b, loc, read.view.offset);
    if (!exists) {
      read.element = fe.loadElement(read.view.base, from, loc);
      continue;
    }
    // What is read elsewhere is not known to be one number.
    Value none = fe.zeroOf(read.view.elementType(), loc);
    auto branch = scf::IfOp::create(builder, none.getType(), exists,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(b, loc, none);
    b.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(b, loc, fe.loadElement(read.view.base, from, loc));
    read.element = branch.getResult(0);
  }
  for (BlockArgument argument : pieces.divisors())
    if (mayBeOne(argument))
      pieceDivisors.insert(argument);
  piece.length = arith::IndexCastOp::create(builder, builder.getIndexType(),
                                            pieces.pieceLength());
  // What exists of a read may go on behind the end of all pieces.
  end = arith::AddIOp::create(builder, at.base, piece.length);
  for (Operation *op : pieceReads)
    if (PieceRead &read = piece.reads[op]; read.count) {
      Value most = arith::SubIOp::create(builder, end, read.from);
      read.count = arith::MaxSIOp::create(
          builder, arith::MinSIOp::create(builder, read.count, most),
          constant(0));
    }
  return true;
}

/// Sizes that are no constants may be 1, as the distance between the columns of
/// a matrix is for kernels that take such distances of all dimensions (`i // s
/// % n`): then no piece ends where the quotient grows, and what it is to grow
/// by is asked for. In launches without such a divisor all that is known
/// before.
FailureOr<bool> NestEmitter::emitPiecesByDivisors(unsigned position, Value from,
                                                  Value to) {
  Value areMore;
  for (BlockArgument divisor : pieceDivisors) {
    Value one = arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(divisor.getType(), 1));
    Value is =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, divisor, one);
    areMore =
        areMore ? arith::AndIOp::create(b, loc, areMore, is).getResult() : is;
  }
  auto branch = scf::IfOp::create(b, loc, areMore, /*withElseRegion=*/true);
  TrialBranch versions(frame, b, branch);
  auto restore = llvm::scope_exit([&] { dividesByOne = std::nullopt; });
  for (bool hasOne : {false, true}) {
    dividesByOne = hasOne;
    Block *block = hasOne ? branch.elseBlock() : branch.thenBlock();
    block->getTerminator()->erase();
    versions.enter(block);
    auto isDone = emitPieces(position, from, to);
    if (failed(isDone))
      return failure();
    if (!*isDone) {
      versions.undo();
      return false;
    }
    b.setInsertionPointToEnd(block);
    scf::YieldOp::create(b, loc);
    frame.levels.pop_back();
  }
  b.setInsertionPointAfter(branch);
  return true;
}

/// The lanes of all boxes from `from` to `to`, which are multiples of lanes;
/// false where places turn out to grow by something else: then nothing is left
/// of what was tried.
FailureOr<bool> NestEmitter::emitPieces(unsigned position, Value from,
                                        Value to) {
  int64_t lanes = frame.lanes;
  auto add = [&](Value x, Value y) -> Value {
    return arith::AddIOp::create(b, loc, x, y);
  };
  auto sub = [&](Value x, Value y) -> Value {
    return arith::SubIOp::create(b, loc, x, y);
  };
  auto min = [&](Value x, Value y) -> Value {
    return arith::MinSIOp::create(b, loc, x, y);
  };
  auto isLess = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
  };
  auto evaluateAt = [&](Value at, PieceReads &piece) {
    unsigned level = frame.levels.size() - 1;
    frame.interior = true;
    bool isEven = evaluatePiece(Index{at, 0, level, 0}, to, piece);
    frame.interior = false;
    return isEven;
  };
  Value zero = constant(0), one = constant(1), step = constant(lanes);
  pieceDivisors.clear();
  auto isAny = scf::IfOp::create(b, loc, isLess(from, to),
                                 /*withElseRegion=*/false);
  TrialBranch trial(frame, b, isAny);
  isAny.thenBlock()->getTerminator()->erase();
  trial.enter(isAny.thenBlock());
  PieceReads first;
  // A value of this block, from which on all is computed here.
  if (!evaluateAt(min(from, sub(to, one)), first)) {
    trial.undo();
    return false;
  }
  if (!dividesByOne.has_value() && !pieceDivisors.empty()) {
    trial.undo();
    return emitPiecesByDivisors(position, from, to);
  }
  // An index where lanes begin, the end of the piece that it is in, and how
  // many elements are gathered at least where pieces are short.
  SmallVector<Value> state = {from, add(from, first.length), zero};
  llvm::append_range(state, first.values(pieceReads.getArrayRef(), b, loc));
  SmallVector<Type> types = llvm::to_vector(ValueRange(state).getTypes());
  auto pieceLoop = scf::WhileOp::create(
      b, loc, types, state,
      [&](OpBuilder &, Location, ValueRange now) {
        scf::ConditionOp::create(b, loc, isLess(now.front(), to), now);
      },
      [](OpBuilder &, Location, ValueRange) {});
  frame.levels.back()->before = pieceLoop;
  frame.levels.back()->hasLoop = true;
  Block *body = pieceLoop.getAfterBody();
  trial.enter(body);
  Value begin = body->getArgument(0), end = body->getArgument(1),
        atLeast = body->getArgument(2);
  PieceReads whole = first.with(ValueRange(body->getArguments()).drop_front(3),
                                pieceReads.getArrayRef()),
             next;
  Value vectors = add(
      begin, arith::AndIOp::create(b, loc, sub(end, begin), constant(-lanes)));
  // Where nothing is left, any place will do that may be read.
  if (!evaluateAt(min(end, sub(to, one)), next))
    return failure();
  // The vector in which the piece ends, and the next one goes on behind it.
  Value rest = sub(end, vectors), ends = isLess(zero, rest);
  Value two = add(vectors, arith::SelectOp::create(b, loc, ends, step, zero));
  Value nextEnd = add(end, next.length);
  Value isShort = isLess(nextEnd, two);
  Value any =
      min(add(vectors, arith::MaxSIOp::create(b, loc, atLeast, step)), to);
  Value later =
      arith::MulIOp::create(b, loc, add(atLeast, step), constant(patience));
  // Places are computed lane by lane then.
  if (Value unknown = nest.unknownPlaces) {
    vectors = arith::SelectOp::create(b, loc, unknown, begin, vectors);
    any = arith::SelectOp::create(b, loc, unknown, to, any);
    isShort = arith::OrIOp::create(b, loc, isShort, unknown);
  }
  PieceReads both;
  both.reads = whole.reads;
  both.next = next.reads;
  both.firstLanes = rest;
  both.isFirst = vector::CreateMaskOp::create(
      b, loc, VectorType::get({lanes}, b.getI1Type()), ValueRange{rest});

  auto loopOver = [&](Value low, Value high, const PieceReads *pieces) {
    frame.pieces = pieces;
    LogicalResult result =
        loop(low, high, lanes, [&](Value iv, unsigned inner) {
          return emitLanesAt(position, iv, inner, /*interior=*/true);
        });
    frame.pieces = nullptr;
    return result;
  };
  // What grows by 1 or not at all, as what is kept within a row, would be
  // gathered in all pieces.
  auto lanesFrom = [&](Value low, Value high, const PieceReads *pieces) {
    Value areUnits;
    if (pieces)
      areUnits = pieces->haveUnitStrides(pieceReads.getArrayRef(), b, loc);
    if (!areUnits)
      return loopOver(low, high, pieces);
    auto version = scf::IfOp::create(b, loc, areUnits, /*withElseRegion=*/true);
    TrialBranch versions(frame, b, version);
    PieceReads units = pieces->withUnitStrides();
    for (bool isUnit : {true, false}) {
      Block *block = isUnit ? version.thenBlock() : version.elseBlock();
      block->getTerminator()->erase();
      versions.enter(block);
      if (failed(loopOver(low, high, isUnit ? &units : pieces)))
        return failure();
      b.setInsertionPointToEnd(block);
      scf::YieldOp::create(b, loc);
      frame.levels.pop_back();
    }
    b.setInsertionPointAfter(version);
    return success();
  };
  if (failed(lanesFrom(begin, vectors, &whole)))
    return failure();
  // Not by selections: where the next piece begins would have to wait for all
  // that is asked of it.
  auto branch = scf::IfOp::create(b, loc, types, isShort, true);
  trial.enter(branch.thenBlock());
  if (failed(lanesFrom(vectors, any, nullptr)))
    return failure();
  // Behind the loop, which what is asked for does not stand before.
  frame.levels.pop_back();
  trial.enter(branch.thenBlock());
  PieceReads again;
  if (!evaluateAt(min(any, sub(to, one)), again))
    return failure();
  SmallVector<Value> after = {any, add(any, again.length), later};
  llvm::append_range(after, again.values(pieceReads.getArrayRef(), b, loc));
  scf::YieldOp::create(b, loc, after);
  frame.levels.pop_back();
  trial.enter(branch.elseBlock());
  if (failed(lanesFrom(vectors, two, &both)))
    return failure();
  after = {two, nextEnd, zero};
  llvm::append_range(after, next.values(pieceReads.getArrayRef(), b, loc));
  scf::YieldOp::create(b, loc, after);
  frame.levels.pop_back();
  b.setInsertionPointToEnd(body);
  scf::YieldOp::create(b, loc, branch.getResults());
  frame.levels.pop_back();
  b.setInsertionPointAfter(pieceLoop);
  scf::YieldOp::create(b, loc);
  frame.levels.pop_back();
  b.setInsertionPointAfter(isAny);
  for (Operation *op : pieceReads)
    Decision(op->getLoc(), "pieces")
        .fact("least", lanes)
        .report("places grow evenly up to the end of a row: read where they "
                "lie, and element by element where several rows end within " +
                Twine(lanes));
  return true;
}
