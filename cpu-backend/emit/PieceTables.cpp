//===- PieceTables.cpp - short rows that are read over and over -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What is read at `i % n` begins anew every n elements. Where rows are short it
// takes longer to ask where each ends than to read it: the row is put into
// scratch memory once, with as many of its first elements behind it as a vector
// has lanes. Each vector is a load from there, which begins where the last one
// ended, or that less n.
//===----------------------------------------------------------------------===//

#include "cpu-backend/DecisionRemark.h"
#include "cpu-backend/emit/LinearPieces.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/PieceReads.h"
#include "cpu-backend/emit/TrialBranch.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;
using arith::CmpIPredicate;

/// Longer rows are read by pieces.
static constexpr int64_t mostBytes = 320;

namespace {
/// What is read at `place`, which is a number of less than `size`.
struct Periodic {
  Operation *gather;
  Value place, size;
};
} // namespace

static arith::RemSIOp remainderOf(Value place) {
  while (auto *op = place.getDefiningOp())
    if (isa<arith::ExtSIOp, arith::IndexCastOp>(op))
      place = op->getOperand(0);
    else
      break;
  return place.getDefiningOp<arith::RemSIOp>();
}

/// A table of `size` elements from `offset` of `from` on, and behind it what
/// `lanes` more have that begin with it anew.
static void fillTable(ImplicitLocOpBuilder &b, Value from, Value offset,
                      Value size, Value to, int64_t lanes) {
  auto element = cast<MemRefType>(from.getType()).getElementType();
  auto type = VectorType::get({lanes}, element);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value none = arith::ConstantOp::create(b, b.getZeroAttr(type));
  auto read = [&](Value at) -> Value {
    Value mask = vector::CreateMaskOp::create(
        b, VectorType::get({lanes}, b.getI1Type()),
        ValueRange{arith::SubIOp::create(b, size, at)});
    Value place = arith::AddIOp::create(b, offset, at);
    return vector::MaskedLoadOp::create(b, type, from, place, mask, none);
  };
  auto loop = [&](Value begin, Value end, Value step, auto value) {
    auto forOp = scf::ForOp::create(b, begin, end, step);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(forOp.getBody()->getTerminator());
    Value at = forOp.getInductionVar();
    vector::StoreOp::create(b, value(at), to, at);
  };
  Value first = read(constant(0));
  // What a vector has too many of is written over by the next one.
  loop(constant(0), size, constant(lanes), read);
  loop(size, arith::AddIOp::create(b, size, constant(lanes)), size,
       [&](Value) { return first; });
}

