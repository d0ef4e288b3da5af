//===- GatherPieces.cpp - gathers by pieces of rows -----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Kernels that number the elements of a tensor by one index compute a row and a
// column from it by divisions: then the places of a block in another tensor
// grow evenly only until a row ends, wherever that is in the block. A vector at
// a time costs the divisions of all lanes, and gathers what are neighbours.
// Here the places of the first element of a piece are computed once, as
// scalars, with the length of the piece; a piece is copied by vectors. What is
// cut into too short pieces is gathered.
//===----------------------------------------------------------------------===//

#include "cpu-backend/DecisionRemark.h"
#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/LinearPieces.h"
#include "cpu-backend/emit/PieceCopy.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// Where one piece after the other is short, this many times as many vectors as
/// before, and one, are gathered before the next one is asked for: the asking
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

namespace tilebridge::cpu {
/// Fills the buffer of one gather.
class GatherPieces {
public:
  GatherPieces(FunctionEmitter &fe, Operation *op)
      : fe(fe), op(op), b(op->getLoc(), fe.builder()),
        type(cast<RankedTensorType>(op->getResult(0).getType())) {}

  bool isPossible();
  /// False where places turn out to grow by something else: then nothing is
  /// left of what was tried.
  FailureOr<bool> emit(const View &to);

private:
  bool readShape();
  bool isComputed();
  FailureOr<bool> emitLoop(const View &to, Indices at);
  LogicalResult gatherPart(const View &to, Indices at, Value begin, Value end);
  std::optional<OpFoldResult> elementGrowth(OpFoldResult growth);
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }

  FunctionEmitter &fe;
  Operation *op;
  ImplicitLocOpBuilder b;
  RankedTensorType type;
  /// Tensors of the old function: of a gather of rows, one number each.
  Value places, mask, other;
  /// The dimension along which pieces lie, its size, and how many elements it
  /// has for each: one, or the columns of a gathered row.
  unsigned dim = 0;
  int64_t size = 0, columns = 1, columnStride = 1, lanes = 1;
};
} // namespace tilebridge::cpu

bool GatherPieces::readShape() {
  unsigned rank = type.getRank();
  if (rank == 0 || !type.getElementType().isIntOrFloat() ||
      type.getElementType().isInteger(1))
    return false;
  if (auto gather = dyn_cast<linalg_ext::GatherOp>(op)) {
    places = gather.getOffsets();
    mask = gather.getMask();
    other = gather.getOther();
    dim = rank - 1;
  } else {
    // Where rows are long a row is as good as a piece.
    constexpr int64_t mostColumns = 128;
    auto rows = dyn_cast<linalg_ext::GatherRowsOp>(op);
    auto view = fe.irregular.find(op->getResult(0));
    if (!rows || rank != 2 || rows.getDim() != 0 ||
        view == fe.irregular.end() || !view->second->isFull(1))
      return false;
    places = rows.getRows();
    mask = rows.getRowmask();
    columns = type.getDimSize(1);
    auto stride = constantOf(view->second->strides[1]);
    if (columns > mostColumns || !stride || (stride != 0 && stride != 1))
      return false;
    columnStride = *stride;
  }
  size = type.getDimSize(dim);
  int64_t bits = std::max(16u, type.getElementTypeBitWidth());
  lanes = lanesAlong(size * columns, fe.target().vectorBits / bits);
  return lanes >= 4 && size * columns >= 2 * lanes;
}

