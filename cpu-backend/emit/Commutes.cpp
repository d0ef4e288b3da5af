//===- Commutes.cpp - whether a reduction's region is symmetric -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Found out by trying: the region is folded for pairs of values, both ways
// round. A region that cannot be folded, or is not symmetric (take the first
// element that is not zero), is reduced in the order of the elements. A wrong
// "yes" would need a region that tells its operands apart for none of the
// pairs, a wrong "no" only costs time. (Triton promises no order.) Floats may
// be rounded otherwise: means and variances of two parts, by their weights, are
// symmetric but for that, and where both weigh nothing, so that a float is
// divided by zero or found to be zero.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/NestEmitter.h"

using namespace mlir;
using namespace tilebridge::cpu;

using Constants = SmallVector<Attribute>;

SmallVector<OpFoldResult>
tilebridge::cpu::foldCopy(Operation *op, ArrayRef<Attribute> operands) {
  // Folding may change the op itself.
  Operation *copy = op->clone();
  SmallVector<OpFoldResult> results;
  if (failed(copy->fold(operands, results)))
    results.clear();
  copy->erase();
  return results;
}

static bool isZeroFloat(Attribute attr) {
  auto number = dyn_cast<FloatAttr>(attr);
  return number && number.getValue().isZero();
}

/// `op` divides a float by zero, or finds that one is zero.
static bool meetsZero(Operation *op, ArrayRef<Attribute> operands) {
  if (isa<arith::DivFOp>(op))
    return isZeroFloat(operands[1]);
  auto compare = dyn_cast<arith::CmpFOp>(op);
  bool isEquality =
      compare &&
      llvm::is_contained({arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UEQ,
                          arith::CmpFPredicate::ONE, arith::CmpFPredicate::UNE},
                         compare.getPredicate());
  return isEquality && isZeroFloat(operands[0]) && isZeroFloat(operands[1]);
}

/// What a region without loops yields for such arguments, if that can be
/// computed now; whether a float is zero that must not be.
static std::optional<Constants>
foldRegion(Block &block, ArrayRef<Attribute> arguments, bool &meetsZeroes) {
  DenseMap<Value, Attribute> known;
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments))
    known[argument] = value;
  auto lookup = [&](Value value) -> Attribute {
    if (Attribute attr = known.lookup(value))
      return attr;
    Attribute attr;
    return matchPattern(value, m_Constant(&attr)) ? attr : Attribute();
  };
  for (Operation &op : block.without_terminator()) {
    Constants operands;
    for (Value operand : op.getOperands()) {
      operands.push_back(lookup(operand));
      if (!operands.back())
        return std::nullopt;
    }
    if (op.getNumRegions() != 0)
      return std::nullopt;
    meetsZeroes |= meetsZero(&op, operands);
    SmallVector<OpFoldResult> results = foldCopy(&op, operands);
    if (results.empty() || results.size() != op.getNumResults())
      return std::nullopt;
    for (auto [value, result] : llvm::zip_equal(op.getResults(), results)) {
      auto attr = dyn_cast<Attribute>(result);
      known[value] = attr ? attr : lookup(cast<Value>(result));
      if (!known[value])
        return std::nullopt;
    }
  }
  Constants yielded;
  for (Value value : block.getTerminator()->getOperands()) {
    yielded.push_back(lookup(value));
    if (!yielded.back())
      return std::nullopt;
  }
  return yielded;
}

/// The same numbers, but for how floats of at least 32 bits are rounded.
static bool isNear(Attribute one, Attribute other) {
  auto x = dyn_cast<FloatAttr>(one), y = dyn_cast<FloatAttr>(other);
  if (one == other || !x || !y || x.getType().getIntOrFloatBitWidth() < 32)
    return one == other;
  double a = x.getValueAsDouble(), b = y.getValueAsDouble();
  return std::abs(a - b) <= 1e-5 * (1 + std::abs(a) + std::abs(b));
}

bool tilebridge::cpu::commutes(Operation *reduce) {
  if (isa<linalg::ReduceOp>(reduce))
    return true; // It has an identity, and one of the well-known regions.
  Block &block = reduce->getRegion(0).front();
  unsigned count = block.getNumArguments() / 2;
  // A fixed sequence of numbers: small ones, so that equal values happen.
  uint32_t state = 1;
  auto sample = [&](Type type) -> Attribute {
    state = state * 1664525u + 1013904223u;
    int64_t number = static_cast<int64_t>((state >> 16) % 7) - 3;
    if (auto floatType = dyn_cast<FloatType>(type))
      return FloatAttr::get(floatType, static_cast<double>(number) * 0.5);
    if (type.isInteger(1))
      return IntegerAttr::get(type, number & 1);
    return IntegerAttr::get(type, number);
  };
  for (int trial = 0; trial < 64; ++trial) {
    Constants forward, backward;
    for (unsigned i = 0; i < 2 * count; ++i)
      forward.push_back(sample(block.getArgument(i).getType()));
    for (unsigned i = 0; i < 2 * count; ++i)
      backward.push_back(forward[(i + count) % (2 * count)]);
    bool meetsZeroes = false;
    auto one = foldRegion(block, forward, meetsZeroes),
         other = foldRegion(block, backward, meetsZeroes);
    if (!one || !other)
      return false;
    if (!meetsZeroes && !llvm::equal(*one, *other, isNear))
      return false;
  }
  return true;
}
