//===- TensorForm.cpp - integer tensors as sums over dimensions --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/analysis/TensorForm.h"

#include <numeric>

using namespace mlir;
using namespace tilebridge::ttl;
using TermKind = DimTerm::Kind;

unsigned TensorForm::countOf(TermKind kind) const {
  return llvm::count_if(terms,
                        [&](const DimTerm &term) { return term.kind == kind; });
}

std::optional<unsigned> TensorForm::onlyDim() const {
  std::optional<unsigned> only;
  for (auto [dim, term] : llvm::enumerate(terms)) {
    if (term.kind == TermKind::None)
      continue;
    if (only)
      return std::nullopt;
    only = dim;
  }
  return only;
}

TensorForm FormAlgebra::uniform(ArrayRef<int64_t> shape,
                                const Expr *value) const {
  TensorForm form;
  form.shape.assign(shape.begin(), shape.end());
  form.width = value->width;
  form.uniform = value;
  form.terms.resize(shape.size());
  return form;
}

DimTerm FormAlgebra::linear(const Expr *stride) const {
  DimTerm term;
  if (stride->isConstant(0))
    return term;
  term.kind = TermKind::Linear;
  term.stride = stride;
  return term;
}

TensorForm FormAlgebra::range(ArrayRef<int64_t> shape, unsigned dim,
                              const Expr *start, const Expr *stride) const {
  TensorForm form = uniform(shape, start);
  if (shape[dim] > 1)
    form.terms[dim] = linear(stride);
  return form;
}

TensorForm FormAlgebra::lanes(Value tensor, unsigned dim) const {
  const Expr *values = pool.lane(tensor, dim);
  TensorForm form = uniform(cast<RankedTensorType>(tensor.getType()).getShape(),
                            pool.constant(values->width, 0));
  form.terms[dim].kind = TermKind::Lanes;
  form.terms[dim].lanes = values;
  return form;
}

DimTerm FormAlgebra::addTerms(const DimTerm &a, const DimTerm &b,
                              unsigned width) const {
  if (a.kind == TermKind::None)
    return b;
  if (b.kind == TermKind::None)
    return a;
  if (a.kind == TermKind::Linear && b.kind == TermKind::Linear)
    return linear(pool.add(a.stride, b.stride));
  if (a.kind == TermKind::Linear)
    return addTerms(b, a, width);

  DimTerm sum;
  sum.kind = TermKind::Lanes;
  const Expr *other = b.kind == TermKind::Linear
                          ? pool.mul(pool.iota(width), b.stride)
                          : b.lanes;
  if (a.lanes && other)
    sum.lanes = pool.add(a.lanes, other);
  if (!a.linear)
    return sum;
  if (b.kind == TermKind::Linear)
    sum.linear = addCases(
        *a.linear, {pool.constant(width, 0), b.stride, pool.boolean(true)},
        width);
  else if (b.linear)
    sum.linear = addCases(*a.linear, *b.linear, width);
  return sum;
}

/// The sum of two cases. Where they are split in different ways runs are left
/// that lie within both; nothing where those are short.
std::optional<LinearCase> FormAlgebra::addCases(const LinearCase &a,
                                                const LinearCase &b,
                                                unsigned width) const {
  // What changes places and what does not are no sum of one kind.
  bool isMixed = a.exchangesHalves != b.exchangesHalves &&
                 !(a.exchangesHalves ? b : a).stride->isConstant(0);
  if (a.hasRuns() || b.hasRuns() || isMixed ||
      (a.inner && b.inner && a.inner != b.inner)) {
    int64_t run = std::gcd(a.linearLanes(), b.linearLanes());
    if (run < shortestRun)
      return std::nullopt;
    return LinearCase{pool.constant(width, 0), pool.add(a.stride, b.stride),
                      pool.conjunction(a.condition, b.condition), run};
  }
  LinearCase sum{pool.add(a.base, b.base), pool.add(a.stride, b.stride),
                 pool.conjunction(a.condition, b.condition)};
  sum.exchangesHalves = a.exchangesHalves || b.exchangesHalves;
  int64_t inner = std::max(a.inner, b.inner);
  if (!inner)
    return sum;
  auto outerOf = [&](const LinearCase &part) {
    return part.inner ? part.outer
                      : pool.mul(part.stride, pool.constant(width, inner));
  };
  sum.outer = pool.add(outerOf(a), outerOf(b));
  // The quotient times the divisor plus the remainder is what was divided.
  if (sum.exchangesHalves ||
      sum.outer != pool.mul(sum.stride, pool.constant(width, inner)))
    sum.inner = inner;
  else
    sum.outer = nullptr;
  return sum;
}

TensorForm FormAlgebra::add(const TensorForm &a, const TensorForm &b) const {
  TensorForm sum = a;
  sum.uniform = pool.add(a.uniform, b.uniform);
  for (auto [term, other] : llvm::zip_equal(sum.terms, b.terms))
    term = addTerms(term, other, a.width);
  return sum;
}

