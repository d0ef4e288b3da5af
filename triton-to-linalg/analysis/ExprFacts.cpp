//===- ExprFacts.cpp - what is known of an expression's values ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/analysis/Expr.h"

#include "frontend/TTOps.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/Utils/InferIntRangeCommon.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;
using Kind = Expr::Kind;

bool Expr::isNonNegative() const { return range->smin().isNonNegative(); }

bool ttl::isNonNegative(Value scalar) {
  APInt constant;
  if (matchPattern(scalar, m_ConstantInt(&constant)))
    return !constant.isNegative();
  Operation *op = scalar.getDefiningOp();
  if (!op)
    return false;
  if (isa<tt::GetProgramIdOp, tt::GetNumProgramsOp, arith::ExtUIOp>(op))
    return true;
  if (isa<arith::ExtSIOp, arith::RemSIOp>(op))
    return isNonNegative(op->getOperand(0));
  if (isa<arith::DivSIOp, arith::MinSIOp>(op))
    return isNonNegative(op->getOperand(0)) && isNonNegative(op->getOperand(1));
  return isa<arith::MaxSIOp>(op) &&
         (isNonNegative(op->getOperand(0)) || isNonNegative(op->getOperand(1)));
}

/// The values of an SSA scalar, from the operations before it alone.
static ConstantIntRanges rangeOfScalar(Value value, unsigned width) {
  return isNonNegative(value)
             ? ConstantIntRanges::fromSigned(APInt(width, 0),
                                             APInt::getSignedMaxValue(width))
             : ConstantIntRanges::maxRange(width);
}

/// Ranges as an operation of this kind makes them of its operands'.
static ConstantIntRanges rangeOf(const Expr &expr) {
  SmallVector<ConstantIntRanges> in;
  for (const Expr *operand : expr.operands)
    if (operand)
      in.push_back(*operand->range);
  switch (expr.kind) {
  case Kind::Add:
    return intrange::inferAdd(in);
  case Kind::Sub:
    return intrange::inferSub(in);
  case Kind::Mul:
    return intrange::inferMul(in);
  case Kind::DivS:
    return intrange::inferDivS(in);
  case Kind::DivU:
    return intrange::inferDivU(in);
  case Kind::RemS:
    // Of the dividend's sign, whatever the divisor is.
    if (in[0].smin().isNonNegative())
      return intrange::inferRemS(in).intersection(
          ConstantIntRanges::fromSigned(APInt(expr.width, 0), in[0].smax()));
    return intrange::inferRemS(in);
  case Kind::RemU:
    return intrange::inferRemU(in);
  case Kind::MinS:
    return intrange::inferMinS(in);
  case Kind::MaxS:
    return intrange::inferMaxS(in);
  case Kind::MinU:
    return intrange::inferMinU(in);
  case Kind::And:
    return intrange::inferAnd(in);
  case Kind::SExt:
    return intrange::extSIRange(in[0], expr.width);
  case Kind::ZExt:
    return intrange::extUIRange(in[0], expr.width);
  case Kind::Trunc:
    return intrange::truncRange(in[0], expr.width);
  case Kind::Select:
    return in[1].rangeUnion(in[2]);
  default:
    return ConstantIntRanges::maxRange(expr.width);
  }
}

void ExprPool::inferFacts(Expr &expr) const {
  const Expr *a = expr.operands[0], *b = expr.operands[1];
  switch (expr.kind) {
  case Kind::Constant:
    expr.range = ConstantIntRanges::constant(expr.constant);
    expr.zeros = expr.constant.countr_zero();
    return;
  case Kind::Scalar:
    expr.range = rangeOfScalar(expr.value, expr.width);
    if (facts)
      expr.range = expr.range->intersection(facts->rangeOf(expr.value));
    expr.zeros = std::min(expr.width, trailingZeros(expr.value));
    return;
  case Kind::Iota:
    expr.range = ConstantIntRanges::fromSigned(
        APInt(expr.width, 0), APInt::getSignedMaxValue(expr.width));
    return;
  case Kind::Mul:
    expr.zeros = std::min(expr.width, a->zeros + b->zeros);
    break;
  case Kind::Add:
  case Kind::Sub:
  case Kind::MinS:
  case Kind::MaxS:
  case Kind::MinU:
    expr.zeros = std::min(a->zeros, b->zeros);
    break;
  case Kind::RemS:
  case Kind::RemU:
    expr.zeros = std::min(a->zeros, b->zeros);
    break;
  case Kind::DivS:
  case Kind::DivU:
    // Nothing is rounded away where the dividend is a multiple.
    if (std::optional<int64_t> by = b->asConstant();
        by && *by > 0 && llvm::isPowerOf2_64(*by))
      expr.zeros = a->zeros - std::min(a->zeros, llvm::Log2_64(*by));
    break;
  case Kind::SExt:
  case Kind::ZExt:
  case Kind::Trunc:
    expr.zeros = std::min(expr.width, a->zeros);
    break;
  case Kind::Select:
    expr.zeros = std::min(b->zeros, expr.operands[2]->zeros);
    break;
  default:
    break;
  }
  expr.range = rangeOf(expr);
}

const Expr *ExprPool::decided(Kind kind, const Expr *a, const Expr *b) const {
  if (kind == Kind::MinU) {
    if (a->range->umax().ule(b->range->umin()))
      return a;
    return b->range->umax().ule(a->range->umin()) ? b : nullptr;
  }
  bool isMax = kind == Kind::MaxS;
  if (a->range->smax().sle(b->range->smin()))
    return isMax ? b : a;
  if (b->range->smax().sle(a->range->smin()))
    return isMax ? a : b;
  return nullptr;
}
