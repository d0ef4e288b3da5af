//===- ScaledIndices.cpp - indices that are scaled as floats --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// torch.compile writes the nearest pixel of a picture that becomes twice as
// large as `int(float(x) * 0.5)`. Neither the analysis of accesses nor a back
// end follows an index through floats; `x // 2` they do.
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/Passes.h"

#include "frontend/TTOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/SetVector.h"

namespace tilebridge::ttl {
#define GEN_PASS_DEF_SCALEDINDICESPASS
#include "triton-to-linalg/Passes.h.inc"
} // namespace tilebridge::ttl

using namespace mlir;
using namespace tilebridge;

/// The values of an integer, or of all elements of a block, as far as the few
/// operations before it say.
static ConstantIntRanges rangeOf(Value value, unsigned depth = 0) {
  constexpr unsigned mostDepth = 8;
  auto any = ConstantIntRanges::maxRange(
      ConstantIntRanges::getStorageBitwidth(value.getType()));
  Operation *op = value.getDefiningOp();
  if (!op || depth == mostDepth)
    return any;
  if (auto range = dyn_cast<tt::MakeRangeOp>(op))
    return ConstantIntRanges::fromSigned(APInt(32, range.getStart()),
                                         APInt(32, range.getEnd() - 1));
  if (isa<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::TransOp,
          tt::ReshapeOp>(op))
    return rangeOf(op->getOperand(0), depth + 1);
  auto inferrable = dyn_cast<InferIntRangeInterface>(op);
  if (!inferrable || op->getNumResults() != 1)
    return any;
  SmallVector<ConstantIntRanges> operands;
  for (Value operand : op->getOperands()) {
    if (!getElementTypeOrSelf(operand.getType()).isIntOrIndex())
      return any;
    operands.push_back(rangeOf(operand, depth + 1));
  }
  std::optional<ConstantIntRanges> result;
  inferrable.inferResultRanges(
      operands, [&](Value, const ConstantIntRanges &range) { result = range; });
  return result.value_or(any);
}

namespace {
/// `number * 2^log2`, computed as floats.
struct Scaled {
  Operation *toFloat;
  int log2;
};
} // namespace

/// The exponent of a positive power of two in all elements.
static std::optional<int> exponentOf(Value factor) {
  APFloat constant(0.0);
  if (!matchPattern(factor, m_ConstantFloat(&constant)) ||
      constant.isNegative() || !constant.isFiniteNonZero())
    return std::nullopt;
  int log2 = constant.getExactLog2();
  return log2 == INT_MIN ? std::nullopt : std::optional(log2);
}

static std::optional<Scaled> matchScaled(Value value) {
  int log2 = 0;
  Operation *op = value.getDefiningOp();
  if (op && isa<arith::MulFOp, arith::DivFOp>(op)) {
    bool divides = isa<arith::DivFOp>(op);
    Value number = op->getOperand(0);
    std::optional<int> by = exponentOf(op->getOperand(1));
    if (!by && !divides) {
      number = op->getOperand(1);
      by = exponentOf(op->getOperand(0));
    }
    if (!by)
      return std::nullopt;
    log2 = divides ? -*by : *by;
    op = number.getDefiningOp();
  }
  if (!op || !isa<arith::SIToFPOp, arith::UIToFPOp>(op))
    return std::nullopt;
  return Scaled{op, log2};
}

