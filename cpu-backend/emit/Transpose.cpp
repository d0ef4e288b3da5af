//===- Transpose.cpp - what a nest reads across its lanes ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Memory that is contiguous along another dimension than the lanes would be
// gathered element by element. It is copied to scratch memory in the nest's own
// order first, in square tiles that are transposed in registers: each line of
// memory is then read once, by vectors.
//===----------------------------------------------------------------------===//

#include "cpu-backend/DecisionRemark.h"
#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/RowPointers.h"
#include "cpu-backend/emit/TransposeSquare.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

namespace {
/// Copies a view to scratch memory that is contiguous along `rowDim`; the view
/// itself is contiguous along `columnDim`.
class TransposingCopy {
public:
  TransposingCopy(OpBuilder &b, Location loc, const View &from, const View &to,
                  unsigned rowDim, unsigned columnDim, int64_t side,
                  OpFoldResult firstColumn, std::optional<Later> later)
      : b(b), loc(loc), from(from), to(to), rowDim(rowDim),
        columnDim(columnDim), side(side), firstColumn(firstColumn),
        later(later), type(VectorType::get({side}, from.elementType())) {}

  /// `pad`, a vector, is what elements outside of the box are; null: there are
  /// none.
  void emit(Value pad) {
    this->pad = pad;
    if (pad)
      fill();
    SmallVector<Value> at(from.shape.size(), constant(0));
    SmallVector<unsigned> dims;
    for (unsigned d = 0; d < from.shape.size(); ++d)
      // A box may be empty along a dimension of one element too.
      if (d != rowDim && d != columnDim &&
          (from.shape[d] != 1 || !from.isFull(d)))
        dims.push_back(d);
    dims.append({rowDim, columnDim});
    OpBuilder::InsertionGuard guard(b);
    for (unsigned d : dims) {
      bool isTiled = d == rowDim || d == columnDim;
      Value begin = toValue(b, loc, d == columnDim ? firstColumn : from.lo[d]);
      if (isTiled)
        begin = arith::AndIOp::create(b, loc, begin, constant(-side));
      auto loop = scf::ForOp::create(b, loc, begin, toValue(b, loc, from.hi[d]),
                                     constant(isTiled ? side : 1));
      b.setInsertionPoint(loop.getBody()->getTerminator());
      at[d] = loop.getInductionVar();
    }
    copyTile(at);
  }

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  Value isLess(Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
  }

  /// True if `size` elements of dimension `d` from `at` on are in the box.
  Value isInside(unsigned d, Value at, int64_t size) {
    Value low = isLess(at, toValue(b, loc, from.lo[d]));
    Value last = arith::AddIOp::create(b, loc, at, constant(size - 1));
    Value high = isLess(last, toValue(b, loc, from.hi[d]));
    Value notLow = arith::XOrIOp::create(
        b, loc, low, arith::ConstantIntOp::create(b, loc, 1, 1));
    return arith::AndIOp::create(b, loc, notLow, high);
  }

  /// What is outside of the box is nobody's memory: the pad everywhere, before
  /// the box is copied.
  void fill() {
    Value isFull;
    int64_t elements = 1;
    for (auto [d, size] : llvm::enumerate(from.shape)) {
      elements *= size;
      if (from.isFull(d))
        continue;
      Value inside = isInside(d, constant(0), size);
      isFull = isFull ? arith::AndIOp::create(b, loc, isFull, inside) : inside;
    }
    auto branch = scf::IfOp::create(b, loc, TypeRange(), isFull, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.elseBlock()->getTerminator());
    auto loop = scf::ForOp::create(b, loc, constant(0), constant(elements),
                                   constant(side));
    b.setInsertionPoint(loop.getBody()->getTerminator());
    vector::StoreOp::create(b, loc, pad, to.base, loop.getInductionVar());
  }

  Value addressOf(const View &view, ArrayRef<Value> at) {
    OpFoldResult address = view.offset;
    for (auto [index, stride] : llvm::zip_equal(at, view.strides))
      address = addIndex(b, loc, address, mulIndex(b, loc, index, stride));
    return toValue(b, loc, address);
  }

