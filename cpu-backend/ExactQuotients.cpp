//===- ExactQuotients.cpp - quotients that are rounded to few values ------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Quantizing divides numbers of few bits by the largest of them: many quotients
// lie exactly between two codes. A unit in the last place, which a product with
// the reciprocal may be off by, is a whole code there. So it is with the scale,
// which is a quotient, too, and may be stored beside the codes.
//===----------------------------------------------------------------------===//

#include "cpu-backend/ElementFlow.h"
#include "cpu-backend/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include "llvm/ADT/SetVector.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUEXACTQUOTIENTSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge::cpu;

/// The number that all elements of `value` are.
static std::optional<APFloat> numberOf(Value value) {
  for (auto from = sourcesOf(value); from && from->size() == 1;
       from = sourcesOf(value))
    value = from->front();
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  if (auto dense = dyn_cast<SplatElementsAttr>(attribute))
    attribute = dense.getSplatValue<Attribute>();
  auto number = dyn_cast<FloatAttr>(attribute);
  return number ? std::optional(number.getValue()) : std::nullopt;
}

/// Between which codes a number lies, or on which side of one.
static bool rounds(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto narrow = dyn_cast<arith::TruncFOp>(op))
    return getElementTypeOrSelf(narrow.getType()).getIntOrFloatBitWidth() <= 8;
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    // The sign is right in any case.
    auto other = numberOf(op->getOperand(1 - use.getOperandNumber()));
    return other && !other->isZero();
  }
  if (auto bits = dyn_cast<arith::BitcastOp>(op))
    return isa<IntegerType>(getElementTypeOrSelf(bits.getType()));
  return isa<arith::FPToSIOp, arith::FPToUIOp, math::FloorOp, math::CeilOp,
             math::RoundOp, math::RoundEvenOp, math::TruncOp>(op);
}

/// Numbers between codes remain such by this, and a scale remains one.
static bool keepsSteps(Operation *op) {
  return isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
             arith::MinNumFOp, arith::NegFOp, arith::AddFOp, arith::SubFOp,
             arith::MulFOp, arith::DivFOp, arith::TruncFOp, arith::ExtFOp,
             math::AbsFOp, math::CopySignOp>(op);
}

/// Whether one of few values is chosen by `quotient`.
static bool choosesCode(Value quotient) {
  llvm::SetVector<Value> reached;
  reached.insert(quotient);
  for (size_t i = 0; i < reached.size(); ++i)
    for (OpOperand &use : reached[i].getUses()) {
      if (rounds(use))
        return true;
      if (auto targets = targetsOf(use))
        reached.insert(targets->begin(), targets->end());
      else if (keepsSteps(use.getOwner()))
        reached.insert(use.getOwner()->getResult(0));
    }
  return false;
}

namespace {
struct CpuExactQuotientsPass
    : public tilebridge::cpu::impl::CpuExactQuotientsPassBase<
          CpuExactQuotientsPass> {
  void runOnOperation() override {
    getOperation().walk([](arith::DivFOp op) {
      arith::FastMathFlags flags = op.getFastmath();
      if (bitEnumContainsAny(flags, arith::FastMathFlags::arcp) &&
          choosesCode(op.getResult()))
        op.setFastmath(flags & ~arith::FastMathFlags::arcp);
    });
  }
};
} // namespace