/// Places are computed from indices, not all by sums and products, and nothing
/// in memory decides them.
bool GatherPieces::isComputed() {
  bool isComputed = true, divides = false;
  Indices symbolic;
  unsigned rank = cast<RankedTensorType>(places.getType()).getRank();
  for (unsigned d = 0; d < rank; ++d)
    symbolic.push_back({Value(), 0, 0, static_cast<int>(d)});
  auto visit = [&](Value value, ArrayRef<Index> at) {
    Operation *inner = value.getDefiningOp();
    if (!inner)
      return isComputed = false;
    if (fe.viewIfInMemory(value) || FunctionEmitter::isIrregularLoad(inner))
      return isComputed &= llvm::none_of(at, [&](const Index &index) {
               return index.dim == static_cast<int>(dim);
             });
    inner->walk([&](Operation *part) {
      divides |=
          isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
              part);
    });
    return isComputed;
  };
  for (Value tensor : {places, mask, other})
    if (tensor)
      fe.walkCone(tensor, symbolic, nullptr, visit);
  return isComputed && divides;
}

bool GatherPieces::isPossible() {
  return fe.irregular.count(op->getResult(0)) && readShape() && isComputed();
}

/// In elements, and from one to the next: those of a row lie as they do.
std::optional<OpFoldResult> GatherPieces::elementGrowth(OpFoldResult growth) {
  if (isa<linalg_ext::GatherOp>(op))
    return growth;
  const View &from = *fe.irregular.find(op->getResult(0))->second;
  auto step = getConstantIntValue(growth), stride = constantOf(from.strides[0]);
  if (!step || !stride || *step * *stride != columns * columnStride)
    return std::nullopt;
  return b.getI64IntegerAttr(columnStride);
}

/// Part of a row is gathered as it is anywhere else. What is copied already may
/// be copied again.
LogicalResult GatherPieces::gatherPart(const View &to, Indices at, Value begin,
                                       Value end) {
  bool isRows = isa<linalg_ext::GatherRowsOp>(op);
  fe.frame->lanes = isRows ? lanesAlong(columns, lanes) : lanes;
  auto open = [&](Value from, Value until, int64_t step) {
    auto loop = scf::ForOp::create(b, from, until, constant(step));
    auto level = std::make_unique<Level>();
    level->block = loop.getBody();
    if (Level &outside = *fe.frame->levels.back(); !outside.before)
      outside.before = loop;
    fe.frame->levels.push_back(std::move(level));
    b.setInsertionPoint(loop.getBody()->getTerminator());
    fe.builder().setInsertionPoint(loop.getBody()->getTerminator());
    return loop.getInductionVar();
  };
  unsigned levels = fe.frame->levels.size();
  at[dim] = {open(begin, end, isRows ? 1 : lanes), isRows ? 0 : 1, levels,
             static_cast<int>(dim)};
  if (isRows)
    at.push_back({open(constant(0), constant(columns), fe.frame->lanes),
                  fe.frame->lanes > 1 ? 1 : 0, levels + 1, 1});
  Value value = fe.evaluateIrregular(op, at);
  LogicalResult result = failure();
  if (value)
    result = fe.write(to, at, value, op->getLoc());
  fe.frame->levels.truncate(levels);
  return result;
}

