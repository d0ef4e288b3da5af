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

static bool isSplatConstant(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  return constant && isa<SplatElementsAttr>(constant.getValue());
}

/// Indices, scalars, and what elementwise operations make of them; `divides`:
/// whether one of them divides.
static bool isFromIndices(Value value, bool &divides,
                          llvm::SmallPtrSetImpl<Operation *> &seen) {
  if (!isa<RankedTensorType>(value.getType()))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (!seen.insert(op).second)
    return true;
  bool isShape =
      isUnitReshape(op) ||
      isa<linalg::BroadcastOp, linalg::TransposeOp, tensor::ExtractSliceOp>(op);
  if (!isShape && !isElementwise(op) &&
      !isa<tensor::SplatOp, tensor::EmptyOp>(op) && !isSplatConstant(op))
    return false;
  divides |= dividesIntegers(op);
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return isFromIndices(operand, divides, seen);
  });
}

bool tilebridge::cpu::isCutIntoPieces(Operation *op) {
  Value places, mask;
  if (auto gather = dyn_cast<linalg_ext::GatherOp>(op)) {
    places = gather.getOffsets();
    mask = gather.getMask();
  } else if (auto rows = dyn_cast<linalg_ext::GatherRowsOp>(op)) {
    places = rows.getRows();
    mask = rows.getRowmask();
    int64_t rank = rows.getView().getType().getRank();
    if (static_cast<int64_t>(rows.getDim()) != rank - 1)
      return false;
  } else {
    return false;
  }
  auto type = cast<RankedTensorType>(places.getType());
  bool divides = false;
  llvm::SmallPtrSet<Operation *, 16> seen;
  return type.getRank() > 0 && type.getShape().back() >= leastRow &&
         isFromIndices(places, divides, seen) &&
         (!mask || isFromIndices(mask, divides, seen)) && divides;
}

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

bool RowPieces::isComputed(Value other) {
  if (lanes < 4 || size * columns < std::max(leastRow, 4 * lanes))
    return false;
  bool isComputed = true, divides = false;
  Indices block;
  for (unsigned d = 0; d <= dim; ++d)
    block.push_back({Value(), 0, 0, static_cast<int>(d)});
  Indices symbolic = placeIndices(block);
  auto visit = [&](Value value, ArrayRef<Index> at) {
    Operation *inner = value.getDefiningOp();
    if (!inner)
      return isComputed = false;
    if (fe.viewIfInMemory(value) || FunctionEmitter::isIrregularLoad(inner))
      return isComputed &= llvm::none_of(at, [&](const Index &index) {
               return index.dim == static_cast<int>(dim);
             });
    divides |= dividesIntegers(inner);
    return isComputed;
  };
  for (Value tensor : {places, mask, other})
    if (tensor)
      fe.walkCone(tensor, symbolic, nullptr, visit);
  return isComputed && divides;
}

Index RowPieces::openLoop(unsigned d, Value from, Value to, int64_t step,
                          bool isVector) {
  auto loop = scf::ForOp::create(b, from, to, constant(step));
  if (Level &outside = *fe.frame->levels.back(); !outside.before)
    outside.before = loop;
  auto level = std::make_unique<Level>();
  level->block = loop.getBody();
  fe.frame->levels.push_back(std::move(level));
  b.setInsertionPoint(loop.getBody()->getTerminator());
  fe.builder().setInsertionPoint(loop.getBody()->getTerminator());
  return {loop.getInductionVar(), isVector ? 1 : 0,
          static_cast<unsigned>(fe.frame->levels.size() - 1),
          static_cast<int>(d)};
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
  Piece piece{at, fe.evaluate(places, own), {}, {}, {}};
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

FailureOr<bool> RowPieces::emit() {
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
