//===- MaskForms.cpp - the boxes that masks describe ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/analysis/AccessAnalysis.h"

#include "frontend/TTOps.h"
#include "triton-to-linalg/analysis/IntegerFacts.h"
#include "triton-to-linalg/analysis/SourceText.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;
using Pred = arith::CmpIPredicate;

static ArrayRef<int64_t> shapeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

bool MaskForm::isAll() const {
  return conditions.empty() && residuals.empty() &&
         llvm::all_of(dims, [](const DimBounds &d) { return d.isAll(); });
}

static MaskForm everything(size_t rank) {
  MaskForm mask;
  mask.dims.resize(rank);
  return mask;
}

static void append(MaskForm &mask, const MaskForm &other) {
  for (auto [dim, more] : llvm::zip_equal(mask.dims, other.dims)) {
    llvm::append_range(dim.lower, more.lower);
    llvm::append_range(dim.upper, more.upper);
  }
  llvm::append_range(mask.conditions, other.conditions);
  llvm::append_range(mask.residuals, other.residuals);
}

/// A mask after a shape operation: see dimensionMap.
static MaskForm remapped(const MaskForm &source, ArrayRef<int> map) {
  MaskForm form = everything(map.size());
  form.conditions = source.conditions;
  form.residuals = source.residuals;
  for (ResidualMask &part : form.residuals)
    if (part.dim)
      part.dim = llvm::find(map, static_cast<int>(*part.dim)) - map.begin();
  for (auto [dim, from] : llvm::zip_equal(form.dims, map))
    if (from >= 0)
      dim = source.dims[from];
  return form;
}

/// `~mask`.
static bool isNot(Operation *op) {
  DenseElementsAttr ones;
  return isa<arith::XOrIOp>(op) &&
         matchPattern(op->getOperand(1), m_Constant(&ones)) && ones.isSplat() &&
         ones.getSplatValue<APInt>().isAllOnes();
}

std::optional<MaskForm> AccessAnalysis::inverted(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return std::nullopt;
  std::optional<MaskForm> form;
  if (auto compared = dyn_cast<arith::CmpIOp>(op)) {
    form = compare(compared, arith::invertPredicate(compared.getPredicate()));
  } else if (isa<arith::OrIOp>(op)) {
    form = inverted(op->getOperand(0));
    std::optional<MaskForm> other =
        form ? inverted(op->getOperand(1)) : std::nullopt;
    if (!other)
      return std::nullopt;
    append(*form, *other);
  } else if (std::optional<SmallVector<int>> map = dimensionMap(op)) {
    if (std::optional<MaskForm> source = inverted(op->getOperand(0)))
      form = remapped(*source, *map);
  } else if (isNot(op)) {
    form = mask(op->getOperand(0));
  }
  // A residual has the lanes of its own tensor, not the others.
  return form && form->residuals.empty() ? form : std::nullopt;
}

MaskForm AccessAnalysis::mask(Value tensor) {
  MaskForm form = everything(shapeOf(tensor).size());
  DenseElementsAttr attr;
  if (matchPattern(tensor, m_Constant(&attr)) && attr.isSplat()) {
    if (!attr.getSplatValue<bool>())
      form.conditions.push_back(pool.boolean(false));
    return form;
  }
  Operation *op = tensor.getDefiningOp();
  if (!op) {
    residual(form, tensor, "a mask that a loop or a branch carries");
    return form;
  }
  if (auto splat = dyn_cast<tt::SplatOp>(op)) {
    form.conditions.push_back(pool.scalar(splat.getSrc()));
    return form;
  }
  if (auto both = dyn_cast<arith::AndIOp>(op)) {
    form = mask(both.getLhs());
    append(form, mask(both.getRhs()));
    return form;
  }
  if (auto compared = dyn_cast<arith::CmpIOp>(op))
    return compare(compared, compared.getPredicate());
  if (std::optional<SmallVector<int>> map = dimensionMap(op))
    return remapped(mask(op->getOperand(0)), *map);
  if (isNot(op))
    if (std::optional<MaskForm> other = inverted(op->getOperand(0)))
      return *other;
  residual(form, tensor, "a mask that depends on " + describe(op));
  return form;
}

void AccessAnalysis::residual(MaskForm &mask, Value tensor, std::string why) {
  ResidualMask part;
  part.reason = {std::move(why), tensor.getDefiningOp()};
  llvm::SmallBitVector dims = varyingDims(tensor);
  if (dims.none()) {
    mask.conditions.push_back(pool.element(tensor));
    return;
  }
  if (dims.count() == 1) {
    part.dim = dims.find_first();
    part.lanes = pool.lane(tensor, *part.dim);
  }
  mask.residuals.push_back(part);
}

