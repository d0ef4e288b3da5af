//===- WidenBf16.cpp - arithmetic in bf16, one rounding an operation ------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// An intermediate that is rounded to bf16 and computed with at once stays an
// f32: five operations on its bits round it where it lies, and nothing is
// packed and widened again. Where NaNs are short, they are kept without a test.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/ShortNans.h"
#include "cpu-backend/SmallFloat.h"
#include "cpu-backend/SmallIntegers.h"

#include "mlir/Dialect/Math/IR/Math.h"

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
    bool isExact = holdsBf16(op.getIn());
    bool areShort = isExact || nans.ensure(op->getOpOperand(0));
    if (!extended.empty()) {
      ImplicitLocOpBuilder b(op.getLoc(), op);
      Value wide = op.getIn();
      if (!isExact)
        wide = SmallFloatConverter(b, {}).roundToBf16(wide, areShort);
      for (arith::ExtFOp extend : extended) {
        extend.replaceAllUsesWith(wide);
        extend.erase();
      }
    }
    if (op->use_empty()) {
      op.erase();
      return;
    }
    if (areShort)
      op->setAttr(shortNansAttr, UnitAttr::get(op.getContext()));
    if (isExact)
      op.setRoundingmode(arith::RoundingMode::toward_zero);
  }

  /// In the block of each.
  DenseMap<Value, Value> widened;
  ShortNans nans;
};
} // namespace
