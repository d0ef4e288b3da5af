//===- RowPieces.cpp - rows of a block, piece by piece --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/RowPieces.h"
#include "cpu-backend/DecisionRemark.h"
#include "cpu-backend/emit/Elements.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// Where one piece after the other is short, this many times as many vectors as
/// before, and one, are accessed before the next one is asked for: the asking
/// is not to count.
static constexpr int64_t patience = 8;

namespace {
/// The loop over the pieces of a row: `size` elements, or rows of a few.
struct PieceLoop {
  PieceLoop(ImplicitLocOpBuilder &b, int64_t size) {
    Value zero = arith::ConstantIndexOp::create(b, 0);
    loop = scf::WhileOp::create(
        b, TypeRange{b.getIndexType(), b.getIndexType()},
        ValueRange{zero, zero},
        [&](OpBuilder &, Location, ValueRange state) {
          Value isLeft =
              arith::CmpIOp::create(b, arith::CmpIPredicate::slt, state[0],
                                    arith::ConstantIndexOp::create(b, size));
          scf::ConditionOp::create(b, isLeft, state);
        },
        [](OpBuilder &, Location, ValueRange) {});
  }
  Block *body() { return loop.getAfterBody(); }
  BlockArgument begin() { return body()->getArgument(0); }
  /// If the piece is too short, at least so much is gathered.
  BlockArgument atLeast() { return body()->getArgument(1); }

  scf::WhileOp loop;
};
} // namespace

/// `along`: the dimension of the pieces. What is behind it are columns.
void RowPieces::setRows(RankedTensorType type, unsigned along) {
  dim = along;
  size = type.getDimSize(dim);
  shape = llvm::to_vector(type.getShape().take_front(dim));
  columns = 1;
  for (int64_t behind : type.getShape().drop_front(dim + 1))
    columns *= behind;
  int64_t bits = std::max(16u, type.getElementTypeBitWidth());
  lanes = lanesAlong(size * columns, fe.target().vectorBits / bits);
}

/// Numbers and masks of rows are known for the rows alone.
Indices RowPieces::placeIndices(ArrayRef<Index> at) {
  unsigned rank = cast<RankedTensorType>(places.getType()).getRank();
  return Indices(at.take_back(rank));
}

bool RowPieces::hasLongRows() const {
  return lanes >= 4 && size * columns >= std::max(leastRow, 4 * lanes);
}

/// Nothing in memory decides how `tensor` differs along the pieces.
bool RowPieces::readsNothing(Value tensor, bool &divides) {
  bool isComputed = true;
  Indices block;
  for (unsigned d = 0; d <= dim; ++d)
    block.push_back({Value(), 0, 0, static_cast<int>(d)});
  auto visit = [&](Value value, ArrayRef<Index> at) {
    Operation *inner = value.getDefiningOp();
    if (!inner)
      return isComputed = false;
    if (fe.viewIfInMemory(value) || FunctionEmitter::isIrregularLoad(inner) ||
        isPick(inner))
      return isComputed &= llvm::none_of(at, [&](const Index &index) {
               return index.dim == static_cast<int>(dim);
             });
    divides |= dividesIntegers(inner);
    return isComputed;
  };
  fe.walkCone(tensor, placeIndices(block), nullptr, visit);
  return isComputed;
}

bool RowPieces::isComputed(Value other) {
  bool divides = false;
  terms = {places};
  return hasLongRows() &&
         llvm::all_of(ArrayRef{places, mask, other},
                      [&](Value tensor) {
                        return !tensor || readsNothing(tensor, divides);
                      }) &&
         divides;
}

bool RowPieces::isPartlyComputed(Value other) {
  bool divides = false;
  if (!hasLongRows() || (mask && !readsNothing(mask, divides)) ||
      (other && !readsNothing(other, divides)))
    return false;
  places = withoutExtension(places);
  SmallVector<Value> all;
  addTerms(places, all);
  terms.clear();
  divides = false;
  for (Value term : all) {
    bool dividesTerm = false;
    bool isComputed = readsNothing(term, dividesTerm);
    (isComputed ? terms : reads).push_back(term);
    divides |= isComputed && dividesTerm;
  }
  return divides && !reads.empty();
}

