//===- MatmulStep.cpp - one step along K of a tile of a product -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The vectors that a step takes from either operand, and what the host has to
// multiply and add them.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Matmul.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Bytes of what the CPU moves between memory and caches.
static constexpr int64_t lineBytes = 64;

/// Loops have to leave both ports to the multiply-adds: counting takes one of
/// them at times, a line of `a` that is not there stops both.
bool MatmulKernel::feedsTwoFmas() const {
  return settings.target.hasTwoFmas && unit == MatmulUnit::MultiplyAdd &&
         isa<FloatType>(sumElement);
}

/// Every `stride`th step from `begin` to `end`, several in an iteration if they
/// are not much code; but one where memory, from which `b` comes, is slower
/// than counting, and for the few rows that are left of a block.
scf::ForOp MatmulKernel::emitSteps(const TilePlace &place, Value begin,
                                   Value end, int64_t stride,
                                   ValueRange sums) const {
  constexpr int64_t mostTogether = 4, mostProducts = 64;
  auto rows = static_cast<int64_t>(place.rows.size());
  int64_t together = mostTogether;
  while (together > 1 && rows * tile.vectors * together > mostProducts)
    together /= 2;
  if (!feedsTwoFmas() || rows != tile.rows || now.right.address)
    together = 1;
  while (unitDepth / stride % together)
    together /= 2;
  auto loop =
      scf::ForOp::create(b, begin, end, constant(stride * together), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results(loop.getRegionIterArgs());
  for (int64_t i = 0; i < together; ++i)
    results = emitStep(place, offsetBy(b, loop.getInductionVar(), i * stride),
                       results);
  scf::YieldOp::create(b, results);
  return loop;
}

/// The rows of `a` that are read after those of this tile: of the tile below,
/// and behind the last one those of the first, where they go on.
SmallVector<Value> MatmulKernel::rowsOfNextTile(const TilePlace &place) const {
  auto asI64 = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, b.getI64Type(), index);
  };
  auto count = static_cast<int64_t>(place.rows.size());
  Value below = offsetBy(b, place.rows[0], count), zero = constant(0);
  Value isThere =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, below, constant(m));
  Value first = arith::SelectOp::create(b, isThere, below, zero),
        skipped = arith::SelectOp::create(b, isThere, zero, now.steps);
  Value row = addressOfRow(now.rows, first);
  row = LLVM::GEPOp::create(b, row.getType(), packedElement, row,
                            ArrayRef<LLVM::GEPArg>{asI64(skipped)});
  SmallVector<Value> result = {row};
  while (result.size() < place.rows.size()) {
    row = LLVM::GEPOp::create(b, row.getType(), b.getI8Type(), row,
                              ArrayRef<LLVM::GEPArg>{asI64(now.rows.rowBytes)});
    result.push_back(row);
  }
  return result;
}