  void copyTile(ArrayRef<Value> at) {
    RowPointers tile(b, loc, from, addressOf(from, at), from.strides[rowDim]);
    if (later)
      tile.prefetch(*later, side, side);
    SmallVector<Value> rows = pad ? loadRows(at, tile) : tile.load(type, side);
    Value target = addressOf(to, at);
    for (auto [column, value] :
         llvm::enumerate(transposeSquare(b, loc, rows))) {
      Value place = toValue(b, loc,
                            addIndex(b, loc, target,
                                     mulIndex(b, loc, to.strides[columnDim],
                                              b.getIndexAttr(column))));
      vector::StoreOp::create(b, loc, value, to.base, place);
    }
  }

  /// With masks only where the tile is partly outside.
  SmallVector<Value> loadRows(ArrayRef<Value> at, const RowPointers &tile) {
    Value row = at[rowDim], column = at[columnDim];
    Value whole = arith::AndIOp::create(b, loc, isInside(rowDim, row, side),
                                        isInside(columnDim, column, side));
    SmallVector<Type> types(side, type);
    auto branch = scf::IfOp::create(b, loc, types, whole, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(b, loc, tile.load(type, side));

    b.setInsertionPointToEnd(branch.elseBlock());
    SmallVector<Value> rows;
    auto maskType = VectorType::get({side}, b.getI1Type());
    auto below = [&](OpFoldResult bound) -> Value {
      Value left =
          arith::SubIOp::create(b, loc, toValue(b, loc, bound), column);
      return vector::CreateMaskOp::create(b, loc, maskType, ValueRange{left});
    };
    Value columns = below(from.hi[columnDim]);
    if (constantOf(from.lo[columnDim]) != 0) {
      Value outside = arith::XOrIOp::create(b, loc, below(from.lo[columnDim]),
                                            allLanes(b, loc, side));
      columns = arith::AndIOp::create(b, loc, columns, outside);
    }
    Value place = addressOf(from, at),
          next = toValue(b, loc, from.strides[rowDim]);
    for (int64_t i = 0; i < side; ++i) {
      Value number = arith::AddIOp::create(b, loc, row, constant(i));
      Value isRow = isInside(rowDim, number, 1);
      Value exists = vector::BroadcastOp::create(b, loc, maskType, isRow);
      Value mask = arith::AndIOp::create(b, loc, columns, exists);
      // Not where there may be no memory: a fault that a mask suppresses is
      // slow.
      Value at = arith::SelectOp::create(b, loc, isRow, place, constant(0));
      rows.push_back(
          vector::MaskedLoadOp::create(b, loc, type, from.base, at, mask, pad));
      place = arith::AddIOp::create(b, loc, place, next);
    }
    scf::YieldOp::create(b, loc, rows);
    return SmallVector<Value>(branch.getResults());
  }

  OpBuilder &b;
  Location loc;
  const View &from, &to;
  unsigned rowDim, columnDim;
  int64_t side;
  OpFoldResult firstColumn;
  std::optional<Later> later;
  VectorType type;
  Value pad;
};
} // namespace

/// The side, at most `most`, of the tiles in which `view` is transposed, if it
/// is read across the lanes.
std::optional<NestEmitter::Crossing>
NestEmitter::findCrossing(const View &view, ArrayRef<Index> at, int64_t most) {
  int rowDim = -1, columnDim = -1;
  for (auto [d, index] : llvm::enumerate(at)) {
    if (view.shape[d] == 1)
      continue;
    if (index.dim < 0 || view.shape[d] != nest.shape[index.dim])
      return std::nullopt;
    auto stride = constantOf(view.strides[d]);
    if (index.dim == frame.vecDim) {
      if (rowDim >= 0 || stride == 1 || stride == 0)
        return std::nullopt;
      rowDim = d;
    } else if (stride == 1) {
      columnDim = d;
    }
  }
  if (rowDim < 0 || columnDim < 0 || view.other || view.isBool ||
      view.rowDim >= 0)
    return std::nullopt;
  int64_t bits = view.elementType().getIntOrFloatBitWidth(), elements = 1;
  for (int64_t size : view.shape)
    elements *= size;
  int64_t side =
      std::min({lanesAlong(view.shape[rowDim], most),
                lanesAlong(view.shape[columnDim], most),
                std::max<int64_t>(fe.target().vectorBits / bits, 1)});
  constexpr int64_t mostBytes = 1 << 20;
  if (side < 4 || bits % 8 != 0 || elements * bits / 8 > mostBytes)
    return std::nullopt;
  return Crossing{static_cast<unsigned>(rowDim),
                  static_cast<unsigned>(columnDim), side};
}

/// Where the nest reads what is in memory, at its own indices.
llvm::MapVector<Value, SmallVector<Indices, 1>> NestEmitter::findReads() {
  llvm::MapVector<Value, SmallVector<Indices, 1>> reads;
  auto visit = [&](Value value, ArrayRef<Index> at) {
    bool isRead = fe.viewIfInMemory(value) || fe.irregular.count(value);
    if (isRead && !llvm::is_contained(reads[value], at))
      reads[value].push_back(Indices(at));
    return true;
  };
  Indices symbolic = ownIndices(nest.shape.size());
  for (const NestOutput &output : nest.outputs) {
    if (output.reduce)
      for (Value input : reduceInputs(output.reduce))
        fe.walkCone(input, symbolic, nullptr, visit);
    else if (!output.source)
      fe.walkCone(output.tensor, symbolic, nullptr, visit);
    if (output.mask)
      fe.walkCone(output.mask, symbolic, nullptr, visit);
  }
  return reads;
}

/// What is read across the lanes goes through scratch memory. A value that the
/// nest reads in two ways stays where it is.
LogicalResult NestEmitter::stageCrossings() {
  if (nest.isCold || frame.vecDim < 0)
    return success();
  for (auto &[value, places] : findReads()) {
    if (places.size() != 1)
      continue;
    const View *inMemory = fe.viewIfInMemory(value);
    const View &view = inMemory ? *inMemory : *fe.irregular.find(value)->second;
    if (!inMemory) {
      auto side = findRowRuns(view, places.front());
      if (side && failed(stageRowRuns(value, view, *side)))
        return failure();
      continue;
    }
    // Registers for a tile and what it becomes: 16 of them on smaller machines.
    int64_t most = fe.target().vectorBits >= 512 ? 16 : 8;
    auto crossing = findCrossing(view, places.front(), most);
    if (!crossing)
      continue;
    // Contiguous along the lanes, in the order of the other dimensions.
    View model = view;
    for (unsigned d = 0; d < model.strides.size(); ++d)
      model.strides[d] = b.getIndexAttr(d == crossing->rowDim ? 1 : 2);
    View scratch = fe.scratchLike(model, loc);
    Value pad;
    if (!view.isWhole()) {
      pad = view.pad ? fe.mapScalar(view.pad)
                     : fe.zeroOf(view.elementType(), loc);
      if (!pad)
        return failure();
      pad = fe.toLanes(pad, crossing->side);
    }
    bool isPart = part && places.front()[crossing->columnDim].dim ==
                              static_cast<int>(part->dim);
    TransposingCopy(b, loc, view, scratch, crossing->rowDim,
                    crossing->columnDim, crossing->side,
                    isPart ? part->begin : view.lo[crossing->columnDim],
                    fe.loads.count(value) ? laterBlock(view) : std::nullopt)
        .emit(pad);
    if (!isRest())
      Decision(value.getLoc(), "transposed")
          .fact("side", crossing->side)
          .report("contiguous along dimension " + Twine(crossing->columnDim) +
                  " and used along " + Twine(crossing->rowDim) +
                  ": copied first, in squares of " + Twine(crossing->side) +
                  "x" + Twine(crossing->side) + " in registers");
    fe.staged[value] = std::make_unique<View>(std::move(scratch));
  }
  return success();
}