TensorForm FormAlgebra::scale(const TensorForm &a, const Expr *factor) const {
  TensorForm product = a;
  product.uniform = pool.mul(a.uniform, factor);
  for (DimTerm &term : product.terms) {
    if (factor->isConstant(0))
      term = DimTerm();
    if (term.stride)
      term.stride = pool.mul(term.stride, factor);
    if (term.lanes)
      term.lanes = pool.mul(term.lanes, factor);
    if (term.linear) {
      term.linear->base = pool.mul(term.linear->base, factor);
      term.linear->stride = pool.mul(term.linear->stride, factor);
      if (term.linear->outer)
        term.linear->outer = pool.mul(term.linear->outer, factor);
    }
    // A stride of, say, 2^31 times 2 is 0.
    if (term.kind == TermKind::Linear)
      term = linear(term.stride);
  }
  return product;
}

bool FormAlgebra::wraps(const TensorForm &a, bool isSigned) const {
  // In 128 bits nothing here overflows: sizes are below 2^31.
  unsigned wide = 128;
  APInt least(wide, 0), most(wide, 0);
  for (auto [term, size] : llvm::zip_equal(a.terms, a.shape)) {
    if (term.kind != TermKind::Linear || !term.stride->isConstant())
      continue;
    APInt reach = term.stride->constant.sext(wide) * APInt(wide, size - 1);
    (reach.isNegative() ? least : most) += reach;
  }
  APInt span = most - least;
  if (span.ugt(APInt::getMaxValue(a.width).zext(wide)))
    return true;
  if (!a.uniform->isConstant() || a.width == 64)
    return false;
  APInt start = isSigned ? a.uniform->constant.sext(wide)
                         : a.uniform->constant.zext(wide);
  APInt low =
      isSigned ? APInt::getSignedMinValue(a.width).sext(wide) : APInt(wide, 0);
  APInt high = isSigned ? APInt::getSignedMaxValue(a.width).sext(wide)
                        : APInt::getMaxValue(a.width).zext(wide);
  return (start + least).slt(low) || (start + most).sgt(high);
}

bool FormAlgebra::staysInType(const TensorForm &a, bool isSigned) const {
  if (!a.isLinear())
    return false;
  unsigned wide = 128;
  const ConstantIntRanges &start = *a.uniform->range;
  APInt least = isSigned ? start.smin().sext(wide) : start.umin().zext(wide);
  APInt most = isSigned ? start.smax().sext(wide) : start.umax().zext(wide);
  for (auto [term, size] : llvm::zip_equal(a.terms, a.shape)) {
    if (!term.stride)
      continue;
    // Sizes are below 2^31 and strides below 2^63.
    APInt last(wide, size - 1);
    APInt low = term.stride->range->smin().sext(wide) * last,
          high = term.stride->range->smax().sext(wide) * last;
    if (low.isNegative())
      least += low;
    if (high.isStrictlyPositive())
      most += high;
  }
  APInt low =
      isSigned ? APInt::getSignedMinValue(a.width).sext(wide) : APInt(wide, 0);
  APInt high = isSigned ? APInt::getSignedMaxValue(a.width).sext(wide)
                        : APInt::getMaxValue(a.width).zext(wide);
  return low.sle(least) && most.sle(high);
}

/// A range in one dimension of few bits, which is linear where the program sees
/// that its ends are in the type's range.
std::optional<TensorForm> FormAlgebra::extendNarrow(const TensorForm &a,
                                                    unsigned width,
                                                    Value tensor) const {
  std::optional<unsigned> dim = a.onlyDim();
  if (!dim)
    return std::nullopt;
  const DimTerm &term = a.terms[*dim];
  TensorForm form = uniform(a.shape, pool.constant(width, 0));
  DimTerm &wide = form.terms[*dim];
  wide.kind = TermKind::Lanes;
  wide.lanes = pool.extend(pool.lane(tensor, *dim), width, true);
  std::optional<int64_t> step = term.stride->asConstant();
  if (!step)
    return form;
  const Expr *start = pool.extend(a.uniform, 64, true);
  const Expr *end =
      pool.add(start, pool.constant(64, *step * (a.shape[*dim] - 1)));
  int64_t limit = int64_t(1) << (a.width - 1);
  const Expr *condition = pool.cmp(
      *step > 0 ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sge, end,
      pool.constant(64, *step > 0 ? limit : -limit));
  wide.linear = LinearCase{pool.extend(a.uniform, width, true),
                           pool.constant(width, *step), condition};
  return form;
}

