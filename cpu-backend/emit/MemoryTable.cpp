//===- MemoryTable.cpp - small tables of arguments ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Where numbers of elements are known to be small, such as the four bits of a
// quantized weight, a step of the loop loads all that they may choose, and
// permutes that: a load of a line, where a gather is one for each lane.
// Elements that no lane chooses need not exist, but they do if they are on the
// page of one that is read. Each step loads them again, so that nobody has to
// know what else is written.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/MemoryTable.h"

#include "cpu-backend/emit/NumberRange.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/RowPieces.h"
#include "cpu-backend/emit/TableLanes.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// Numbers below it are in no more elements than any permutation takes.
static constexpr int64_t mostElements = 256;

/// How many elements numbers may choose; 0: many, or some before the first.
static int64_t sizeFor(Value numbers) {
  ConstantIntRanges range = rangeOfNumbers(numbers);
  return range.smin().isNegative() || range.smax().uge(mostElements)
             ? 0
             : static_cast<int64_t>(range.smax().getZExtValue()) + 1;
}

static bool mayBeTable(linalg_ext::GatherOp gather) {
  if (!gather || !argumentOf(gather.getBase()) || isCutIntoPieces(gather))
    return false;
  Type element = gather.getBase().getType().getElementType();
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 8;
}

int64_t tilebridge::cpu::tableSizeOf(Operation *op) {
  auto gather = dyn_cast_if_present<linalg_ext::GatherOp>(op);
  return mayBeTable(gather) ? sizeFor(gather.getOffsets()) : 0;
}

int64_t tilebridge::cpu::costOfGather(Operation *op) {
  constexpr int64_t memory = 20;
  int64_t size = tableSizeOf(op);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  return size > 0 ? costOfTable(size, type.getElementTypeBitWidth()) : memory;
}

std::optional<MemoryTable>
MemoryTable::find(OpBuilder &builder, Operation *op, Value base, Value at,
                  Value mask, const EmitTarget &target,
                  function_ref<Value(Value)> evaluate) {
  auto gather = cast<linalg_ext::GatherOp>(op);
  MemoryTable table(builder, op->getLoc(), target, base);
  int64_t most = TableLanes::mostEntries(target, table.bits());
  if (most == 0 || !mayBeTable(gather))
    return std::nullopt;
  table.at = at;
  table.mask = mask;
  table.size = sizeFor(gather.getOffsets());
  if (table.size > 0 && table.size <= most) {
    table.numbers = evaluate(gather.getOffsets());
  } else {
    SmallVector<Value> terms;
    Value sum = withoutExtension(gather.getOffsets());
    addTerms(sum, terms);
    auto isFew = [&](Value term) {
      int64_t few = sizeFor(term);
      return few > 0 && few <= most;
    };
    if (terms.size() < 2 || llvm::none_of(terms, isFew) ||
        !table.addPlaces(terms, sum != gather.getOffsets(), evaluate))
      return std::nullopt;
  }
  constexpr int64_t leastLanes = 4;
  auto type = dyn_cast_if_present<VectorType>(
      table.numbers ? table.numbers.getType() : Type());
  if (!type || type.getNumElements() < leastLanes || table.size > most)
    return std::nullopt;
  return table;
}

/// All terms but one are the same for all lanes, and of that one there are few;
/// false if it is not so. A sum of 32 bits that is extended behind it may wrap
/// around: not where the others do not do so with the last element's number.
bool MemoryTable::addPlaces(ArrayRef<Value> terms, bool mayWrap,
                            function_ref<Value(Value)> evaluate) {
  Value place;
  for (Value term : terms) {
    Value value = evaluate(term);
    if (!value)
      return false;
    if (isa<VectorType>(value.getType())) {
      size = numbers ? 0 : sizeFor(term);
      numbers = value;
      if (size == 0)
        return false;
      continue;
    }
    place =
        place ? arith::AddIOp::create(b, loc, place, value).getResult() : value;
  }
  if (!numbers || !place)
    return false;
  if (mayWrap) {
    unsigned width = place.getType().getIntOrFloatBitWidth();
    Value last = arith::ConstantOp::create(
        b, loc,
        b.getIntegerAttr(place.getType(),
                         APInt::getSignedMaxValue(width) - (size - 1)));
    condition =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, place, last);
  }
  at = advanced(b, loc, at, place);
  return true;
}

int64_t MemoryTable::bits() const {
  return cast<MemRefType>(base.getType()).getElementTypeBitWidth();
}

Value MemoryTable::constant(int64_t value) const {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value MemoryTable::isReadable() const {
  constexpr int64_t pageBytes = 4096;
  int64_t bytes = bits() / 8;
  Value begin = arith::AddIOp::create(
      b, loc, memref::ExtractAlignedPointerAsIndexOp::create(b, loc, base),
      arith::MulIOp::create(b, loc, at, constant(bytes)));
  Value inPage = arith::AndIOp::create(b, loc, begin, constant(pageBytes - 1));
  Value result =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, inPage,
                            constant(pageBytes - size * bytes));
  if (condition)
    result = arith::AndIOp::create(b, loc, result, condition);
  if (mask)
    result = arith::AndIOp::create(
        b, loc, result,
        vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, mask));
  return result;
}

Value MemoryTable::load(Value other) const {
  auto type = VectorType::get(
      {size}, cast<MemRefType>(base.getType()).getElementType());
  Value table = vector::LoadOp::create(b, loc, type, base, at);
  Value result = TableLanes(b, loc, target).lookUp(table, numbers);
  return mask ? arith::SelectOp::create(b, loc, mask, result, other) : result;
}