/// Of the terms that are not read.
Value RowPieces::firstPlace(ArrayRef<Index> own) {
  Value sum;
  for (Value term : terms) {
    Value value = fe.evaluate(term, own);
    if (!value)
      return {};
    sum = sum ? arith::AddIOp::create(fe.builder(), op->getLoc(), sum, value)
              : value;
  }
  return sum;
}

LogicalResult RowPieces::forVectors(Value length,
                                    function_ref<LogicalResult(Value)> body) {
  Value last = arith::SubIOp::create(b, length, constant(lanes));
  Block *block = b.getInsertionBlock();
  Operation *behind = &*b.getInsertionPoint();
  unsigned levels = fe.frame->levels.size();
  Index at = openLoop(dim, constant(0), last, lanes, true);
  if (failed(body(at.base)))
    return failure();
  fe.frame->levels.truncate(levels);
  b.setInsertionPoint(block, behind->getIterator());
  // As a level of its own, so that elements are read here.
  auto level = std::make_unique<Level>();
  level->block = block;
  level->before = behind;
  fe.frame->levels.push_back(std::move(level));
  fe.builder().setInsertionPoint(behind);
  return body(last);
}

Indices RowPieces::vectorOf(const Piece &piece, Value at) {
  Indices from = piece.at;
  Value begin = arith::AddIOp::create(b, from.back().base, at);
  from.back() = {begin, 1, static_cast<unsigned>(fe.frame->levels.size() - 1),
                 from.back().dim};
  return from;
}

Value RowPieces::placesOf(const Piece &piece, Value at) {
  Type type = cast<RankedTensorType>(places.getType()).getElementType();
  auto number = [&](Value value) -> Value {
    if (value.getType() == type)
      return value;
    if (value.getType().isIndex() || type.isIndex())
      return arith::IndexCastOp::create(b, type, value);
    return arith::TruncIOp::create(b, type, value);
  };
  auto lanesType = VectorType::get({lanes}, type);
  auto all = [&](Value value) -> Value {
    return vector::BroadcastOp::create(b, lanesType, value);
  };
  Value growth = number(toValue(b, op->getLoc(), piece.growth));
  Value first = arith::AddIOp::create(
      b, number(piece.place), arith::MulIOp::create(b, growth, number(at)));
  Value offsets = arith::MulIOp::create(
      b, all(growth), numbersFrom0(b, op->getLoc(), lanesType));
  offsets = arith::AddIOp::create(b, all(first), offsets);
  Indices elements = placeIndices(vectorOf(piece, at));
  for (Value tensor : reads) {
    Value value = fe.evaluate(tensor, elements);
    if (!value)
      return {};
    offsets = arith::AddIOp::create(b, offsets, fe.toLanes(value, lanes));
  }
  return offsets;
}

Index RowPieces::openLoop(unsigned d, Value from, Value to, int64_t step,
                          bool hasLanes) {
  Index index = fe.frame->openLoop(b, b.getLoc(), d, from, to, step, hasLanes);
  fe.builder().setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
  return index;
}

Value RowPieces::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value RowPieces::asIndex(Value value) {
  if (value.getType().isIndex())
    return value;
  return arith::IndexCastOp::create(b, b.getIndexType(), value);
}