static bool isUnsigned(Pred predicate) {
  return predicate == Pred::ult || predicate == Pred::ule ||
         predicate == Pred::ugt || predicate == Pred::uge;
}

MaskForm AccessAnalysis::compare(arith::CmpIOp op, Pred predicate) {
  Value tensor = op.getResult();
  MaskForm form = everything(shapeOf(tensor).size());
  std::optional<TensorForm> lhs = integers(op.getLhs()),
                            rhs = integers(op.getRhs());
  if (!lhs || !rhs) {
    residual(form, tensor, "a comparison of what is " + reason().text);
    return form;
  }
  if (lhs->isUniform() && rhs->isUniform()) {
    form.conditions.push_back(pool.cmp(predicate, lhs->uniform, rhs->uniform));
    return form;
  }
  // Ranges are taken not to wrap around as signed numbers.
  std::optional<TensorForm> a = algebra.extend(*lhs, 64, op.getLhs()),
                            b = algebra.extend(*rhs, 64, op.getRhs());
  if (a && b)
    if (std::optional<MaskForm> runs = compareRuns(predicate, *a, *b))
      return *runs;
  if (!a || !b || !a->isLinear() || !b->isLinear()) {
    residual(form, tensor,
             a && b ? "a comparison of what is not linear"
                    : "a comparison of what wraps around");
    return form;
  }
  if (a->isUniform()) {
    std::swap(a, b);
    std::swap(lhs, rhs);
    predicate = swapped(predicate);
  }
  const Expr *limit = b->uniform;
  if (!b->isUniform()) {
    // Narrower numbers have an exact difference in 64 bits.
    if (lhs->width > 32 || isUnsigned(predicate)) {
      residual(form, tensor, "a comparison of two 64-bit or unsigned ranges");
      return form;
    }
    a = algebra.add(*a, algebra.scale(*b, pool.constant(64, -1)));
    limit = pool.constant(64, 0);
  }
  if (isUnsigned(predicate)) {
    if (!unsignedBound(form, predicate, *a, rhs->uniform))
      residual(form, tensor, "an unsigned comparison of what may be negative");
    return form;
  }
  if (a->isUniform())
    form.conditions.push_back(pool.cmp(predicate, a->uniform, limit));
  else if (!bound(form, predicate, *a, limit))
    residual(form, tensor,
             predicate == Pred::ne ? "a comparison for 'not equal'"
                                   : "a comparison in several dimensions");
  return form;
}

/// The box of quotients that are compared with a limit, `i / 2 < n`: whole runs
/// of lanes. So are neighbours that change places, `i ^ 1 < n`, where n is
/// even, and halves of runs, `i ^ 2 < n`, where it is a multiple of their
/// length.
std::optional<MaskForm> AccessAnalysis::compareRuns(Pred predicate,
                                                    const TensorForm &lhs,
                                                    const TensorForm &rhs) {
  const TensorForm &form = lhs.isUniform() ? rhs : lhs,
                   &limit = lhs.isUniform() ? lhs : rhs;
  if (lhs.isUniform())
    predicate = swapped(predicate);
  std::optional<unsigned> dim = form.onlyDim();
  if (!dim || !limit.isUniform() || isUnsigned(predicate) ||
      predicate == Pred::eq || predicate == Pred::ne)
    return std::nullopt;
  const DimTerm &term = form.terms[*dim];
  if (term.kind != DimTerm::Kind::Lanes || !term.linear ||
      !term.linear->condition->isConstant(-1) || !term.linear->inner ||
      !term.linear->outer)
    return std::nullopt;
  const LinearCase &linear = *term.linear;
  const Expr *start = pool.add(form.uniform, linear.base);
  if (!linear.stride->isConstant(0)) {
    // Each run has the numbers from its least one to the next run's. Of two
    // that run backwards the second one is that.
    bool isPair = !linear.exchangesHalves && linear.inner == 2 &&
                  linear.stride->isConstant(-1);
    bool isExchange =
        isPair || (linear.exchangesHalves && linear.stride->isConstant(1));
    const Expr *least = pool.sub(start, pool.constant(form.width, isPair)),
               *left = pool.sub(limit.uniform, least);
    if (!isExchange || !linear.outer->isConstant(linear.inner) ||
        predicate != Pred::slt || left->zeros < llvm::Log2_64(linear.inner))
      return std::nullopt;
  }
  SmallVector<int64_t> shape(form.shape);
  shape[*dim] /= linear.inner;
  MaskForm mask = everything(shape.size());
  if (!bound(mask, predicate, algebra.range(shape, *dim, start, linear.outer),
             limit.uniform))
    return std::nullopt;
  const Expr *inner = pool.constant(form.width, linear.inner);
  DimBounds &bounds = mask.dims[*dim];
  for (auto *list : {&bounds.lower, &bounds.upper})
    for (const Expr *&end : *list)
      end = pool.mul(end, inner);
  return mask;
}

