//===- PickedElements.cpp - elements of a block at computed indices -------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What linalg_ext.gather_along gives is computed in the loops of those who use
// it. Its source is in scratch memory. Where that is a short row for all lanes,
// it is loaded before the loop along them, and they are picked in registers.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/PickedElements.h"

#include "cpu-backend/emit/TableLanes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// Integers read as unsigned, `most` at most.
static Value atMost(OpBuilder &b, Location loc, Value numbers, int64_t most) {
  Type type = numbers.getType();
  if (!llvm::isUIntN(getElementTypeOrSelf(type).getIntOrFloatBitWidth(), most))
    return numbers;
  Attribute limit = b.getIntegerAttr(getElementTypeOrSelf(type), most);
  if (auto vector = dyn_cast<VectorType>(type))
    limit = DenseElementsAttr::get(vector, limit);
  return arith::MinUIOp::create(
      b, loc, numbers,
      arith::ConstantOp::create(b, loc, cast<TypedAttr>(limit)));
}

/// The same numbers in a type in which they are not negative.
static Value asIndices(OpBuilder &b, Location loc, Value numbers) {
  Type type = b.getIndexType();
  if (auto vector = dyn_cast<VectorType>(numbers.getType()))
    type = vector.clone(type);
  return arith::IndexCastUIOp::create(b, loc, type, numbers);
}

PickedElements::PickedElements(FunctionEmitter &fe, Operation *op,
                               ArrayRef<Index> at)
    : fe(fe), b(fe.builder()), op(cast<linalg_ext::GatherAlongOp>(op)),
      loc(op->getLoc()), dim(this->op.getDimension()), indices(at),
      rowIndices(at), view(fe.viewIfInMemory(this->op.getSource())) {
  rowIndices[dim] = Index();
}

/// All lanes are.
bool PickedElements::isFromOneRow() const {
  return llvm::all_of(rowIndices,
                      [](const Index &index) { return index.step == 0; });
}

/// All of the source's row, as a vector.
Value PickedElements::row() {
  unsigned level = fe.levelOf(rowIndices);
  auto &known = fe.frame->levels[level]->wholeRows[view->identity.get()];
  for (auto &[at, value] : known)
    if (at == rowIndices)
      return value;
  OpBuilder::InsertionGuard guard(b);
  fe.moveTo(level);
  Value place = fe.address(*view, rowIndices, static_cast<int>(dim), loc);
  Value value = vector::LoadOp::create(
      b, loc, VectorType::get({view->shape[dim]}, view->elementType()),
      view->base, place);
  known.push_back({rowIndices, value});
  return value;
}

/// Without permutations, and from long rows: from memory.
Value PickedElements::gather(Value numbers) {
  Value place = fe.address(*view, rowIndices, -1, loc);
  auto scaled = [&](Value lanes, OpFoldResult stride) -> Value {
    if (constantOf(stride) == 1)
      return lanes;
    return arith::MulIOp::create(
        b, loc, lanes, fe.toLanes(toValue(b, loc, stride), fe.frame->lanes));
  };
  Value offsets = scaled(asIndices(b, loc, numbers), view->strides[dim]);
  auto type = cast<VectorType>(offsets.getType());
  for (auto [d, index] : llvm::enumerate(rowIndices))
    if (index.step != 0)
      offsets =
          arith::AddIOp::create(b, loc, offsets,
                                scaled(numbersFrom0(b, loc, type),
                                       mulIndex(b, loc, view->strides[d],
                                                b.getIndexAttr(index.step))));
  type = type.clone(view->elementType());
  return vector::GatherOp::create(
      b, loc, type, view->base, place, offsets,
      allLanes(b, loc, fe.frame->lanes),
      arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
}

Value PickedElements::evaluate() {
  if (!view) {
    Operation *source = op.getSource().getDefiningOp();
    if (source && isOneNumber(source))
      return fe.evaluate(op.getSource(), indices);
    op->emitError("internal error: its source is not in memory");
    return {};
  }
  Value numbers = fe.evaluate(op.getIndices(), indices);
  if (!numbers)
    return {};
  int64_t size = view->shape[dim];
  numbers = atMost(b, loc, numbers, size - 1);
  if (!isa<VectorType>(numbers.getType())) {
    Indices from(indices);
    from[dim] = {asIndices(b, loc, numbers), 0, fe.levelOf(indices), -1};
    return fe.read(*view, from, loc);
  }
  unsigned bits = view->elementType().getIntOrFloatBitWidth();
  bool isTable = isFromOneRow() && constantOf(view->strides[dim]) == 1 &&
                 size <= TableLanes::mostEntries(fe.target(), bits);
  Value result = isTable
                     ? TableLanes(b, loc, fe.target()).lookUp(row(), numbers)
                     : gather(numbers);
  // Its vectors are whole registers.
  fe.onlyStreams &= !isTable;
  if (!view->isBool)
    return result;
  return arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::ne, result,
      arith::ConstantOp::create(b, loc, b.getZeroAttr(result.getType())));
}
