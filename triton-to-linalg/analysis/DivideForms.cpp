//===- DivideForms.cpp - forms of quotients and remainders ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/analysis/TensorForm.h"

using namespace mlir;
using namespace tilebridge::ttl;
using TermKind = DimTerm::Kind;

/// How many lanes have one quotient, where each run of so many begins at a
/// multiple of the divisor.
std::optional<int64_t> FormAlgebra::splitOf(const TensorForm &a, unsigned dim,
                                            const Expr *divisor) const {
  std::optional<int64_t> bound = divisor->asConstant();
  int64_t step = *a.terms[dim].stride->asConstant();
  if (!bound || *bound <= 1 || step <= 0 || *bound % step != 0)
    return std::nullopt;
  int64_t inner = *bound / step;
  if (inner <= 1 || inner >= a.shape[dim] || a.shape[dim] % inner != 0)
    return std::nullopt;
  std::optional<int64_t> start = a.uniform->asConstant();
  bool isMultiple = start ? *start % *bound == 0
                          : llvm::isPowerOf2_64(*bound) &&
                                a.uniform->zeros >= llvm::Log2_64(*bound);
  return isMultiple ? std::optional(inner) : std::nullopt;
}

/// A block longer than a divisor that it is not a multiple of: lanes between
/// two multiples of a power of two that the divisor, too, is a multiple of have
/// one quotient.
std::optional<LinearCase> FormAlgebra::runsOf(const TensorForm &a, unsigned dim,
                                              const Expr *divisor,
                                              bool isRemainder,
                                              const Expr *condition) const {
  const Expr *stride = a.terms[dim].stride;
  int64_t step = *stride->asConstant();
  unsigned common = std::min({a.uniform->zeros, divisor->zeros, 62u});
  if (step <= 0 || (int64_t(1) << common) % step != 0)
    return std::nullopt;
  int64_t run = (int64_t(1) << common) / step;
  if (run < shortestRun || run >= a.shape[dim] || a.shape[dim] % run != 0)
    return std::nullopt;
  const Expr *none = pool.constant(a.width, 0);
  return LinearCase{none, isRemainder ? stride : none, condition, run};
}

/// True if nearly all programs meet the condition where they meet `given`: it
/// only asks more values not to be negative.
static bool asksForSigns(const Expr *condition, const Expr *given) {
  if (condition == given || condition->isConstant(-1))
    return true;
  if (condition->kind == Expr::Kind::And)
    return asksForSigns(condition->operands[0], given) &&
           asksForSigns(condition->operands[1], given);
  return condition->kind == Expr::Kind::Cmp &&
         condition->compare == arith::CmpIPredicate::sge &&
         condition->operands[1]->isConstant(0);
}

/// Quotients and remainders of what is linear in a case, such as a quotient: a
/// block's index in several dimensions.
std::optional<LinearCase>
FormAlgebra::divideCase(Expr::Kind kind, const TensorForm &a, unsigned dim,
                        const Expr *divisor, Operation *op) const {
  const LinearCase &linear = *a.terms[dim].linear;
  const Expr *none = pool.constant(a.width, 0);
  if (linear.hasRuns() || (linear.inner && !linear.stride->isConstant(0)))
    return std::nullopt;
  const Expr *step = linear.inner ? linear.outer : linear.stride;
  if (!step->isConstant())
    return std::nullopt;
  // One lane of each run stands for it.
  SmallVector<int64_t> shape(a.shape);
  if (linear.inner)
    shape[dim] /= linear.inner;
  const Expr *start = pool.add(a.uniform, linear.base);
  std::optional<TensorForm> form =
      divide(kind,
             step->isConstant(0) ? uniform(shape, start)
                                 : range(shape, dim, start, step),
             divisor, op);
  if (!form)
    return std::nullopt;
  const DimTerm &term = form->terms[dim];
  LinearCase found{form->uniform, none, pool.boolean(true)};
  if (term.kind == TermKind::Linear)
    found.stride = term.stride;
  if (term.kind == TermKind::Lanes) {
    // Runs within runs have no form.
    if (!term.linear || (linear.inner && term.linear->inner))
      return std::nullopt;
    found = *term.linear;
    found.base = pool.add(found.base, form->uniform);
  }
  found.condition = pool.conjunction(linear.condition, found.condition);
  if (linear.inner && !found.stride->isConstant(0)) {
    found.inner = linear.inner;
    found.outer = std::exchange(found.stride, none);
  }
  return found;
}

