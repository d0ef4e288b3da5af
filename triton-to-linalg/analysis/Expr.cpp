//===- Expr.cpp - integer expressions over a program's scalars -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/analysis/Expr.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/Utils/InferIntRangeCommon.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;
using Kind = Expr::Kind;

std::optional<int64_t> Expr::asConstant() const {
  if (!isConstant())
    return std::nullopt;
  return constant.getSExtValue();
}

void Expr::Profile(llvm::FoldingSetNodeID &id) const {
  id.AddInteger(static_cast<unsigned>(kind));
  id.AddInteger(width);
  if (kind == Kind::Constant)
    constant.Profile(id);
  id.AddPointer(value.getAsOpaquePointer());
  id.AddInteger(dim);
  id.AddInteger(static_cast<unsigned>(compare));
  for (const Expr *operand : operands)
    id.AddPointer(operand);
  // Where a division was written does not tell it from another: it is written
  // again where the first one met comes too late.
}

const Expr *ExprPool::unique(const Expr &expr) {
  llvm::FoldingSetNodeID id;
  expr.Profile(id);
  void *place;
  if (Expr *known = set.FindNodeOrInsertPos(id, place))
    return known;
  nodes.push_back(expr);
  Expr &made = nodes.back();
  for (const Expr *operand : made.operands)
    made.varies |= operand && operand->varies;
  inferFacts(made);
  set.InsertNode(&made, place);
  return &made;
}

static Expr makeExpr(Kind kind, unsigned width) {
  Expr expr;
  expr.kind = kind;
  expr.width = width;
  return expr;
}

static const Expr *makeConstant(ExprPool &pool, const APInt &value) {
  return pool.constant(value.getBitWidth(), value.getSExtValue());
}

const Expr *ExprPool::constant(unsigned width, int64_t value) {
  Expr expr = makeExpr(Kind::Constant, width);
  expr.constant = APInt(64, static_cast<uint64_t>(value), true).trunc(width);
  return unique(expr);
}

/// Bits of an SSA integer; an index counts as 64.
static unsigned widthOf(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  return integer ? integer.getWidth() : 64;
}

const Expr *ExprPool::scalar(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return makeConstant(*this, constant);
  Expr expr = makeExpr(Kind::Scalar, widthOf(value.getType()));
  expr.value = value;
  return unique(expr);
}

const Expr *ExprPool::element(Value tensor) {
  Expr expr = makeExpr(Kind::Element, widthOf(tensor.getType()));
  expr.value = tensor;
  return unique(expr);
}

const Expr *ExprPool::lane(Value tensor, unsigned dim) {
  Expr expr = makeExpr(Kind::Lane, widthOf(tensor.getType()));
  expr.value = tensor;
  expr.dim = dim;
  expr.varies = true;
  return unique(expr);
}

const Expr *ExprPool::iota(unsigned width) {
  Expr expr = makeExpr(Kind::Iota, width);
  expr.varies = true;
  return unique(expr);
}

/// The value of an operation on two constants; none where it is undefined.
static std::optional<APInt> evaluate(Kind kind, const APInt &a,
                                     const APInt &b) {
  switch (kind) {
  case Kind::Add:
    return a + b;
  case Kind::Sub:
    return a - b;
  case Kind::Mul:
    return a * b;
  case Kind::MinS:
    return llvm::APIntOps::smin(a, b);
  case Kind::MaxS:
    return llvm::APIntOps::smax(a, b);
  case Kind::MinU:
    return llvm::APIntOps::umin(a, b);
  case Kind::And:
    return a & b;
  default:
    break;
  }
  if (b.isZero() || (b.isAllOnes() && a.isMinSignedValue()))
    return std::nullopt;
  switch (kind) {
  case Kind::DivS:
    return a.sdiv(b);
  case Kind::DivU:
    return a.udiv(b);
  case Kind::RemS:
    return a.srem(b);
  case Kind::RemU:
    return a.urem(b);
  default:
    return std::nullopt;
  }
}

const Expr *ExprPool::division(Kind kind, const Expr *a, const Expr *b,
                               Operation *anchor) {
  return binary(kind, a, b, anchor);
}