/// All steps from `begin` to `end`. Rows of `a` in memory are far from each
/// other, and so few lines of one are read that no prefetcher follows them: for
/// each line of this tile one of the next is asked for, which need not exist.
scf::ForOp MatmulKernel::emitLines(const TilePlace &place, Value begin,
                                   Value end, ValueRange sums) const {
  SmallVector<Value> rows = rowsOfNextTile(place);
  auto loop = scf::ForOp::create(b, begin, end, constant(lineSteps()), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value first = loop.getInductionVar(),
        number = arith::IndexCastOp::create(b, b.getI64Type(), first);
  for (Value row : rows) {
    Value line = LLVM::GEPOp::create(b, row.getType(), packedElement, row,
                                     ArrayRef<LLVM::GEPArg>{number});
    LLVM::Prefetch::create(b, line, /*rw=*/0, /*hint=*/2, /*cache=*/1);
  }
  claimLine(place, first);
  auto steps = emitSteps(place, first, offsetBy(b, first, lineSteps()), 1,
                         loop.getRegionIterArgs());
  scf::YieldOp::create(b, steps.getResults());
  return loop;
}

/// Sums that go to an array: asks for a line of each row of the tile, as many
/// columns behind its first as steps have been done. Stores leave the CPU in
/// their order, so that one that waits holds up all others.
void MatmulKernel::claimLine(const TilePlace &place, Value step) const {
  if (!sumsGoTo)
    return;
  Value isColumn = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, step,
                                         constant(tile.columns()));
  auto branch = scf::IfOp::create(b, isColumn, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value column = arith::AddIOp::create(b, place.columns[0], step);
  for (Value row : place.rows)
    memref::PrefetchOp::create(b, sumsGoTo, ValueRange{row, column},
                               /*isWrite=*/true, /*localityHint=*/3,
                               /*isDataCache=*/true);
}

SmallVector<Value> MatmulKernel::emitStep(const TilePlace &place, Value step,
                                          ValueRange sums) const {
  SmallVector<Value> right, results;
  int64_t offset = 0;
  for (auto [column, lanes] : llvm::zip_equal(place.columns, place.vectors)) {
    right.push_back(rightVector(place.panel, step, column, offset, lanes));
    offset += lanes;
  }
  size_t i = 0;
  for (Value row : place.left) {
    SmallVector<std::pair<int64_t, Value>, 2> left;
    for (auto [v, lanes] : llvm::enumerate(place.vectors)) {
      if (left.empty() || left.back().first != lanes)
        left.push_back({lanes, leftVector(row, step, lanes)});
      results.push_back(addProducts(sums[i++], left.back().second, right[v]));
    }
  }
  return results;
}

/// `lanes` columns of b, the elements of one step.
Value MatmulKernel::rightVector(Value panel, Value step, Value column,
                                int64_t offset, int64_t lanes) const {
  if (now.right.address) {
    Value row = addressOfRow(now.right, step);
    int64_t bytes = rhsElement.getIntOrFloatBitWidth() / 8;
    if (now.right.aheadBytes && offset * bytes % lineBytes == 0)
      prefetchRow(row, column);
    return convert(loadRow(row, column, VectorType::get(lanes, rhsElement)),
                   /*isLhs=*/false);
  }
  auto type = cast<MemRefType>(now.rhs.getType());
  SmallVector<Value> at = {step, column};
  if (type.getRank() == 3)
    at = {panel, step, constant(offset * group)};
  return vector::LoadOp::create(
      b, VectorType::get(lanes * group, packedElement), now.rhs, at);
}

/// Asks for the line of a row that is read later, into the second cache.
void MatmulKernel::prefetchRow(Value row, Value column) const {
  auto at = [&](Value from, Type element, Value number) -> Value {
    Value index = arith::IndexCastOp::create(b, b.getI64Type(), number);
    return LLVM::GEPOp::create(b, row.getType(), element, from,
                               ArrayRef<LLVM::GEPArg>{index});
  };
  Value later = at(row, b.getI8Type(), now.right.aheadBytes);
  LLVM::Prefetch::create(b, at(later, rhsElement, column), /*rw=*/0,
                         /*hint=*/2, /*cache=*/1);
}

/// Elements of a row, by its address.
Value MatmulKernel::loadRow(Value address, Value at, VectorType type) const {
  Value index = arith::IndexCastOp::create(b, b.getI64Type(), at),
        first = LLVM::GEPOp::create(b, address.getType(), type.getElementType(),
                                    address, ArrayRef<LLVM::GEPArg>{index});
  return LLVM::LoadOp::create(b, type, first,
                              type.getElementTypeBitWidth() / 8);
}

/// Rows of `a` behind the last one that is wanted need not exist, and what is
/// left in memory may be subnormal, which some CPUs multiply slowly.
Value MatmulKernel::lastWanted(Value row) const {
  if (!now.wanted)
    return row;
  return arith::MinSIOp::create(b, row, offsetBy(b, now.wanted, -1));
}

Value MatmulKernel::addressOfRow(const RowsInMemory &rows, Value row) const {
  Value distance = arith::MulIOp::create(b, row, rows.rowBytes),
        address = arith::AddIOp::create(b, rows.address, distance),
        number = arith::IndexCastOp::create(b, b.getI64Type(), address);
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                  number);
}