std::optional<TensorForm> FormAlgebra::divide(Expr::Kind kind,
                                              const TensorForm &a,
                                              const Expr *divisor,
                                              Operation *op) const {
  if (a.isUniform())
    return uniform(a.shape, pool.division(kind, a.uniform, divisor, op));
  std::optional<unsigned> dim = a.onlyDim();
  if (!dim)
    return std::nullopt;
  TensorForm form = lanes(op->getResult(0), *dim);
  const DimTerm &term = a.terms[*dim];
  // What is one number along each run still is.
  if (term.linear && term.linear->inner && term.linear->stride->isConstant(0))
    form.terms[*dim].linear =
        LinearCase{pool.constant(a.width, 0), pool.constant(a.width, 0),
                   term.linear->condition, term.linear->inner};
  // The whole block in a case, unless long runs are so far more often.
  if (term.kind == TermKind::Lanes && term.linear)
    if (std::optional<LinearCase> found =
            divideCase(kind, a, *dim, divisor, op);
        found &&
        (!form.terms[*dim].linear || term.linear->inner < shortestRun ||
         asksForSigns(found->condition, term.linear->condition)))
      form.terms[*dim].linear = found;
  bool isSigned = kind == Expr::Kind::RemS || kind == Expr::Kind::DivS;
  if (term.kind != TermKind::Linear || !term.stride->isConstant() ||
      wraps(a, isSigned))
    return form;

  // With 0 <= first value and 0 < divisor the block lies between two multiples
  // of the divisor if the remainders of its ends, counted from the first one's,
  // do.
  using Pred = arith::CmpIPredicate;
  bool isRem = kind == Expr::Kind::RemS || kind == Expr::Kind::RemU;
  const Expr *start = pool.extend(a.uniform, 64, isSigned),
             *bound = pool.extend(divisor, 64, isSigned);
  const Expr *zero = pool.constant(64, 0);
  const Expr *condition = pool.boolean(true);
  for (const Expr *value : {start, bound})
    if (!value->isNonNegative())
      condition = pool.conjunction(condition, pool.cmp(Pred::sge, value, zero));
  Expr::Kind rem = isSigned ? Expr::Kind::RemS : Expr::Kind::RemU;
  const Expr *first =
      pool.extend(pool.division(rem, a.uniform, divisor, op), 64, isSigned);
  int64_t reach = *term.stride->asConstant() * (a.shape[*dim] - 1);
  const Expr *last = pool.add(first, pool.constant(64, reach));
  const Expr *end = pool.add(start, pool.constant(64, reach));
  if (!isSigned && !a.uniform->isNonNegative()) {
    // What is unsigned may run over zero.
    if (a.width > 32)
      return form;
    condition = pool.conjunction(
        condition,
        reach > 0
            ? pool.cmp(Pred::slt, end, pool.constant(64, int64_t(1) << a.width))
            : pool.cmp(Pred::sge, end, zero));
  } else if (a.width <= 32 && reach > 0 &&
             reach >= int64_t(1) << std::min(start->zeros, 62u)) {
    // What is signed may run over its largest number, unless it begins at a
    // multiple of a power of two that the block does not reach beyond.
    condition = pool.conjunction(
        condition, pool.cmp(Pred::slt, end,
                            pool.constant(64, int64_t(1) << (a.width - 1))));
  }
  // Where both begin at multiples of a number that the block does not reach
  // beyond, no multiple of the divisor lies within.
  unsigned common = std::min({start->zeros, bound->zeros, 62u});
  bool isWithin = reach > 0 && reach < int64_t(1) << common;
  const Expr *none = pool.constant(a.width, 0);
  if (std::optional<int64_t> inner = splitOf(a, *dim, divisor);
      inner && !isWithin) {
    if (!condition->isConstant(0))
      form.terms[*dim].linear =
          isRem ? LinearCase{none, term.stride, condition, *inner, none}
                : LinearCase{pool.division(kind, a.uniform, divisor, op), none,
                             condition, *inner, pool.constant(a.width, 1)};
    return form;
  }
  std::optional<int64_t> most = bound->asConstant();
  // Numbers that begin with an odd one are odd and even in turn: 1, 0, 1, 0.
  if (isRem && most == 2 && term.stride->isConstant(1) &&
      a.shape[*dim] % 2 == 0 && a.shape[*dim] > 2 &&
      pool.add(a.uniform, pool.constant(a.width, -1))->zeros > 0) {
    if (!condition->isConstant(0))
      form.terms[*dim].linear =
          LinearCase{pool.constant(a.width, 1), pool.constant(a.width, -1),
                     condition, 2, none};
    return form;
  }
  if (!isWithin && most && *most > 0 && *most <= std::abs(reach)) {
    if (!condition->isConstant(0))
      form.terms[*dim].linear = runsOf(a, *dim, divisor, isRem, condition);
    return form;
  }
  if (!isWithin)
    condition = pool.conjunction(condition,
                                 reach > 0 ? pool.cmp(Pred::slt, last, bound)
                                           : pool.cmp(Pred::sge, last, zero));

  LinearCase linearCase{pool.division(kind, a.uniform, divisor, op),
                        isRem ? term.stride : none, condition};
  if (condition->isConstant() && !condition->isConstant(0))
    return range(a.shape, *dim, linearCase.base, linearCase.stride);
  if (!condition->isConstant())
    form.terms[*dim].linear = linearCase;
  return form;
}