/// Whether each of the numbers, and each one scaled, is a float of the type,
/// with no bit rounded away; and the integers are of the result's type.
static bool isExact(const Scaled &scaled, Operation *toInteger) {
  Value number = scaled.toFloat->getOperand(0);
  auto type = dyn_cast<FloatType>(
      getElementTypeOrSelf(scaled.toFloat->getResult(0).getType()));
  if (!type)
    return false;
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  int precision = APFloat::semanticsPrecision(semantics);
  if (scaled.log2 < APFloat::semanticsMinExponent(semantics) ||
      scaled.log2 + precision > APFloat::semanticsMaxExponent(semantics))
    return false;
  ConstantIntRanges range = rangeOf(number);
  bool isUnsigned = isa<arith::UIToFPOp>(scaled.toFloat);
  // Nothing of this runs over.
  constexpr unsigned wide = 256;
  auto extended = [&](const APInt &value) {
    return isUnsigned ? value.zext(wide) : value.sext(wide);
  };
  APInt low = extended(isUnsigned ? range.umin() : range.smin()),
        high = extended(isUnsigned ? range.umax() : range.smax());
  APInt limit = APInt::getOneBitSet(wide, precision);
  if (low.slt(-limit) || high.sgt(limit))
    return false;
  unsigned width =
      ConstantIntRanges::getStorageBitwidth(toInteger->getResult(0).getType());
  bool toUnsigned = isa<arith::FPToUIOp>(toInteger);
  // Numbers that become smaller are rounded towards zero.
  auto scale = [&](const APInt &value) {
    APInt power = APInt::getOneBitSet(wide, std::abs(scaled.log2));
    return scaled.log2 < 0 ? value.sdiv(power) : value * power;
  };
  APInt least =
      toUnsigned ? APInt(wide, 0) : APInt::getSignedMinValue(width).sext(wide);
  APInt most = toUnsigned ? APInt::getMaxValue(width).zext(wide)
                          : APInt::getSignedMaxValue(width).sext(wide);
  return scale(low).sge(least) && scale(high).sle(most);
}

static Value constantLike(OpBuilder &b, Location loc, Type type,
                          const APInt &value) {
  Attribute number = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto block = dyn_cast<ShapedType>(type))
    number = DenseElementsAttr::get(block, number);
  return arith::ConstantOp::create(b, loc, cast<TypedAttr>(number));
}

/// Erases what nobody uses, and what only that used.
static void eraseUnused(Operation *op) {
  if (!isOpTriviallyDead(op))
    return;
  SmallVector<Operation *> sources;
  for (Value operand : op->getOperands())
    if (Operation *source = operand.getDefiningOp())
      sources.push_back(source);
  op->erase();
  for (Operation *source :
       llvm::SetVector<Operation *>(sources.begin(), sources.end()))
    eraseUnused(source);
}

/// The integer of a float of an integer: one that is divided, or multiplied.
static void scaleAsInteger(Operation *op) {
  std::optional<Scaled> scaled = matchScaled(op->getOperand(0));
  if (!scaled)
    return;
  Value number = scaled->toFloat->getOperand(0);
  Type from = number.getType(), to = op->getResult(0).getType();
  unsigned width = ConstantIntRanges::getStorageBitwidth(from),
           toWidth = ConstantIntRanges::getStorageBitwidth(to);
  int shift = std::abs(scaled->log2);
  // The power of two is a positive number of its type.
  if (width < 8 ||
      shift >= static_cast<int>(scaled->log2 < 0 ? width : toWidth) - 1 ||
      !isExact(*scaled, op))
    return;
  OpBuilder b(op);
  Location loc = op->getLoc();
  bool isUnsigned = isa<arith::UIToFPOp>(scaled->toFloat);
  auto power = [&](Type type, unsigned bits) {
    return constantLike(b, loc, type, APInt::getOneBitSet(bits, shift));
  };
  Value result = number;
  if (scaled->log2 < 0)
    result = isUnsigned
                 ? arith::DivUIOp::create(b, loc, result, power(from, width))
                       .getResult()
                 : arith::DivSIOp::create(b, loc, result, power(from, width))
                       .getResult();
  if (toWidth < width)
    result = arith::TruncIOp::create(b, loc, to, result);
  else if (toWidth > width)
    result = isUnsigned
                 ? arith::ExtUIOp::create(b, loc, to, result).getResult()
                 : arith::ExtSIOp::create(b, loc, to, result).getResult();
  if (scaled->log2 > 0)
    result = arith::MulIOp::create(b, loc, result, power(to, toWidth));
  op->replaceAllUsesWith(ValueRange{result});
  eraseUnused(op);
}

namespace {
struct ScaledIndices : ttl::impl::ScaledIndicesPassBase<ScaledIndices> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      scaleAsInteger(op);
  }
};
} // namespace