FailureOr<bool> RowPieces::emitRow(Indices at) {
  OpBuilder &builder = fe.builder();
  b.setInsertionPoint(builder.getInsertionBlock(), builder.getInsertionPoint());
  PieceLoop row(b, size);
  builder.setInsertionPointToEnd(row.body());
  fe.frame->levels.back()->before = row.loop;
  auto level = std::make_unique<Level>();
  level->block = row.body();
  fe.frame->levels.push_back(std::move(level));
  at.push_back({row.begin(), 0,
                static_cast<unsigned>(fe.frame->levels.size() - 1),
                static_cast<int>(dim)});
  Indices own = placeIndices(at);
  Piece piece{at, firstPlace(own), {}, {}, {}};
  if (mask)
    piece.exists = fe.evaluate(mask, own);
  if (!piece.place || (mask && !piece.exists) || !evaluateMore(at))
    return failure();

  b.setInsertionPointToEnd(row.body());
  Value left = arith::SubIOp::create(b, constant(size), row.begin());
  LinearPieces pieces(b, row.begin(),
                      arith::IndexCastOp::create(b, b.getI64Type(), left));
  auto growth = pieces.growthOf(piece.place);
  if (growth)
    growth = elementGrowth(*growth);
  if (!growth || (piece.exists && !pieces.isSame(piece.exists)) ||
      !isSame(pieces))
    return false;
  piece.growth = *growth;
  piece.place = asIndex(piece.place);
  piece.length = asIndex(pieces.pieceLength());
  Value isLong = arith::CmpIOp::create(b, arith::CmpIPredicate::uge,
                                       piece.length, constant(least()));
  auto branch = scf::IfOp::create(
      b, TypeRange{b.getIndexType(), b.getIndexType()}, isLong, true);
  scf::YieldOp::create(b, branch.getResults());
  fe.frame->levels.back()->before = branch;

  unsigned levels = fe.frame->levels.size();
  b.setInsertionPointToEnd(branch.thenBlock());
  Value next = arith::AddIOp::create(b, row.begin(), piece.length);
  scf::YieldOp::create(b, ValueRange{next, constant(0)});
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  if (failed(emitPiece(piece)))
    return failure();
  fe.frame->levels.truncate(levels);

  b.setInsertionPointToEnd(branch.elseBlock());
  Value begin = row.begin();
  Value end = arith::AddIOp::create(
      b, begin, arith::MaxSIOp::create(b, piece.length, row.atLeast()));
  end = arith::MinSIOp::create(b, end, constant(size));
  Value more = arith::AddIOp::create(b, row.atLeast(), constant(least()));
  more = arith::MulIOp::create(b, more, constant(patience));
  scf::YieldOp::create(b, ValueRange{end, more});
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  // Lanes of a vector begin at a multiple of their number. What is accessed
  // already may be accessed again, as it was.
  if (columns == 1)
    begin = arith::AndIOp::create(b, begin, constant(-lanes));
  if (failed(emitPart(at, begin, end)))
    return failure();
  fe.frame->levels.truncate(levels);
  return true;
}

FailureOr<bool> RowPieces::emitRows() {
  OpBuilder::InsertionGuard guard(fe.builder());
  Frame own;
  own.open(fe.builder());
  Frame *outer = std::exchange(fe.frame, &own);
  FailureOr<bool> isDone = false;
  (void)fe.inOrder(shape, llvm::to_vector(llvm::seq<unsigned>(0, dim)),
                   op->getLoc(), [&](ArrayRef<Index> at) {
                     own.lanes = lanes;
                     isDone = emitRow(Indices(at));
                     return success();
                   });
  fe.frame = outer;
  if (failed(isDone) || !*isDone)
    own.levels.front()->before->erase();
  else
    Decision(op->getLoc(), "pieces")
        .fact("least", least() * columns)
        .report("places grow evenly up to the end of a row: copied piece by "
                "piece, and element by element where these are shorter than " +
                Twine(least() * columns));
  return isDone;
}

FailureOr<bool> RowPieces::emit(ArrayRef<Value> more) {
  SmallVector<Value> kept;
  for (Value tensor : llvm::concat<const Value>(ArrayRef(reads), more)) {
    if (fe.buffers.count(tensor))
      continue;
    Value memory = fe.bufferOf(tensor);
    if (!memory)
      return failure();
    fe.setBuffer(tensor, memory);
    kept.push_back(tensor);
  }
  auto isDone = emitRows();
  // What follows may not be behind them: this may be in a branch.
  for (Value tensor : kept)
    fe.buffers.erase(tensor);
  return isDone;
}
