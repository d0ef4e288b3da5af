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

/// Loops have to leave both ports to the multiply-adds: counting takes one of
/// them at times, a line of `a` that is not there stops both.
bool MatmulKernel::feedsTwoFmas() const {
  return settings.target.hasTwoFmas && unit == MatmulUnit::MultiplyAdd &&
         isa<FloatType>(sumElement);
}

/// Several steps in an iteration leave more of what a CPU looks ahead to steps
/// than one, and hide that rows of `a` come from the second cache.
int64_t MatmulKernel::mostStepsTogether() const {
  constexpr int64_t most = 4;
  bool adds = unit == MatmulUnit::MultiplyAdd && isa<FloatType>(sumElement);
  bool isSingle = !feedsTwoFmas() && settings.target.vectorBits != 256;
  return adds && !isSingle ? most : 1;
}

/// Every `stride`th step from `begin` to `end`, several in an iteration if they
/// are not much code; but one where memory, from which `b` comes, is slower
/// than counting, and for the few rows that are left of a block.
scf::ForOp MatmulKernel::emitSteps(const TilePlace &place, Value begin,
                                   Value end, int64_t stride,
                                   ValueRange sums) const {
  constexpr int64_t mostProducts = 64;
  auto rows = static_cast<int64_t>(place.rows.size());
  int64_t together = mostStepsTogether();
  while (together > 1 && rows * tile.vectors * together > mostProducts)
    together /= 2;
  auto vectors = static_cast<int64_t>(place.columns.size());
  bool isRest =
      rows != tile.rows || (!feedsTwoFmas() && vectors < tile.vectors);
  if (isRest || now.right.address)
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

/// All steps from `begin` to `end`, with what is asked for once a line of `a`.
scf::ForOp MatmulKernel::emitLines(const TilePlace &place, Value begin,
                                   Value end, ValueRange sums) const {
  SmallVector<Value> rows = rowsOfNextTile(place);
  PanelShare share = shareOfNextPanel(place.panel, place.rows[0]);
  auto loop = scf::ForOp::create(b, begin, end, constant(lineSteps()), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value first = loop.getInductionVar();
  for (Value row : rows)
    prefetchLine(row, packedElement, first);
  claimLine(place, first);
  prefetchPanel(share, first);
  auto steps = emitSteps(place, first, offsetBy(b, first, lineSteps()), 1,
                         loop.getRegionIterArgs());
  scf::YieldOp::create(b, steps.getResults());
  return loop;
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
  if (type.getRank() == 3) {
    Value first = now.within ? now.within : constant(offset);
    at = {panel, step, arith::MulIOp::create(b, first, constant(group))};
  }
  return vector::LoadOp::create(
      b, VectorType::get(lanes * group, packedElement), now.rhs, at);
}

/// Elements of a row, by its address; where `mask` is false, those of `others`.
Value MatmulKernel::loadRow(Value address, Value at, VectorType type,
                            Value mask, Value others) const {
  Value index = arith::IndexCastOp::create(b, b.getI64Type(), at),
        first = LLVM::GEPOp::create(b, address.getType(), type.getElementType(),
                                    address, ArrayRef<LLVM::GEPArg>{index});
  unsigned bytes = type.getElementTypeBitWidth() / 8;
  if (mask)
    return LLVM::MaskedLoadOp::create(b, type, first, mask, others, bytes);
  return LLVM::LoadOp::create(b, type, first, bytes);
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