std::optional<TensorForm>
FormAlgebra::extend(const TensorForm &a, unsigned width, Value tensor) const {
  if (a.width == width)
    return a;
  if (a.width < 32 && a.isLinear() && !a.isUniform() &&
      !a.uniform->isConstant())
    return wraps(a, true) ? std::nullopt : extendNarrow(a, width, tensor);
  if (wraps(a, true))
    return std::nullopt;
  TensorForm wide = a;
  wide.width = width;
  // A uniform part and arbitrary lanes may wrap around together: they are
  // extended together.
  SmallVector<DimTerm *> varied;
  for (DimTerm &term : wide.terms)
    if (term.kind == TermKind::Lanes)
      varied.push_back(&term);
  if (varied.empty()) {
    wide.uniform = pool.extend(a.uniform, width, true);
  } else {
    wide.uniform = pool.constant(width, 0);
    const Expr *base = a.uniform;
    // The first lanes of runs have the uniform part in them.
    bool allLinear = llvm::all_of(varied, [&](DimTerm *term) {
      return term->linear && (!term->linear->hasRuns() || varied.size() == 1);
    });
    for (DimTerm *term : varied)
      if (allLinear)
        base = pool.add(base, term->linear->base);
    for (auto [i, term] : llvm::enumerate(varied)) {
      bool alone = varied.size() == 1 && term->lanes;
      term->lanes =
          alone ? pool.extend(pool.add(term->lanes, a.uniform), width, true)
                : nullptr;
      if (!allLinear) {
        term->linear.reset();
        continue;
      }
      term->linear->base = i == 0 && !term->linear->hasRuns()
                               ? pool.extend(base, width, true)
                               : pool.constant(width, 0);
      term->linear->stride = pool.extend(term->linear->stride, width, true);
      if (term->linear->outer)
        term->linear->outer = pool.extend(term->linear->outer, width, true);
    }
  }
  for (DimTerm &term : wide.terms)
    if (term.kind == TermKind::Linear)
      term.stride = pool.extend(term.stride, width, true);
  return wide;
}

std::optional<TensorForm> FormAlgebra::extendUnsigned(const TensorForm &a,
                                                      unsigned width,
                                                      Operation *op) const {
  const Expr *start = pool.extend(a.uniform, width, false);
  if (a.isUniform())
    return uniform(a.shape, start);
  bool rises = llvm::all_of(a.terms, [](const DimTerm &term) {
    return !term.stride || term.stride->isNonNegative();
  });
  if (a.isLinear() && rises && a.uniform->isNonNegative() &&
      (a.width >= 32 || a.uniform->isConstant()))
    return extend(a, width, op->getOperand(0));
  std::optional<unsigned> dim = a.onlyDim();
  if (!dim)
    return std::nullopt;
  TensorForm form = lanes(op->getResult(0), *dim);
  const DimTerm &term = a.terms[*dim];
  std::optional<int64_t> step =
      term.stride ? term.stride->asConstant() : std::nullopt;
  if (!step || a.width > 32 || wraps(a, true))
    return form;
  const Expr *last = pool.add(pool.extend(a.uniform, 64, false),
                              pool.constant(64, *step * (a.shape[*dim] - 1)));
  const Expr *bound = pool.constant(64, *step > 0 ? int64_t(1) << a.width : 0);
  const Expr *condition = pool.cmp(*step > 0 ? arith::CmpIPredicate::slt
                                             : arith::CmpIPredicate::sge,
                                   last, bound);
  if (condition->isConstant() && !condition->isConstant(0))
    return range(a.shape, *dim, start, pool.constant(width, *step));
  if (!condition->isConstant())
    form.terms[*dim].linear =
        LinearCase{start, pool.constant(width, *step), condition};
  return form;
}

TensorForm FormAlgebra::truncate(const TensorForm &a, unsigned width) const {
  TensorForm narrow = a;
  narrow.width = width;
  narrow.uniform = pool.truncate(a.uniform, width);
  for (DimTerm &term : narrow.terms) {
    if (term.lanes)
      term.lanes = pool.truncate(term.lanes, width);
    if (term.linear) {
      term.linear->base = pool.truncate(term.linear->base, width);
      term.linear->stride = pool.truncate(term.linear->stride, width);
      if (term.linear->outer)
        term.linear->outer = pool.truncate(term.linear->outer, width);
    }
    if (term.kind == TermKind::Linear)
      term = linear(pool.truncate(term.stride, width));
  }
  return narrow;
}

std::optional<TensorForm> FormAlgebra::select(const Expr *condition,
                                              const TensorForm &a,
                                              const TensorForm &b) const {
  if (!a.isLinear() || !b.isLinear())
    return std::nullopt;
  TensorForm form = a;
  form.uniform = pool.select(condition, a.uniform, b.uniform);
  const Expr *zero = pool.constant(a.width, 0);
  for (auto [term, other] : llvm::zip_equal(form.terms, b.terms))
    term = linear(pool.select(condition, term.stride ? term.stride : zero,
                              other.stride ? other.stride : zero));
  return form;
}