const Expr *ExprPool::binary(Kind kind, const Expr *a, const Expr *b,
                             Operation *anchor) {
  bool commutes = kind != Kind::Sub && kind != Kind::DivS &&
                  kind != Kind::DivU && kind != Kind::RemS &&
                  kind != Kind::RemU;
  if (a->isConstant() && b->isConstant())
    if (std::optional<APInt> value = evaluate(kind, a->constant, b->constant))
      return makeConstant(*this, *value);
  if (commutes && a->isConstant())
    std::swap(a, b);
  switch (kind) {
  case Kind::Add:
    if (b->isConstant(0))
      return a;
    if (b->isConstant() && a->kind == Kind::Add && a->operands[1]->isConstant())
      return add(a->operands[0], add(a->operands[1], b));
    break;
  case Kind::Sub:
    if (a == b)
      return constant(a->width, 0);
    if (b->isConstant())
      return add(a, makeConstant(*this, -b->constant));
    if (a->kind == Kind::Add && a->operands[0] == b)
      return a->operands[1];
    if (a->kind == Kind::Add && a->operands[1] == b)
      return a->operands[0];
    break;
  case Kind::Mul:
    if (b->isConstant(0))
      return b;
    if (b->isConstant() && b->constant.isOne())
      return a;
    if (b->isConstant() && a->kind == Kind::Mul && a->operands[1]->isConstant())
      return mul(a->operands[0], mul(a->operands[1], b));
    break;
  case Kind::DivS:
  case Kind::DivU:
  case Kind::RemS:
  case Kind::RemU: {
    bool isQuotient = kind == Kind::DivS || kind == Kind::DivU;
    if (isQuotient && b->isConstant() && b->constant.isOne())
      return a;
    // What is smaller than the divisor stays as it is.
    bool isSmaller = a->range->smin().isNonNegative() &&
                     a->range->smax().slt(b->range->smin());
    if (isSmaller)
      return isQuotient ? constant(a->width, 0) : a;
    break;
  }
  case Kind::MinS:
  case Kind::MaxS:
  case Kind::MinU:
    if (a == b)
      return a;
    if (const Expr *one = decided(kind, a, b))
      return one;
    if (kind == Kind::MinU && b->isConstant(0))
      return b;
    break;
  case Kind::And:
    if (a == b || (b->isConstant() && b->constant.isAllOnes()))
      return a;
    if (b->isConstant(0))
      return b;
    break;
  default:
    break;
  }
  Expr expr = makeExpr(kind, a->width);
  expr.operands[0] = a;
  expr.operands[1] = b;
  expr.anchor = anchor;
  return unique(expr);
}

const Expr *ExprPool::extend(const Expr *a, unsigned width, bool isSigned) {
  if (a->width == width)
    return a;
  if (a->isConstant())
    return makeConstant(*this, isSigned ? a->constant.sext(width)
                                        : a->constant.zext(width));
  Kind kind = isSigned ? Kind::SExt : Kind::ZExt;
  if (a->kind == kind)
    return extend(a->operands[0], width, isSigned);
  if (a->kind == Kind::Iota)
    return iota(width);
  Expr expr = makeExpr(kind, width);
  expr.operands[0] = a;
  return unique(expr);
}

const Expr *ExprPool::truncate(const Expr *a, unsigned width) {
  if (a->width == width)
    return a;
  if (a->isConstant())
    return makeConstant(*this, a->constant.trunc(width));
  if ((a->kind == Kind::SExt || a->kind == Kind::ZExt) &&
      a->operands[0]->width == width)
    return a->operands[0];
  Expr expr = makeExpr(Kind::Trunc, width);
  expr.operands[0] = a;
  return unique(expr);
}

const Expr *ExprPool::cmp(arith::CmpIPredicate predicate, const Expr *a,
                          const Expr *b) {
  if (a->isConstant() && b->isConstant())
    return boolean(
        arith::applyCmpPredicate(predicate, a->constant, b->constant));
  if (std::optional<bool> always = intrange::evaluatePred(
          static_cast<intrange::CmpPredicate>(predicate), *a->range, *b->range))
    return boolean(*always);
  Expr expr = makeExpr(Kind::Cmp, 1);
  expr.compare = predicate;
  expr.operands[0] = a;
  expr.operands[1] = b;
  return unique(expr);
}

const Expr *ExprPool::select(const Expr *condition, const Expr *a,
                             const Expr *b) {
  if (condition->isConstant())
    return condition->isConstant(0) ? b : a;
  if (a == b)
    return a;
  Expr expr = makeExpr(Kind::Select, a->width);
  expr.operands[0] = condition;
  expr.operands[1] = a;
  expr.operands[2] = b;
  return unique(expr);
}

const Expr *ExprPool::withOperands(const Expr *expr,
                                   ArrayRef<const Expr *> operands) {
  switch (expr->kind) {
  case Kind::SExt:
  case Kind::ZExt:
    return extend(operands[0], expr->width, expr->kind == Kind::SExt);
  case Kind::Trunc:
    return truncate(operands[0], expr->width);
  case Kind::Cmp:
    return cmp(expr->compare, operands[0], operands[1]);
  case Kind::Select:
    return select(operands[0], operands[1], operands[2]);
  default:
    return binary(expr->kind, operands[0], operands[1], expr->anchor);
  }
}