/// The elements that one step takes from a row of a, in every lane. The row is
/// given by its number, or by its address.
Value MatmulKernel::leftVector(Value row, Value step, int64_t lanes) const {
  if (now.rows.address) {
    Type word = group == 1 ? sumElement : Type(b.getI32Type());
    Value index = arith::IndexCastOp::create(b, b.getI64Type(), step),
          at = LLVM::GEPOp::create(b, row.getType(), word, row,
                                   ArrayRef<LLVM::GEPArg>{index}),
          one = LLVM::LoadOp::create(b, word, at, packedBytes()),
          all =
              vector::BroadcastOp::create(b, VectorType::get(lanes, word), one);
    if (group == 1)
      return all;
    return vector::BitCastOp::create(
        b, VectorType::get(lanes * group, packedElement), all);
  }
  if (group == 1) {
    Value one = loadOne(b, now.lhs, ValueRange{row, step});
    return vector::BroadcastOp::create(b, VectorType::get(lanes, sumElement),
                                       one);
  }
  Type word = b.getI32Type();
  Type element = cast<MemRefType>(now.lhs.getType()).getElementType();
  Value depth = arith::MulIOp::create(b, step, constant(group));
  Value few = vector::LoadOp::create(b, VectorType::get(group, element),
                                     now.lhs, ValueRange{row, depth});
  Value one = vector::ExtractOp::create(
      b, vector::BitCastOp::create(b, VectorType::get(1, word), few),
      ArrayRef<int64_t>{0});
  Value all = vector::BroadcastOp::create(b, VectorType::get(lanes, word), one);
  return vector::BitCastOp::create(
      b, VectorType::get(lanes * group, packedElement), all);
}

/// Sums of floats may be contracted: with an instruction for it a fused
/// multiply-add comes out, and no call without one.
Value MatmulKernel::addProducts(Value sum, Value left, Value right) const {
  auto type = cast<VectorType>(sum.getType());
  auto bits =
      std::to_string(type.getNumElements() * type.getElementTypeBitWidth());
  auto call = [&](const llvm::Twine &name, ArrayRef<Value> operands) -> Value {
    return LLVM::CallIntrinsicOp::create(
               b, sum.getType(), b.getStringAttr("llvm.x86." + name), operands)
        ->getResult(0);
  };
  switch (unit) {
  case MatmulUnit::Bf16Pairs: {
    auto halves = cast<VectorType>(left.getType()).clone(b.getBF16Type());
    return call("avx512bf16.dpbf16ps." + bits,
                {sum, vector::BitCastOp::create(b, halves, left),
                 vector::BitCastOp::create(b, halves, right)});
  }
  case MatmulUnit::I16Pairs:
    return call("avx512.vpdpwssd." + bits, {sum, left, right});
  case MatmulUnit::I8Quads:
    // The operand without a sign is the first one.
    return call("avx512.vpdpbusd." + bits, {sum, right, left});
  case MatmulUnit::I16PairSums: {
    StringRef name = settings.target.vectorBits == 512   ? "avx512.pmaddw.d.512"
                     : settings.target.vectorBits == 256 ? "avx2.pmadd.wd"
                                                         : "sse2.pmadd.wd";
    return arith::AddIOp::create(b, sum, call(name, {left, right}));
  }
  case MatmulUnit::MultiplyAdd:
  case MatmulUnit::Bf16Tiles:
  case MatmulUnit::I8Tiles:
    break;
  }
  if (!isa<FloatType>(sumElement))
    return arith::AddIOp::create(b, arith::MulIOp::create(b, left, right), sum);
  auto contract = arith::FastMathFlags::contract;
  return arith::AddFOp::create(
      b, arith::MulFOp::create(b, left, right, contract), sum, contract);
}
