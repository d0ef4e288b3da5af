//===- ScaledIndices.cpp - indices that are scaled as floats --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// torch.compile writes the nearest pixel of a picture that becomes twice as
// large as `int(float(x) * 0.5)`, or `int((float(x) + 0.5) * 0.5)`. Neither the
// analysis of accesses nor a back end follows an index through floats; `x // 2`
// they do.
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

namespace {
/// What a float of an integer goes through until it is an integer again: a sum
/// with a constant, a product, or a quotient by one, each rounded.
struct FloatSteps {
  struct Step {
    Operation *op;
    APFloat constant;
  };
  /// In the order in which they are computed.
  SmallVector<Step> steps;
  Operation *toFloat = nullptr;
};
} // namespace

/// Of f32 and f64, which are computed as they are written.
static std::optional<FloatSteps> matchSteps(Operation *toInteger) {
  constexpr size_t mostSteps = 4;
  FloatSteps found;
  Value value = toInteger->getOperand(0);
  Type type = getElementTypeOrSelf(value.getType());
  if (!type.isF32() && !type.isF64())
    return std::nullopt;
  while (found.steps.size() <= mostSteps) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return std::nullopt;
    if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
      found.toFloat = op;
      std::reverse(found.steps.begin(), found.steps.end());
      return found;
    }
    APFloat constant(0.0);
    if (!isa<arith::AddFOp, arith::MulFOp, arith::DivFOp>(op))
      return std::nullopt;
    value = op->getOperand(0);
    if (!matchPattern(op->getOperand(1), m_ConstantFloat(&constant))) {
      value = op->getOperand(1);
      if (isa<arith::DivFOp>(op) ||
          !matchPattern(op->getOperand(0), m_ConstantFloat(&constant)))
        return std::nullopt;
    }
    found.steps.push_back({op, constant});
  }
  return std::nullopt;
}

/// What becomes of `number`; nothing where it is no integer of so many bits.
static std::optional<int64_t> resultOf(const FloatSteps &steps, int64_t number,
                                       unsigned width, bool isUnsigned) {
  constexpr auto nearest = APFloat::rmNearestTiesToEven;
  auto type = cast<FloatType>(
      getElementTypeOrSelf(steps.toFloat->getResult(0).getType()));
  APFloat value(type.getFloatSemantics());
  value.convertFromAPInt(APInt(64, number, /*isSigned=*/true),
                         /*IsSigned=*/true, nearest);
  for (const FloatSteps::Step &step : steps.steps) {
    if (isa<arith::AddFOp>(step.op))
      value.add(step.constant, nearest);
    else if (isa<arith::MulFOp>(step.op))
      value.multiply(step.constant, nearest);
    else
      value.divide(step.constant, nearest);
  }
  APSInt result(width, isUnsigned);
  bool isExact;
  if (value.convertToInteger(result, APFloat::rmTowardZero, &isExact) &
      APFloat::opInvalidOp)
    return std::nullopt;
  return result.getExtValue();
}

/// The integer that becomes of each number of a small range is found by doing
/// it: is it a quotient for all of them, or a product and a sum?
static void replaceWhatIsKnown(Operation *op) {
  constexpr int64_t mostNumbers = 1 << 15;
  std::optional<FloatSteps> steps = matchSteps(op);
  if (!steps)
    return;
  Value number = steps->toFloat->getOperand(0);
  Type from = number.getType(), to = op->getResult(0).getType();
  unsigned width = ConstantIntRanges::getStorageBitwidth(from),
           toWidth = ConstantIntRanges::getStorageBitwidth(to);
  if ((width != 32 && width != 64) || (toWidth != 32 && toWidth != 64))
    return;
  ConstantIntRanges range = rangeOf(number);
  const int64_t limit = int64_t(1) << 24;
  int64_t low = range.smin().getSExtValue(), high = range.smax().getSExtValue();
  int64_t begin = std::max<int64_t>(low, 0);
  if (low < -limit || high > limit || high - low >= mostNumbers ||
      high - begin < 1 || (low < 0 && isa<arith::UIToFPOp>(steps->toFloat)))
    return;
  SmallVector<int64_t> results;
  for (int64_t n = low; n <= high; ++n) {
    auto result = resultOf(*steps, n, toWidth, isa<arith::FPToUIOp>(op));
    if (!result || std::abs(*result) > limit)
      return;
    results.push_back(*result);
  }
  auto at = [&](int64_t n) { return results[n - low]; };
  auto isEach = [&](int64_t from, int64_t to, auto formula) {
    return llvm::all_of(llvm::seq(from, to),
                        [&](int64_t n) { return at(n) == formula(n); });
  };
  int64_t factor = at(begin + 1) - at(begin),
          offset = at(begin) - factor * begin, divisor = 1;
  // Quotients are rounded towards zero, as floats are, but not about it.
  int64_t below = offset;
  if (!isEach(low, high + 1, [&](int64_t n) { return factor * n + offset; })) {
    // A step is as long as the second one: the first may begin before 0.
    auto change = [&](int64_t n) {
      while (n <= high && at(n) == at(n - 1))
        ++n;
      return n;
    };
    int64_t first = change(begin + 1), second = change(first + 1);
    if (first > high)
      return;
    divisor = second > high ? std::max(first - begin, second - first)
                            : second - first;
    factor = 1;
    offset = divisor * at(first) - first;
    if (begin + offset < 0 ||
        !isEach(
            begin, high + 1, [&](int64_t n) { return (n + offset) / divisor; }))
      return;
    auto isBelow = [&](int64_t more) {
      return isEach(low, begin,
                    [&](int64_t n) { return (n + more) / divisor; });
    };
    below = isBelow(offset) ? offset : offset + 1;
    if (!isBelow(below))
      return;
  }
  OpBuilder b(op);
  Location loc = op->getLoc();
  auto constant = [&](int64_t value) {
    return constantLike(b, loc, from, APInt(width, value, /*isSigned=*/true));
  };
  auto plus = [&](Value value, int64_t more) -> Value {
    return more == 0 ? value
                     : arith::AddIOp::create(b, loc, value, constant(more));
  };
  Value result = number;
  if (factor != 1)
    result = arith::MulIOp::create(b, loc, result, constant(factor));
  Value usual = plus(result, offset);
  if (below != offset) {
    Value other = plus(result, below);
    Value isBelow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                          number, constant(0));
    usual = arith::SelectOp::create(b, loc, isBelow, other, usual);
  }
  result = usual;
  if (divisor != 1)
    result = arith::DivSIOp::create(b, loc, result, constant(divisor));
  if (toWidth < width)
    result = arith::TruncIOp::create(b, loc, to, result);
  else if (toWidth > width)
    result = arith::ExtSIOp::create(b, loc, to, result);
  op->replaceAllUsesWith(ValueRange{result});
  eraseUnused(op);
}

/// The integer of a float of an integer: one that is divided, or multiplied.
static void scaleAsInteger(Operation *op) {
  std::optional<Scaled> scaled = matchScaled(op->getOperand(0));
  if (!scaled)
    return replaceWhatIsKnown(op);
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