/// `predicate` in terms of signed numbers that are not negative.
static Pred asSigned(Pred predicate) {
  switch (predicate) {
  case Pred::ult:
    return Pred::slt;
  case Pred::ule:
    return Pred::sle;
  case Pred::ugt:
    return Pred::sgt;
  default:
    return Pred::sge;
  }
}

/// Unsigned comparisons with a limit in its own width, where they are a box in
/// signed numbers.
bool AccessAnalysis::unsignedBound(MaskForm &mask, Pred predicate,
                                   const TensorForm &form, const Expr *limit) {
  bool rises = llvm::all_of(form.terms, [](const DimTerm &term) {
    return !term.stride || term.stride->isNonNegative();
  });
  if (rises && form.uniform->isNonNegative() &&
      (limit->width < 64 || limit->isNonNegative()))
    return bound(mask, asSigned(predicate), form,
                 pool.extend(limit, 64, false));
  bool isBelow = predicate == Pred::ult || predicate == Pred::ule;
  return isBelow && limit->isNonNegative() &&
         bound(mask, Pred::sge, form, pool.constant(64, 0)) &&
         bound(mask, asSigned(predicate), form, pool.extend(limit, 64, true));
}

/// Adds the lanes with `form ? limit` to the bounds, if it varies in one
/// dimension by a constant step.
bool AccessAnalysis::bound(MaskForm &mask, Pred predicate, TensorForm form,
                           const Expr *limit) {
  std::optional<unsigned> dim = form.onlyDim();
  std::optional<int64_t> step =
      dim ? form.terms[*dim].stride->asConstant() : std::nullopt;
  if (!step || predicate == Pred::ne ||
      *step == std::numeric_limits<int64_t>::min())
    return false;
  const Expr *size = pool.constant(64, form.shape[*dim]),
             *one = pool.constant(64, 1), *zero = pool.constant(64, 0);
  const Expr *start = form.uniform;
  auto isSmall = [](const Expr *value) {
    if (std::optional<int64_t> constant = value->asConstant())
      return llvm::isInt<40>(*constant);
    return value->kind == Expr::Kind::SExt || value->kind == Expr::Kind::ZExt;
  };
  bool exact = isSmall(start) && isSmall(limit);

  // The number of lanes from the first for which `start + i * |step|` (or its
  // mirror image) is below `end`.
  auto lanesBelow = [&](const Expr *end, const Expr *begin) {
    int64_t length = *step < 0 ? -*step : *step;
    const Expr *distance, *count;
    if (exact) {
      distance = pool.maxS(pool.sub(end, begin), zero);
    } else {
      // A difference of 64-bit numbers may need all 64 bits without a sign.
      distance = pool.sub(pool.maxS(end, begin), begin);
    }
    const Expr *stepExpr = pool.constant(64, length);
    count = pool.division(Expr::Kind::DivU, distance, stepExpr);
    if (length != 1)
      count = pool.add(
          count,
          pool.minU(pool.division(Expr::Kind::RemU, distance, stepExpr), one));
    return exact ? pool.minS(count, size) : pool.minU(count, size);
  };
  auto next = [&](const Expr *value) {
    // The largest 64-bit number has no successor; no lane of a range that does
    // not wrap is above it.
    if (!isSmall(value))
      value = pool.minS(
          value, pool.constant(64, std::numeric_limits<int64_t>::max() - 1));
    return pool.add(value, one);
  };
  DimBounds &bounds = mask.dims[*dim];
  // A bound that excludes nothing is none.
  auto addLower = [&](const Expr *low) {
    if (!low->isConstant(0))
      bounds.lower.push_back(low);
  };
  auto addUpper = [&](const Expr *high) {
    if (high != size)
      bounds.upper.push_back(high);
  };
  auto less = [&](const Expr *end) { // start + step * i < end
    if (*step > 0)
      addUpper(lanesBelow(end, start));
    else
      addLower(lanesBelow(next(start), end));
  };
  auto notLess = [&](const Expr *end) { // start + step * i >= end
    if (*step > 0)
      addLower(lanesBelow(end, start));
    else
      addUpper(lanesBelow(next(start), end));
  };
  if (predicate == Pred::slt || predicate == Pred::sle)
    less(predicate == Pred::slt ? limit : next(limit));
  else if (predicate == Pred::sgt || predicate == Pred::sge)
    notLess(predicate == Pred::sge ? limit : next(limit));
  if (predicate == Pred::eq) {
    notLess(limit);
    less(next(limit));
  }
  return true;
}
