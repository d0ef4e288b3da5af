//===- WidenBf16.cpp - arithmetic in bf16, one rounding an operation ------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// An intermediate that is rounded to bf16 and computed with at once stays an
// f32: five operations on its bits round it where it lies, and nothing is
// packed and widened again. They keep most NaNs as well, so that these need no
// test:
//
// To nearest even, 0x7fff is added to the bits, or 0x8000 where bit 16 is set,
// and the lower half is cut off. A NaN only becomes something else where that
// carries into its upper half, that is, where the lower half is not zero. Of
// bf16 it is. An IEEE operation that has a NaN among its operands gives one of
// them, at most with its quiet bit set, which is in the upper half; one that
// makes a NaN of numbers gives 0x7fc00000 or 0xffc00000 (x86). So each sum,
// product, quotient and so on of values whose NaNs have lower halves of zeros
// is such a value again. (Not what f16 was: 0x7fffe000 would become -0.)
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/SmallFloat.h"
#include "cpu-backend/SmallIntegers.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUWIDENBF16PASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge::cpu;

static bool isBf16(Type type) { return getElementTypeOrSelf(type).isBF16(); }

static Type withElement(Type type, Type element) {
  if (auto shaped = dyn_cast<VectorType>(type))
    return shaped.clone(element);
  return element;
}

/// Computes element by element, in bf16 and nothing wider.
static bool computesInBf16(Operation *op) {
  if (isa<arith::SelectOp, arith::BitcastOp, arith::ConstantOp, arith::ExtFOp,
          arith::TruncFOp>(op) ||
      !isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
      !OpTrait::hasElementwiseMappableTraits(op) || op->getNumRegions() != 0 ||
      op->getNumResults() != 1 || op->getNumOperands() == 0)
    return false;
  Type result = op->getResult(0).getType();
  return llvm::all_of(op->getOperandTypes(), isBf16) &&
         (isBf16(result) || getElementTypeOrSelf(result).isInteger(1));
}

/// Whether it is bf16 that was widened.
static bool wasBf16(Value value) {
  auto extend = value.getDefiningOp<arith::ExtFOp>();
  return extend && isBf16(extend.getIn().getType());
}

/// The lower half of each number is zero.
static bool isExact(Value value, int depth = 8) {
  Operation *op = value.getDefiningOp();
  if (wasBf16(value) || convertsSmallIntegers(op))
    return true;
  if (!op || depth == 0)
    return false;
  DenseFPElementsAttr numbers;
  FloatAttr number;
  auto hasHalf = [](const APFloat &each) {
    return each.bitcastToAPInt().countr_zero() >= 16;
  };
  if (matchPattern(op, m_Constant(&numbers)))
    return numbers.isSplat() && hasHalf(numbers.getSplatValue<APFloat>());
  if (matchPattern(op, m_Constant(&number)))
    return hasHalf(number.getValue());
  // What this pass has rounded.
  if (auto cast = dyn_cast<arith::BitcastOp>(op)) {
    auto cut = cast.getIn().getDefiningOp<arith::AndIOp>();
    APInt mask;
    return cut && matchPattern(cut.getRhs(), m_ConstantInt(&mask)) &&
           mask.getBitWidth() == 32 && mask.countr_zero() >= 16;
  }
  auto isOperandExact = [&](Value operand) {
    return isExact(operand, depth - 1);
  };
  if (auto choice = dyn_cast<arith::SelectOp>(op))
    return isOperandExact(choice.getTrueValue()) &&
           isOperandExact(choice.getFalseValue());
  return isa<arith::NegFOp, math::AbsFOp, math::CopySignOp, arith::MaxNumFOp,
             arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp,
             vector::BroadcastOp>(op) &&
         llvm::all_of(op->getOperands(), isOperandExact);
}

/// The lower half of each NaN is zero: see above.
static bool hasShortNans(Value value, int depth = 8) {
  if (isExact(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
    return true;
  auto hasShort = [&](Value operand) {
    return hasShortNans(operand, depth - 1);
  };
  if (auto choice = dyn_cast<arith::SelectOp>(op))
    return hasShort(choice.getTrueValue()) && hasShort(choice.getFalseValue());
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
             math::FmaOp, arith::NegFOp, math::AbsFOp, arith::MaxNumFOp,
             arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp,
             vector::BroadcastOp>(op) &&
         llvm::all_of(op->getOperands(), hasShort);
}

namespace {
struct WidenBf16Pass
    : public tilebridge::cpu::impl::CpuWidenBf16PassBase<WidenBf16Pass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> computing;
    getOperation().walk([&](Operation *op) {
      if (computesInBf16(op))
        computing.push_back(op);
    });
    for (Operation *op : computing)
      widen(op);
    // From the first operation on, as what one is says what its users are.
    SmallVector<arith::TruncFOp> rounded;
    getOperation().walk([&](arith::TruncFOp op) {
      if (isBf16(op.getType()) &&
          getElementTypeOrSelf(op.getIn().getType()).isF32() &&
          op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) ==
              arith::RoundingMode::to_nearest_even)
        rounded.push_back(op);
    });
    for (arith::TruncFOp op : rounded)
      roundInPlace(op);
  }

private:
  /// Operands to f32, the same operation, the result rounded back.
  void widen(Operation *op) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    auto wider = [&](Value value) -> Value {
      // Not before a loop: what is the same in all lanes is so here.
      bool isHere = value.getParentBlock() == op->getBlock();
      Value &known = widened[value];
      if (isHere && known)
        return known;
      OpBuilder::InsertionGuard guard(b);
      if (isHere)
        b.setInsertionPointAfterValue(value);
      Type type = withElement(value.getType(), b.getF32Type());
      Operation *def = value.getDefiningOp();
      Value wide;
      if (convertsSmallIntegers(def))
        wide = b.clone(*def)->getResult(0), wide.setType(type);
      else
        wide = arith::ExtFOp::create(b, type, value);
      if (isHere)
        known = wide;
      return wide;
    };
    IRMapping map;
    for (Value operand : op->getOperands())
      map.map(operand, wider(operand));
    Operation *wide = b.clone(*op, map);
    Value result = wide->getResult(0);
    Type type = op->getResult(0).getType();
    if (isBf16(type)) {
      result.setType(withElement(type, b.getF32Type()));
      result = arith::TruncFOp::create(b, type, result);
    }
    op->replaceAllUsesWith(ValueRange{result});
    op->erase();
  }

  /// Those that widen what was rounded take it as it was rounded in f32.
  void roundInPlace(arith::TruncFOp op) {
    SmallVector<arith::ExtFOp> extended;
    for (Operation *user : op->getUsers())
      if (auto extend = dyn_cast<arith::ExtFOp>(user);
          extend && getElementTypeOrSelf(extend.getType()).isF32())
        extended.push_back(extend);
    if (extended.empty())
      return;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Value wide = op.getIn();
    if (!isExact(wide)) {
      SmallFloatConverter convert(b, {});
      wide = convert.roundToBf16(wide, /*keepsNans=*/hasShortNans(wide));
    }
    for (arith::ExtFOp extend : extended) {
      extend.replaceAllUsesWith(wide);
      extend.erase();
    }
    if (op->use_empty())
      op.erase();
  }

  /// In the block of each.
  DenseMap<Value, Value> widened;
};
} // namespace
