//===- SplitBlock.cpp - blocks whose dimensions are two in memory ---------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/lower/SplitBlock.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge::ttl;

SmallVector<int64_t, 2> SplitBlock::partsOf(unsigned dim) const {
  if (!inner[dim])
    return {};
  if (!half[dim])
    return {inner[dim]};
  // Halves of one lane are no dimension.
  return half[dim] == 1 ? SmallVector<int64_t, 2>{2}
                        : SmallVector<int64_t, 2>{2, half[dim]};
}

RankedTensorType SplitBlock::type(RankedTensorType block) const {
  SmallVector<int64_t> sizes;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    sizes.push_back(inner[dim] ? size / inner[dim] : size);
    llvm::append_range(sizes, partsOf(dim));
  }
  return block.clone(sizes);
}

SmallVector<ReassociationIndices> SplitBlock::groups() const {
  SmallVector<ReassociationIndices> groups;
  int64_t to = 0;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    groups.push_back({to++});
    for (size_t i = partsOf(dim).size(); i > 0; --i)
      groups.back().push_back(to++);
  }
  return groups;
}

static DimTerm linear(const Expr *stride) {
  DimTerm term;
  if (stride->isConstant(0))
    return term;
  term.kind = DimTerm::Kind::Linear;
  term.stride = stride;
  return term;
}

TensorForm SplitBlock::form(const TensorForm &form, ExprPool &pool) const {
  TensorForm result;
  result.width = form.width;
  result.uniform = form.uniform;
  for (auto [dim, term] : llvm::enumerate(form.terms)) {
    if (!inner[dim]) {
      result.shape.push_back(shape[dim]);
      result.terms.push_back(term);
      continue;
    }
    result.shape.push_back(shape[dim] / inner[dim]);
    if (term.linear->outer) {
      result.terms.push_back(linear(term.linear->outer));
    } else {
      result.terms.push_back(term);
      result.terms.back().linear.reset();
    }
    llvm::append_range(result.shape, partsOf(dim));
    const Expr *stride = term.linear->stride;
    if (half[dim]) {
      // The second half comes first, and what follows goes back.
      const Expr *far = pool.mul(stride, pool.constant(form.width, half[dim]));
      result.uniform = pool.add(result.uniform, far);
      result.terms.push_back(
          linear(pool.mul(far, pool.constant(form.width, -1))));
    }
    if (half[dim] != 1)
      result.terms.push_back(linear(stride));
  }
  return result;
}

/// The number of whole inner ranges of `size` lanes below a bound; null where
/// it may lie within one.
static const Expr *wholeRanges(const Expr *bound, int64_t size,
                               ExprPool &pool) {
  if (std::optional<int64_t> constant = bound->asConstant())
    return *constant % size == 0 ? pool.constant(64, *constant / size)
                                 : nullptr;
  if (!llvm::isPowerOf2_64(size) || bound->zeros < llvm::Log2_64(size))
    return nullptr;
  return pool.division(Expr::Kind::DivU, bound, pool.constant(64, size));
}

std::optional<MaskForm> SplitBlock::mask(const MaskForm &mask,
                                         ExprPool &pool) const {
  MaskForm result;
  result.conditions = mask.conditions;
  if (!mask.residuals.empty())
    return std::nullopt;
  for (auto [dim, bounds] : llvm::enumerate(mask.dims)) {
    int64_t size = inner[dim];
    result.dims.push_back(bounds);
    if (!size)
      continue;
    for (auto *list : {&result.dims.back().lower, &result.dims.back().upper})
      for (const Expr *&bound : *list) {
        bound = wholeRanges(bound, size, pool);
        if (!bound)
          return std::nullopt;
      }
    result.dims.resize(result.dims.size() + partsOf(dim).size());
  }
  return result;
}

void SplitBlock::settleExchanges(TensorForm &form, const MaskForm &mask,
                                 ExprPool &pool) const {
  SplitBlock split(shape);
  for (auto [dim, term] : llvm::enumerate(form.terms))
    if (term.linear && term.linear->exchangesHalves)
      split.split(dim, term.linear->inner, /*exchanged=*/true);
  if (!split.isSplit() || split.mask(mask, pool))
    return;
  for (DimTerm &term : form.terms) {
    if (!term.linear || !term.linear->exchangesHalves)
      continue;
    const Expr *none = pool.constant(form.width, 0);
    int64_t run = term.linear->linearLanes();
    if (run >= shortestRun)
      term.linear =
          LinearCase{none, term.linear->stride, term.linear->condition, run};
    else
      term.linear.reset();
  }
}

unsigned SplitBlock::outerOf(unsigned dim) const {
  unsigned to = dim;
  for (unsigned d = 0; d < dim; ++d)
    to += partsOf(d).size();
  return to;
}

Value SplitBlock::expand(OpBuilder &builder, Location loc, Value tensor) const {
  auto block = cast<RankedTensorType>(tensor.getType());
  if (!isSplit())
    return tensor;
  return tensor::ExpandShapeOp::create(builder, loc, type(block), tensor,
                                       groups());
}

Value SplitBlock::collapse(OpBuilder &builder, Location loc,
                           Value tensor) const {
  if (!isSplit())
    return tensor;
  return tensor::CollapseShapeOp::create(builder, loc, tensor, groups());
}