/// The lanes of all boxes from `from` on, multiples of lanes up to `to`, where
/// all that is read piece by piece is a table of a short row. Gives where the
/// rest begins.
FailureOr<Value> NestEmitter::emitTables(unsigned position, Value from,
                                         Value to) {
  int64_t lanes = frame.lanes, size = nest.shape.front();
  auto mostOf = [&](Operation *gather) {
    int64_t bits = getElementTypeOrSelf(gather->getResult(0).getType())
                       .getIntOrFloatBitWidth();
    return std::min(mostBytes * 8 / bits, size / 2);
  };
  auto isAny = scf::IfOp::create(
      b, loc, TypeRange{b.getIndexType()},
      arith::CmpIOp::create(b, loc, CmpIPredicate::slt, from, to),
      /*withElseRegion=*/true);
  TrialBranch trial(frame, b, isAny);
  trial.enter(isAny.thenBlock());
  ImplicitLocOpBuilder builder(loc, b);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, value, 64);
  };
  auto constantIndex = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, value);
  };
  auto toIndex = [&](Value value) -> Value {
    return arith::IndexCastOp::create(builder, builder.getIndexType(), value);
  };
  auto wide = [&](Value value) -> Value { return toI64(builder, loc, value); };
  // A value of this block, from which on all is computed here.
  Value at = arith::MinSIOp::create(
      builder, from, arith::SubIOp::create(builder, to, constantIndex(1)));
  unsigned level = frame.levels.size() - 1;
  Value count = wide(arith::SubIOp::create(builder, to, at));
  Value isTable = arith::ConstantIntOp::create(builder, 1, 1);
  if (nest.unknownPlaces)
    isTable = arith::XOrIOp::create(builder, nest.unknownPlaces, isTable);
  auto demand = [&](CmpIPredicate predicate, Value x, Value y) {
    isTable = arith::AndIOp::create(
        builder, isTable, arith::CmpIOp::create(builder, predicate, x, y));
  };
  SmallVector<Periodic> reads;
  frame.interior = true;
  for (Operation *op : pieceReads) {
    auto gather = cast<linalg_ext::GatherOp>(op);
    Value mask = gather.getMask();
    if (mask && !fe.isTrueInside(mask, Index{at, 1, level, 0}))
      break;
    Value place = fe.evaluate(gather.getOffsets(), Index{at, 0, level, 0});
    auto rem = place ? remainderOf(place) : arith::RemSIOp();
    if (!rem)
      break;
    builder.setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
    LinearPieces pieces(builder, at, count, /*asksForOne=*/false);
    auto grows = pieces.growthOf(rem.getLhs()),
         divisorGrows = pieces.growthOf(rem.getRhs());
    if (!grows || !divisorGrows || getConstantIntValue(*grows) != 1 ||
        getConstantIntValue(*divisorGrows) != 0)
      break;
    Type type = rem.getType();
    unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    Value x = wide(rem.getLhs()), n = wide(rem.getRhs());
    // All of the row is read, by lanes that exist, and more than once.
    demand(CmpIPredicate::sgt, n, number(0));
    demand(CmpIPredicate::sle, n, number(mostOf(op)));
    demand(CmpIPredicate::sge, count,
           arith::ShLIOp::create(builder, n, number(1)));
    demand(CmpIPredicate::sge, x, number(0));
    demand(CmpIPredicate::sle, x, number(llvm::maxIntN(width) - (size - 1)));
    demand(CmpIPredicate::uge, pieces.pieceLength(), count);
    reads.push_back({op, rem, n});
  }
  frame.interior = false;
  if (reads.size() != pieceReads.size() || size < 4 * lanes) {
    trial.undo();
    return from;
  }
  builder.setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
  auto branch = scf::IfOp::create(builder, TypeRange{b.getIndexType()}, isTable,
                                  /*withElseRegion=*/true);
  scf::YieldOp::create(builder, branch.getResults());
  frame.levels.back()->before = branch;
  frame.levels.back()->hasLoop = true;
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, loc, from);
  trial.enter(branch.thenBlock());
  builder.setInsertionPointToEnd(branch.thenBlock());

  PieceReads tables;
  DenseMap<Value, unsigned> numberOf;
  SmallVector<Value> steps, sizes;
  for (const Periodic &read : reads) {
    View from = *fe.irregular.find(read.gather->getResult(0))->second;
    Value n = toIndex(read.size);
    View model = from;
    model.strides = {b.getIndexAttr(1)};
    model.shape = {mostOf(read.gather) + 2 * lanes};
    View table = fe.scratchLike(model, loc);
    builder.setInsertionPointToEnd(branch.thenBlock());
    fillTable(builder, from.base, toValue(builder, loc, from.offset), n,
              table.base, lanes);
    tables.reads[read.gather].view = table;
    // Those at one place go on together.
    if (!numberOf.try_emplace(read.place, accumulators.size()).second)
      continue;
    accumulators.push_back(toIndex(wide(read.place)));
    sizes.push_back(n);
    steps.push_back(arith::RemUIOp::create(builder, constantIndex(lanes), n));
  }
  b.setInsertionPointToEnd(branch.thenBlock());
  frame.pieces = &tables;
  LogicalResult result = loop(from, to, lanes, [&](Value iv, unsigned inner) {
    SmallVector<Value> now = accumulators;
    for (const Periodic &read : reads) {
      View row = tables.reads[read.gather].view;
      row.offset = arith::SubIOp::create(b, loc, now[numberOf[read.place]], iv)
                       .getResult();
      tables.reads[read.gather].view = row;
    }
    if (failed(emitLanesAt(position, iv, inner, /*interior=*/true)))
      return failure();
    for (auto [value, step, n] : llvm::zip_equal(accumulators, steps, sizes)) {
      value = arith::AddIOp::create(b, loc, value, step);
      // Below 0 it is a large number.
      value = arith::MinUIOp::create(b, loc, value,
                                     arith::SubIOp::create(b, loc, value, n));
    }
    return success();
  });
  frame.pieces = nullptr;
  accumulators.clear();
  if (failed(result))
    return failure();
  scf::YieldOp::create(b, loc, to);
  frame.levels.pop_back();
  frame.levels.pop_back();
  b.setInsertionPointToEnd(isAny.elseBlock());
  scf::YieldOp::create(b, loc, from);
  b.setInsertionPointAfter(isAny);
  for (const Periodic &read : reads)
    Decision(read.gather->getLoc(), "repeated")
        .fact("most", mostOf(read.gather))
        .report("begins anew at the end of each row: rows of up to " +
                Twine(mostOf(read.gather)) +
                " elements are put into scratch memory, with a vector's lanes "
                "more, and read from there");
  return isAny.getResult(0);
}
