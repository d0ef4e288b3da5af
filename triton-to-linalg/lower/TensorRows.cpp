//===- TensorRows.cpp - accesses whose rows lie anywhere --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/lower/TensorAccess.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;
using Pred = arith::CmpIPredicate;
using TermKind = DimTerm::Kind;

/// True if rows along `rowDim` are better than elements, and no form without a
/// condition has them. Of what is stored lanes may share a place, in an order.
bool TensorAccess::hasRows(const TensorForm &straight, const Expr *condition) {
  if (!blocks.isSplit())
    return !condition->isConstant() && canUseRows(straight, mask, *rowDim);
  if (runs || !isLoad() || condition->isConstant(0))
    return false;
  std::optional<MaskForm> split = blocks.mask(mask, pool);
  return split && canUseRows(blocks.form(straight, pool), *split,
                             blocks.outerOf(*rowDim));
}

/// The dimension whose indices the mask chooses one by one: all have rows.
std::optional<unsigned> TensorAccess::maskedRows() const {
  if (blocks.isSplit() || mask.residuals.empty() || !mask.residuals[0].dim)
    return std::nullopt;
  unsigned dim = *mask.residuals[0].dim;
  const Expr *stride = linear.terms[dim].stride;
  if (!stride || stride->isConstant(1) || !restIsBox(mask, dim))
    return std::nullopt;
  int64_t row = 1;
  for (auto [other, size] : llvm::enumerate(type.getShape()))
    row *= other == dim ? 1 : size;
  return row >= shortestRun ? std::optional(dim) : std::nullopt;
}

Value TensorAccess::lowerUneven(const TensorForm &offset, unsigned dim,
                                ExprBuilder &exprs) {
  const Expr *lanes = offset.terms[dim].lanes;
  auto starts = [&] { return exprs.lanes(lanes, type.getDimSize(dim)); };
  return blocks.isSplit() ? lowerParts(offset, dim, starts, exprs)
                          : lowerRows(offset, mask, dim, starts, exprs);
}

/// The same where dimensions of the block are split.
Value TensorAccess::lowerParts(const TensorForm &offset, unsigned dim,
                               function_ref<Value()> starts,
                               ExprBuilder &exprs) {
  Value loaded = lowerRows(blocks.form(offset, pool), *blocks.mask(mask, pool),
                           blocks.outerOf(dim), starts, exprs);
  // Where nothing is read it is a block already.
  return loaded && loaded.getType() != type
             ? blocks.collapse(builder, loc, loaded)
             : loaded;
}

/// Finds the longest runs between which each bound of the mask lies, if any.
bool TensorAccess::shortenRuns(TensorForm &straight) {
  int64_t &run = straight.terms[*runs].linear->inner;
  for (; run >= shortestRun; run /= 2) {
    blocks.split(*runs, run);
    std::optional<MaskForm> split = blocks.mask(mask, pool);
    if (split &&
        canUseRows(blocks.form(straight, pool), *split, blocks.outerOf(*runs)))
      return true;
    if (run % 2)
      break;
  }
  runs.reset();
  return false;
}

/// Rows begin where the first lanes of runs are.
Value TensorAccess::lowerRuns(unsigned dim, ExprBuilder &exprs) {
  int64_t count = type.getDimSize(dim), run = linear.terms[dim].linear->inner;
  auto starts = [&]() -> Value {
    Value lanes = exprs.lanes(linear.terms[dim].lanes, count);
    return tensor::ExtractSliceOp::create(
        builder, loc, lanes, {builder.getIndexAttr(0)},
        {builder.getIndexAttr(count / run)}, {builder.getIndexAttr(run)});
  };
  return lowerParts(linear, dim, starts, exprs);
}

bool TensorAccess::canUseRows(const TensorForm &offset, const MaskForm &mask,
                              unsigned dim) {
  return offset.terms[dim].lanes && restIsBox(mask, dim);
}

bool TensorAccess::restIsBox(const MaskForm &mask, unsigned dim) {
  for (const ResidualMask &part : mask.residuals)
    if (part.dim != dim)
      return false;
  for (auto [other, bounds] : llvm::enumerate(mask.dims))
    if (other != dim && !llvm::all_of(bounds.lower, [](const Expr *low) {
          return low->isConstant(0);
        }))
      return false;
  return true;
}

Value TensorAccess::lowerRows(const TensorForm &offset, const MaskForm &mask,
                              unsigned dim, function_ref<Value()> starts,
                              ExprBuilder &exprs) {
  int64_t count = offset.shape[dim];
  // Rows are one element apart, as indices count; others end at a bound.
  TensorForm form = offset;
  form.terms[dim] = DimTerm();
  form.terms[dim].kind = TermKind::Linear;
  form.terms[dim].stride = pool.constant(64, 1);
  Value fixed =
      makeView(builder, loc, exprs, pointer.base, form, type.getElementType());
  MaskForm others = mask;
  others.dims[dim] = DimBounds();
  others.conditions.clear();
  Box box = boxOf(exprs, pool, others, offset.shape);
  box.sizes[dim] =
      arith::ConstantIndexOp::create(builder, loc, count).getResult();
  SmallVector<OpFoldResult> ones(offset.shape.size(), builder.getIndexAttr(1));
  Value view = memref::SubViewOp::create(builder, loc, fixed, box.offsets,
                                         box.sizes, ones);

  const Expr *taken = pool.boolean(true);
  const Expr *iota = pool.iota(64);
  for (const Expr *condition : mask.conditions)
    taken = pool.conjunction(taken, condition);
  for (const Expr *low : mask.dims[dim].lower)
    taken = pool.conjunction(taken, pool.cmp(Pred::sge, iota, low));
  for (const Expr *high : mask.dims[dim].upper)
    taken = pool.conjunction(taken, pool.cmp(Pred::slt, iota, high));
  for (const ResidualMask &part : mask.residuals)
    taken = pool.conjunction(taken, part.lanes);
  if (taken->isConstant(0))
    return nothing();
  Value rowMask = taken->isConstant() ? Value() : exprs.lanes(taken, count);
  return rows(view, starts(), dim, rowMask);
}
