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

int64_t tilebridge::cpu::tableSizeOf(Operation *op) {
  constexpr uint64_t most = 256;
  auto gather = dyn_cast_if_present<linalg_ext::GatherOp>(op);
  if (!gather || !argumentOf(gather.getBase()) || isCutIntoPieces(op))
    return 0;
  Type element = gather.getBase().getType().getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8)
    return 0;
  ConstantIntRanges range = rangeOfNumbers(gather.getOffsets());
  if (range.smin().isNegative() || range.smax().uge(most))
    return 0;
  return static_cast<int64_t>(range.smax().getZExtValue()) + 1;
}

int64_t MemoryTable::bits() const {
  return cast<MemRefType>(base.getType()).getElementTypeBitWidth();
}

bool MemoryTable::canLoad(const EmitTarget &target) const {
  constexpr int64_t leastLanes = 4;
  return cast<VectorType>(offsets.getType()).getNumElements() >= leastLanes &&
         size <= TableLanes::mostEntries(target, bits());
}

Value MemoryTable::isReadable(OpBuilder &b, Location loc) const {
  constexpr int64_t pageBytes = 4096;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  int64_t bytes = bits() / 8;
  Value begin = arith::AddIOp::create(
      b, loc, memref::ExtractAlignedPointerAsIndexOp::create(b, loc, base),
      arith::MulIOp::create(b, loc, at, constant(bytes)));
  Value inPage = arith::AndIOp::create(b, loc, begin, constant(pageBytes - 1));
  Value isInside =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, inPage,
                            constant(pageBytes - size * bytes));
  if (!mask)
    return isInside;
  Value isAny =
      vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, mask);
  return arith::AndIOp::create(b, loc, isInside, isAny);
}

Value MemoryTable::load(OpBuilder &b, Location loc, const EmitTarget &target,
                        Value other) const {
  auto type = VectorType::get(
      {size}, cast<MemRefType>(base.getType()).getElementType());
  Value table = vector::LoadOp::create(b, loc, type, base, at);
  Value result = TableLanes(b, loc, target).lookUp(table, offsets);
  return mask ? arith::SelectOp::create(b, loc, mask, result, other) : result;
}