FailureOr<bool> GatherPieces::emitLoop(const View &to, Indices at) {
  Location loc = op->getLoc();
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

  const View &from = *fe.irregular.find(op->getResult(0))->second;
  Value place = fe.evaluate(places, at), exists, outside;
  if (mask)
    exists = fe.evaluate(mask, at);
  if (from.pad)
    outside = fe.mapScalar(from.pad);
  else
    outside = fe.otherOf(other, from.elementType(), at, loc);
  if (!place || !outside || (mask && !exists))
    return failure();

  b.setInsertionPointToEnd(row.body());
  Value left = arith::SubIOp::create(b, constant(size), row.begin());
  LinearPieces pieces(b, row.begin(),
                      arith::IndexCastOp::create(b, b.getI64Type(), left));
  auto growth = pieces.growthOf(place);
  if (growth)
    growth = elementGrowth(*growth);
  if (!growth || (exists && !pieces.isSame(exists)) || !pieces.isSame(outside))
    return false;
  Value length =
      arith::IndexCastOp::create(b, b.getIndexType(), pieces.pieceLength());
  Value isLong =
      arith::CmpIOp::create(b, arith::CmpIPredicate::uge, length,
                            constant(llvm::divideCeil(lanes, columns)));
  Indices first = at;
  first.resize(to.shape.size());
  Value target = fe.address(to, first, -1, loc);
  if (!place.getType().isIndex())
    place = arith::IndexCastOp::create(b, b.getIndexType(), place);
  if (isa<linalg_ext::GatherRowsOp>(op))
    place = arith::MulIOp::create(b, place, toValue(b, loc, from.strides[0]));
  Value source = arith::AddIOp::create(b, toValue(b, loc, from.offset), place);
  auto branch = scf::IfOp::create(
      b, TypeRange{b.getIndexType(), b.getIndexType()}, isLong, true);
  scf::YieldOp::create(b, branch.getResults());
  fe.frame->levels.back()->before = branch;

  b.setInsertionPointToEnd(branch.thenBlock());
  Value next = arith::AddIOp::create(b, row.begin(), length);
  scf::YieldOp::create(b, ValueRange{next, constant(0)});
  b.setInsertionPointToStart(branch.thenBlock());
  PieceCopy(b, loc, from.base, to.base, lanes)
      .run(exists, outside, source, *growth, target,
           arith::MulIOp::create(b, length, constant(columns)));

  b.setInsertionPointToEnd(branch.elseBlock());
  Value begin = row.begin();
  Value end = arith::AddIOp::create(
      b, begin, arith::MaxSIOp::create(b, length, row.atLeast()));
  end = arith::MinSIOp::create(b, end, constant(size));
  Value more = arith::AddIOp::create(
      b, row.atLeast(), constant(llvm::divideCeil(lanes, columns)));
  more = arith::MulIOp::create(b, more, constant(patience));
  scf::YieldOp::create(b, ValueRange{end, more});
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  // Lanes of a vector begin at a multiple of their number.
  if (isa<linalg_ext::GatherOp>(op))
    begin = arith::AndIOp::create(b, begin, constant(-lanes));
  if (failed(gatherPart(to, at, begin, end)))
    return failure();
  return true;
}

FailureOr<bool> GatherPieces::emit(const View &to) {
  if (constantOf(to.strides.back()) != 1 ||
      (columns > 1 && constantOf(to.strides[0]) != columns))
    return false;
  OpBuilder::InsertionGuard guard(fe.builder());
  Frame own;
  own.open(fe.builder());
  Frame *outer = std::exchange(fe.frame, &own);
  FailureOr<bool> isDone = false;
  (void)fe.inOrder(ArrayRef(to.shape).take_front(dim),
                   llvm::to_vector(llvm::seq<unsigned>(0, dim)), op->getLoc(),
                   [&](ArrayRef<Index> at) {
                     own.lanes = lanes;
                     isDone = emitLoop(to, Indices(at));
                     return success();
                   });
  fe.frame = outer;
  if (failed(isDone) || !*isDone)
    own.levels.front()->before->erase();
  else
    Decision(op->getLoc(), "pieces")
        .fact("least", llvm::divideCeil(lanes, columns) * columns)
        .report("places grow evenly up to the end of a row: copied piece by "
                "piece, and gathered where these are shorter than " +
                Twine(llvm::divideCeil(lanes, columns) * columns) +
                " elements");
  return isDone;
}

/// A gather that has a buffer; false where it is not filled here.
FailureOr<bool> FunctionEmitter::emitGatherBuffer(Operation *op) {
  if (!isIrregularLoad(op))
    return false;
  GatherPieces pieces(*this, op);
  if (!pieces.isPossible())
    return false;
  Value tensor = op->getResult(0), buffer = bufferFor(tensor);
  View to = makeView(rewriter, op->getLoc(), buffer,
                     cast<RankedTensorType>(tensor.getType()).getShape());
  auto isDone = pieces.emit(to);
  if (succeeded(isDone) && *isDone)
    setBuffer(tensor, buffer);
  return isDone;
}