std::optional<TensorForm> FormAlgebra::within(const TensorForm &a,
                                              const Expr *bound, bool isLower,
                                              Operation *op) const {
  std::optional<unsigned> dim = a.onlyDim();
  if (!dim)
    return std::nullopt;
  TensorForm form = lanes(op->getResult(0), *dim);
  const DimTerm &term = a.terms[*dim];
  // What is kept within one end may be kept within the other one before.
  LinearCase linear{a.uniform, term.stride, pool.boolean(true)};
  if (term.kind != TermKind::Linear) {
    if (!term.linear || term.linear->inner)
      return form;
    linear = *term.linear;
    linear.base = pool.add(linear.base, a.uniform);
  }
  if (!linear.stride->isConstant() || wraps(a, /*isSigned=*/true))
    return form;
  using Pred = arith::CmpIPredicate;
  const Expr *start = pool.extend(linear.base, 64, true),
             *limit = pool.extend(bound, 64, true);
  int64_t reach = *linear.stride->asConstant() * (a.shape[*dim] - 1);
  const Expr *end = pool.add(start, pool.constant(64, reach));
  const Expr *condition = linear.condition;
  auto demand = [&](Pred predicate, const Expr *value, const Expr *against) {
    condition =
        pool.conjunction(condition, pool.cmp(predicate, value, against));
  };
  // Of the two ends of the block one is nearer to the bound. At the other one
  // numbers of fewer bits may wrap around; see divide() for those that do not.
  bool startIsNearer = isLower == (reach >= 0);
  bool startIsWithin = isLower && limit->isConstant(0) && startIsNearer &&
                       start->isNonNegative();
  if (!startIsWithin)
    demand(isLower ? Pred::sge : Pred::sle, startIsNearer ? start : end, limit);
  bool mayWrap =
      startIsNearer && a.width <= 32 &&
      (!isLower || reach >= int64_t(1) << std::min(start->zeros, 62u));
  int64_t most = int64_t(1) << (std::min(a.width, 32u) - 1);
  if (mayWrap)
    demand(isLower ? Pred::slt : Pred::sge, end,
           pool.constant(64, isLower ? most : -most));
  if (condition->isConstant() && !condition->isConstant(0))
    return range(a.shape, *dim, linear.base, linear.stride);
  if (!condition->isConstant()) {
    linear.condition = condition;
    form.terms[*dim].linear = linear;
  }
  return form;
}

std::optional<TensorForm>
FormAlgebra::exchanged(const TensorForm &a, int64_t bit, Operation *op) const {
  std::optional<unsigned> dim = a.onlyDim();
  if (!dim || bit <= 0 || !llvm::isPowerOf2_64(bit))
    return std::nullopt;
  const DimTerm &term = a.terms[*dim];
  // Lanes begin at an even multiple of the bit, and end at one.
  if (term.kind != TermKind::Linear || !term.stride->isConstant(1) ||
      a.uniform->zeros <= llvm::Log2_64(bit) ||
      a.shape[*dim] % (2 * bit) != 0 || wraps(a, /*isSigned=*/true))
    return std::nullopt;
  TensorForm form = lanes(op->getResult(0), *dim);
  const Expr *always = pool.boolean(true), *one = pool.constant(a.width, 1);
  if (bit <= longestExchange)
    form.terms[*dim].linear = LinearCase{a.uniform,
                                         one,
                                         always,
                                         2 * bit,
                                         pool.constant(a.width, 2 * bit),
                                         /*exchangesHalves=*/true};
  else if (bit >= shortestRun)
    form.terms[*dim].linear =
        LinearCase{pool.constant(a.width, 0), one, always, bit};
  else
    return std::nullopt;
  return form;
}
